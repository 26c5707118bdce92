// What a level leaves of deniability, in plain words that follow the number. The Python client says the same (deniable.core.exact.meaning).

import { exactly } from "./fraction.js";

/** Where the words change. */
const STEPS = [1, 3, 5, 10];
const HIDING = ["well hidden", "fairly hidden", "poorly hidden", "hardly hidden", "practically disclosed"];
const BECAUSE = [
  "any answer could have produced it",
  "any answer could have produced it, though some much more often than others",
  "it points strongly to your answer",
  "it nearly gives your answer away",
  "do not count on being able to deny it",
];

const step = (level) => STEPS.filter((bound) => level.toNumber() > bound).length;

/** Two words for a level, a Fraction. */
export function hiding(level) {
  return HIDING[step(level)];
}

/** What one report of this level tells; with `lifetime`, what all reports a person may ever send tell together. Fractions. */
export function meaning(epsilon, lifetime = epsilon) {
  if (lifetime.compare(epsilon) <= 0) return `The report leaves your answer ${hiding(epsilon)}: ${BECAUSE[step(epsilon)]}. ${seen("it", epsilon)}`;
  return `All reports together leave your answer ${hiding(lifetime)}. ${seen("them", lifetime)} One report alone leaves it ${hiding(epsilon)} (epsilon ${shown(epsilon)}).`;
}

function seen(what, level) {
  const share = 1 / (1 + Math.exp(-level.toNumber()));
  const surest = share > 0.999 ? "more than 99.9 %" : `up to ${(100 * share).toFixed(1)} %`;
  return `Seeing ${what} can change the odds between two answers by a factor of ${times(level.toNumber())}: someone who thought them equally likely can become ${surest} sure of one (epsilon ${shown(level)}).`;
}

/** A decimal where that is exact, else the ratio. */
export function shown(level) {
  const number = level.toNumber();
  return exactly(number)?.equals(level) ? String(number) : `${level}`;
}

/** e**number, rounded up to three digits; nobody needs those of a million and more. */
function times(number) {
  const odds = Math.exp(Math.min(number, 700));
  if (odds > 1e6) return "more than a million";
  const unit = 10 ** (Math.floor(Math.log10(odds)) - 2);
  return `at most ${(Math.ceil(odds / unit) * unit).toFixed(unit < 0.05 ? 2 : unit < 0.5 ? 1 : 0)}`;
}
