// Every error this package raises on purpose. None of them ever shows a private value.

/** The root of the tree. */
export class DeniableError extends Error {
  constructor(message) {
    super(message);
    this.name = new.target.name;
  }
}

/** A parameter, a channel or a domain breaks its rule. */
export class InvalidParameter extends DeniableError {}

/** A private value does not belong to its domain; it is not shown. */
export class OutOfDomain extends DeniableError {}

/** Text or bytes that are not what they should be. */
export class Malformed extends DeniableError {}

/** A survey that does not keep its promise: wrong hash, wrong integers, more than its epsilon. */
export class NotTrusted extends DeniableError {}

/** The lifetime budget, or the person's own limit, would be exceeded. */
export class BudgetSpent extends DeniableError {}

/** The question was answered in this window; a second draw would cost privacy again. */
export class AlreadyAnswered extends DeniableError {}

/** The collector could not be reached, or refused for good. */
export class NotDelivered extends DeniableError {}

/** The collector takes reports only with a token, and got none or another one. The report waits in the ledger. */
export class NotAdmitted extends NotDelivered {}
