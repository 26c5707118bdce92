// deniable for browsers and Node: check a survey, randomize on this device, keep a ledger, send.

export { channelFrom, channelKinds, setSystems } from "./channels/index.js";
export { Coins, ReplayCoins, SystemCoins } from "./coins.js";
export { domainFrom, domainKinds, inputOf } from "./domains/index.js";
export * from "./errors.js";
export { explain } from "./explain.js";
export { allows } from "./exponential.js";
export { Fraction, fractionFromText } from "./fraction.js";
export { Ledger, USUAL_LIMIT } from "./ledger.js";
export { hiding, meaning } from "./meaning.js";
export { throughRelay } from "./oblivious.js";
export { Session } from "./session.js";
export { IndexedDbStore, LocalStorageStore, MemoryStore, browserStore } from "./stores.js";
export { Survey, openSurvey, periodOf } from "./survey.js";
export { Wallet } from "./wallet.js";
export { encodeReport, outputBits } from "./wire.js";
