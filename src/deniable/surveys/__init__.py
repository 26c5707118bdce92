"""A survey: what is asked, by which mechanism, at which price. One public document with one hash. Standard library only.

Survey                                the document; `from_toml` writes it, `from_json` checks somebody else's
survey_from_toml                      a survey file as people write it
Asked                                 what somebody who chooses a mechanism for `auto` may know
Steps, LIVE                           when its collector publishes new numbers
Submission, encode_*, decode_*        what a device sends to a collector

The formats are written down in spec/survey-v1.md and spec/submission-v1.md.
"""

from deniable.surveys.document import Attribute, Survey
from deniable.surveys.domain_text import FORMS, parse_domain, parse_value
from deniable.surveys.release import LIVE, Steps
from deniable.surveys.submission import (
    BATCH_TYPE,
    KEY_BYTES,
    Submission,
    batch_head,
    decode_batch,
    encode_batch,
    submission_from_json,
    submission_to_json,
    submissions_from_json,
    submissions_to_json,
)
from deniable.surveys.toml_file import Asked, survey_from_toml

__all__ = [
    "BATCH_TYPE",
    "FORMS",
    "KEY_BYTES",
    "LIVE",
    "Asked",
    "Attribute",
    "Steps",
    "Submission",
    "Survey",
    "batch_head",
    "decode_batch",
    "encode_batch",
    "parse_domain",
    "parse_value",
    "submission_from_json",
    "submission_to_json",
    "submissions_from_json",
    "submissions_to_json",
    "survey_from_toml",
]
