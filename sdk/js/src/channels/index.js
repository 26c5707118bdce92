// A channel from its compiled form: kind and integers, checked one by one.

import { InvalidParameter } from "../errors.js";
import { nearestCodes } from "./codes.js";
import { chain, fakeData, field, identity, interpolated, mixture, pair, productOf, severalDigits } from "./composed.js";
import { directionDistance, steps } from "./directions.js";
import { Fields } from "./fields.js";
import { hashing, sketchSigns, wideHashing } from "./hashing.js";
import { nearest, nearestPlaces } from "./nearest.js";
import { hitting, pickedItem, signedBits } from "./padded.js";
import { projective } from "./projective.js";
import { reference } from "./reference.js";
import { hadamard, sectors, singleton, subsets, windowSet } from "./sets.js";
import { bits, nested, profile, ranked, table, twoLevel } from "./weighted.js";
import { MOST_CHANNELS } from "./work.js";

const SETS = {
  singleton,
  window: windowSet,
  sectors,
  hadamard,
  projective,
  subsets,
  hashing,
  "wide-hashing": wideHashing,
  "sketch-signs": sketchSigns,
  nearest,
  "nearest-places": nearestPlaces,
  "nearest-codes": nearestCodes,
  hitting,
};

const KINDS = {
  "two-level": (fields) => {
    const name = fields.take("set");
    const set = typeof name === "string" && Object.hasOwn(SETS, name) ? SETS[name] : undefined;
    if (set === undefined) throw new InvalidParameter("the set system of the channel is not known to this release");
    return twoLevel(fields, set(fields));
  },
  table,
  profile,
  nested,
  bits,
  ranked,
  reference,
  product: productOf,
  mixture,
  interpolated,
  field,
  "several-digits": severalDigits,
  "fake-data": fakeData,
  "picked-item": pickedItem,
  "signed-bits": signedBits,
  chain,
  identity,
  pair,
  "direction-distance": directionDistance,
  steps,
};

export const channelKinds = Object.freeze(Object.keys(KINDS));
export const setSystems = Object.freeze(Object.keys(SETS));
const MOST_DEPTH = 16;

/** The channel of a compiled form. `draw` refuses an index that is not one of its inputs. */
export function channelFrom(compiled, depth = 0, counted = { channels: 0 }) {
  if (depth > MOST_DEPTH) throw new InvalidParameter("the channel is nested too deeply");
  if (++counted.channels > MOST_CHANNELS) throw new InvalidParameter(`the survey has more than ${MOST_CHANNELS} channels: ask fewer questions at once`);
  const fields = new Fields(compiled);
  const kind = fields.take("kind");
  if (typeof kind !== "string" || !Object.hasOwn(KINDS, kind)) throw new InvalidParameter("the channel's kind is not known to this release");
  const made = KINDS[kind](fields, (inner) => channelFrom(inner, depth + 1, counted));
  fields.end();
  return { kind, ...made, draw: (index, coins) => made.draw(checked(index, made.inputs), coins) };
}

function checked(index, inputs) {
  if (typeof index !== "bigint" || index < 0n || index >= inputs) throw new InvalidParameter("the index is not one of the channel's inputs");
  return index;
}
