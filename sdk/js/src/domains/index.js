// A domain from its recipe, and the channel input of a private value.

import { InvalidParameter } from "../errors.js";
import { undigits } from "../integers.js";
import { ball } from "./ball.js";
import { countOf, fieldsOf, refused } from "./base.js";
import { binary, bins, categories, points, text, wholeNumbers } from "./listed.js";
import { cellOf, circle, interval, pointOf } from "./numbers.js";
import { disc, parallelogram, rectangle, sphere } from "./plane.js";
import { polygon } from "./polygon.js";
import { itemSet, keyValue } from "./sets.js";

const KINDS = { ball, binary, bins, categories, interval, circle, rectangle, parallelogram, sphere, disc, polygon, points, text, whole: wholeNumbers, record, trajectory, "item-set": itemSet, "key-value": keyValue };

export const domainKinds = Object.freeze(Object.keys(KINDS));

/** A domain from its recipe. */
export function domainFrom(recipe) {
  const kind = typeof recipe === "object" && recipe !== null ? recipe.kind : undefined;
  if (typeof kind !== "string" || !Object.hasOwn(KINDS, kind)) throw new InvalidParameter("the domain's kind is not known to this release");
  return KINDS[kind](recipe);
}

/** Several named attributes of one person. */
function record(recipe) {
  const [given] = fieldsOf(recipe, "fields");
  if (!Array.isArray(given) || !given.length || given.some((field) => !Array.isArray(field) || field.length !== 2 || typeof field[0] !== "string")) {
    throw new InvalidParameter("a record has a list of names and domains");
  }
  const fields = new Map(given.map(([name, inner]) => [name, domainFrom(inner)]));
  if (fields.size !== given.length) throw new InvalidParameter("the fields of a record must differ");
  return { kind: "record", fields };
}

/** Several places in order. */
function trajectory(recipe) {
  const [space, length] = fieldsOf(recipe, "space", "length");
  return { kind: "trajectory", space: domainFrom(space), length: countOf("length", length, 1, 2 ** 16) };
}

/**
 * The channel's input for a private value.
 *
 * Records, trajectories and coordinates go part by part, because a part's lattice may be finer than its domain's.
 * A number goes to the nearest of equally spaced points when its channel rounds between rows or adds noise
 * (interpolated, profile on a line), else to the cell it lies in; both have as many indices as the channel has inputs.
 */
export function inputOf(domain, channel, value) {
  if (domain.kind === "record") return recordInput(domain, channel, value);
  if (domain.kind === "trajectory") {
    if (channel.kind !== "steps" || channel.length !== domain.length) throw mismatch();
    if (!Array.isArray(value) || value.length !== domain.length) throw refused(`the value must be a list of ${domain.length} places`);
    return undigits(value.map((place) => inputOf(domain.space, channel.step, place)), new Array(domain.length).fill(channel.step.inputs));
  }
  if (domain.kind === "interval" || domain.kind === "circle") return latticeInput(channel, domain.position(value));
  if (domain.shares && channel.kind === "product") {
    if (channel.parts.length !== 2) throw mismatch();
    const [x, y] = domain.shares(value);
    return undigits([latticeInput(channel.parts[0], y), latticeInput(channel.parts[1], x)], channel.parts.map((part) => part.inputs));
  }
  if (domain.size !== channel.inputs) throw mismatch();
  return domain.encode(value);
}

function mismatch() {
  return new InvalidParameter("the channel does not take this domain's values");
}

function latticeInput(channel, position) {
  // A coin that sometimes tells the truth stands beside the channel that has the lattice.
  const inner = channel.kind === "mixture" ? (channel.parts.find((part) => !part.identity) ?? channel) : channel;
  const rounds = inner.kind === "interpolated" || (inner.kind === "profile" && !inner.wrap);
  return rounds ? pointOf(position, channel.inputs - 1n) : cellOf(position, channel.inputs);
}

/** Does every report speak about a few of a record's fields together? */
const reportsTables = (channel) => channel.kind === "mixture" && channel.parts.every((part) => part.kind === "several-digits");

/** The channels of a record's fields, in order. */
export function partsOf(channel) {
  if (channel.kind === "product" || channel.kind === "fake-data") return channel.parts;
  const fields = channel.kind === "mixture" && channel.parts.every((part, place) => part.kind === "field" && part.place === place);
  if (!fields) throw mismatch();
  return channel.parts.map((part) => part.inner);
}

function recordInput(domain, channel, value) {
  const names = [...domain.fields.keys()];
  const tables = reportsTables(channel);
  const parts = tables ? null : partsOf(channel);
  if ((tables ? channel.parts[0].sizes : parts).length !== names.length) throw mismatch();
  const given = typeof value === "object" && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
  if (given.length !== names.length || names.some((name) => !Object.hasOwn(value, name))) {
    throw refused(`the value must have exactly the fields ${names.join(", ")}`);
  }
  if (tables) {
    // The values' own numbers: a table has a cell for each.
    const sizes = channel.parts[0].sizes;
    if (names.some((name, place) => domain.fields.get(name).size !== sizes[place])) throw mismatch();
    return undigits(names.map((name) => domain.fields.get(name).encode(value[name])), sizes);
  }
  const inputs = names.map((name, place) => inputOf(domain.fields.get(name), parts[place], value[name]));
  return undigits(inputs, parts.map((part) => part.inputs));
}
