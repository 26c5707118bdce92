// What every domain shares: reading a recipe's fields, and refusing a value without showing it.

import { InvalidParameter, OutOfDomain } from "../errors.js";
import { fractionFromText } from "../fraction.js";

/** The fields of a recipe, exactly these. */
export function fieldsOf(recipe, ...names) {
  const found = Object.keys(recipe).filter((name) => name !== "kind");
  if (found.length !== names.length || names.some((name) => !(name in recipe))) {
    throw new InvalidParameter(`a ${recipe.kind} has exactly the fields ${names.join(", ") || "(none)"}`);
  }
  return names.map((name) => recipe[name]);
}

/** A whole number within bounds. */
export function countOf(name, value, least, most) {
  if (!Number.isSafeInteger(value) || value < least || value > most) throw new InvalidParameter(`${name} must be a whole number from ${least} to ${most}`);
  return value;
}

export const MOST_CELLS = 2 ** 26;

/** A pair of exact numbers in text. */
export function pairFromText(name, value) {
  if (!Array.isArray(value) || value.length !== 2) throw new InvalidParameter(`${name} must be a pair of numbers`);
  return value.map(fractionFromText);
}

/** The error for a value that does not belong. It says the rule and hides the value. */
export function refused(rule) {
  return new OutOfDomain(`${rule}; it is not shown because it is private`);
}
