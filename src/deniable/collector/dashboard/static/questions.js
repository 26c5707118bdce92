// A form for a survey's questions: every domain gets the control that fits it.

import { count, element } from "./page.js";
import { WORDS } from "./words.js";

const FEW = 8;

/** The form, and a function that reads one answer per attribute from it. */
export function answerForm(survey) {
  const controls = survey.document.attributes.map(({ name, question }) => [name, question, control(name, survey.domainOf(name))]);
  const form = element(
    "form",
    { novalidate: false, autocomplete: "off" },
    controls.map(([, question, { nodes }]) => element("fieldset", {}, element("legend", {}, question), nodes)),
    element("p", { class: "buttons" }, element("button", { type: "submit" }, WORDS.send), " ", element("button", { type: "button", class: "plain", id: "decline" }, WORDS.decline)),
    element("p", { class: "quiet" }, WORDS.once),
  );
  return { form, read: () => Object.fromEntries(controls.map(([name, , { read }]) => [name, read()])) };
}

function control(name, domain) {
  switch (domain.kind) {
    case "binary":
      return choices(name, [WORDS.yes, WORDS.no], [true, false]);
    case "bins":
    case "categories": {
      const size = Number(domain.size);
      const labels = domain.labels ?? (size <= 1000 ? Array.from({ length: size }, (_, i) => String(i)) : null);
      if (labels === null) return number(name, WORDS.wholeUpTo(count(size - 1)), { min: 0, max: size - 1, step: 1 });
      const values = domain.labels ?? labels.map(Number);
      const { nodes, read } = (labels.length <= FEW ? choices : menu)(name, labels, values);
      return { nodes: domain.kind === "bins" ? [element("p", { class: "quiet" }, WORDS.lowerEnd(labels[1])), ...nodes] : nodes, read };
    }
    case "interval": {
      const [low, high] = [domain.low.toNumber(), domain.high.toNumber()];
      return number(name, WORDS.numberBetween(low, high), { min: low, max: high, step: "any" });
    }
    case "circle": {
      const period = domain.period.toNumber();
      if (period === 24) return clock(name);
      return number(name, WORDS.numberBetween(0, Number(period.toPrecision(6))), { min: 0, max: period, step: "any" });
    }
    case "item-set":
      return several(name, domain);
    case "key-value":
      return amounts(name, domain);
    case "points":
      return menu(name, domain.places.map((place) => place.join(", ")), domain.places);
    case "text":
      return words(name, WORDS.lettersAtMost(domain.length), domain.length);
    case "whole":
      return number(name, WORDS.wholeBelow(count(domain.size)), { min: 0, step: 1 }, (text) => (/^\d{1,20}$/.test(text) ? BigInt(text) : null));
    case "trajectory": {
      const places = Array.from({ length: domain.length }, (_, i) => control(`${name}-${i}`, domain.space));
      const label = (control, i) => element("div", { role: "group", "aria-label": WORDS.place(i + 1) }, element("p", {}, WORDS.place(i + 1)), control.nodes);
      return { nodes: places.map(label), read: () => places.map((control) => control.read()) };
    }
    default: {
      // Only a rectangle has the same ends everywhere.
      const side = (axis, words) => {
        const [low, high] = domain.kind === "rectangle" ? [domain[axis].low.toNumber(), domain[axis].high.toNumber()] : [];
        const label = low === undefined ? words : WORDS.within(words, low, high);
        return number(`${name}-${axis}`, label, { min: low, max: high, step: "any" });
      };
      const [x, y] = [side("x", WORDS.x), side("y", WORDS.y)];
      return { nodes: [...x.nodes, ...y.nodes], read: () => [x.read(), y.read()] };
    }
  }
}

function choices(name, labels, values) {
  const inputs = labels.map((_, i) => element("input", { type: "radio", name, id: `${name}-${i}`, value: i, required: true }));
  const rows = inputs.map((input, i) => element("div", { class: "choice" }, input, element("label", { for: input.id }, labels[i])));
  return { nodes: rows, read: () => values[inputs.findIndex((input) => input.checked)] };
}

/** More than `most` of these inputs in use is said before anything is sent. */
function atMost(inputs, most, used) {
  const check = () => inputs[0].setCustomValidity(inputs.filter(used).length > most ? WORDS.tooMany(most) : "");
  for (const input of inputs) input.addEventListener("input", check);
}

/** A box to tick for every item; no box ticked is an answer, too. */
function several(name, domain) {
  const values = domain.labels ?? Array.from({ length: domain.items }, (_, i) => i);
  const inputs = values.map((value, i) => element("input", { type: "checkbox", name, id: `${name}-${i}`, value: i }));
  const rows = inputs.map((input, i) => element("div", { class: "choice" }, input, element("label", { for: input.id }, String(values[i]))));
  atMost(inputs, domain.most, (input) => input.checked);
  return { nodes: [element("p", { class: "quiet" }, WORDS.tickAtMost(domain.most)), ...rows], read: () => values.filter((_, i) => inputs[i].checked) };
}

/** A number for every key, to be left empty where there is none. */
function amounts(name, domain) {
  const keys = domain.labels ?? Array.from({ length: domain.items }, (_, i) => i);
  const [low, high] = [domain.values.low.toNumber(), domain.values.high.toNumber()];
  const inputs = keys.map((_, i) => element("input", { type: "number", id: `${name}-${i}`, step: "any", min: low, max: high }));
  atMost(inputs, domain.most, (input) => input.value !== "");
  const rows = inputs.map((input, i) => element("p", { class: "amount" }, element("label", { for: input.id }, `${keys[i]} `), input));
  const read = () => Object.fromEntries(keys.flatMap((key, i) => (inputs[i].value === "" ? [] : [[key, Number(inputs[i].value)]])));
  return { nodes: [element("p", { class: "quiet" }, WORDS.fillAtMost(domain.most), WORDS.eachBetween(low, high)), ...rows], read };
}

function menu(name, labels, values) {
  const select = element("select", { id: name, required: true }, element("option", { value: "" }, WORDS.choose), labels.map((label, i) => element("option", { value: i }, label)));
  const label = element("label", { for: name }, WORDS.yourAnswer);
  return { nodes: [label, select], read: () => (select.value === "" ? undefined : values[Number(select.value)]) };
}

function number(name, label, bounds, read = (text) => (text === "" ? NaN : Number(text))) {
  const input = element("input", { type: "number", id: name, required: true, ...bounds });
  return { nodes: [element("p", {}, element("label", { for: name }, `${label} `), input)], read: () => read(input.value) };
}

function words(name, label, most) {
  const input = element("input", { type: "text", id: name, required: true, maxlength: most });
  return { nodes: [element("p", {}, element("label", { for: name }, `${label} `), input)], read: () => input.value };
}

/** Hours of a day as people write them. */
function clock(name) {
  const input = element("input", { type: "time", id: name, required: true });
  const read = () => {
    const [hours, minutes] = input.value.split(":").map(Number);
    return input.value === "" ? NaN : hours + minutes / 60;
  };
  return { nodes: [element("p", {}, element("label", { for: name }, `${WORDS.hour} `), input)], read };
}
