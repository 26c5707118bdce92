CREATE TABLE changes (
  name VARCHAR(16) NOT NULL,
  number BIGINT NOT NULL,
  PRIMARY KEY (name)
);
CREATE TABLE surveys (
  hash VARCHAR(64) NOT NULL,
  document BYTEA NOT NULL,
  open BOOLEAN NOT NULL,
  stepped BIGINT NOT NULL,
  closed BIGINT,
  successor VARCHAR(64),
  reports_days INTEGER,
  receipts_days INTEGER,
  PRIMARY KEY (hash)
);
CREATE TABLE tokens (
  digest BYTEA NOT NULL,
  name TEXT NOT NULL,
  role VARCHAR(16) NOT NULL,
  expires BIGINT,
  PRIMARY KEY (digest),
  UNIQUE (name)
);
CREATE TABLE incoming (
  number BIGSERIAL NOT NULL,
  survey VARCHAR(64) NOT NULL,
  period VARCHAR(16) NOT NULL,
  mixed BOOLEAN NOT NULL,
  data BYTEA NOT NULL,
  PRIMARY KEY (number),
  FOREIGN KEY(survey) REFERENCES surveys (hash)
);
CREATE INDEX ix_incoming_survey ON incoming (survey);
CREATE TABLE plans (
  source BYTEA NOT NULL,
  survey VARCHAR(64) NOT NULL,
  reasons TEXT NOT NULL,
  PRIMARY KEY (source),
  FOREIGN KEY(survey) REFERENCES surveys (hash)
);
CREATE INDEX ix_plans_survey ON plans (survey);
CREATE TABLE receipts (
  survey VARCHAR(64) NOT NULL,
  key BYTEA NOT NULL,
  PRIMARY KEY (survey, key),
  FOREIGN KEY(survey) REFERENCES surveys (hash)
);
CREATE TABLE recent (
  number BIGSERIAL NOT NULL,
  survey VARCHAR(64) NOT NULL,
  period VARCHAR(16) NOT NULL,
  n BIGINT NOT NULL,
  data BYTEA NOT NULL,
  PRIMARY KEY (number),
  FOREIGN KEY(survey) REFERENCES surveys (hash)
);
CREATE INDEX ix_recent_survey ON recent (survey);
CREATE TABLE reports (
  number BIGSERIAL NOT NULL,
  survey VARCHAR(64) NOT NULL,
  period VARCHAR(16) NOT NULL,
  data BYTEA NOT NULL,
  PRIMARY KEY (number),
  FOREIGN KEY(survey) REFERENCES surveys (hash)
);
CREATE INDEX ix_reports_survey ON reports (survey);
CREATE TABLE steps (
  survey VARCHAR(64) NOT NULL,
  period VARCHAR(16) NOT NULL,
  shown_n BIGINT NOT NULL,
  shown BYTEA NOT NULL,
  taken_n BIGINT NOT NULL,
  taken BYTEA NOT NULL,
  PRIMARY KEY (survey, period),
  FOREIGN KEY(survey) REFERENCES surveys (hash)
);
CREATE TABLE sums (
  survey VARCHAR(64) NOT NULL,
  period VARCHAR(16) NOT NULL,
  shard INTEGER NOT NULL,
  n BIGINT NOT NULL,
  data BYTEA NOT NULL,
  PRIMARY KEY (survey, period, shard),
  FOREIGN KEY(survey) REFERENCES surveys (hash)
);
CREATE TABLE deniable_schema (version INTEGER NOT NULL);
INSERT INTO deniable_schema VALUES (3);
