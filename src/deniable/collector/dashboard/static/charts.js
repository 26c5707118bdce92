// Small charts in SVG: drawn at the width they have, in the page's own colours, each with its table.

import { element, short } from "./page.js";
import { PAGE } from "./words.js";

const SPACE = "http://www.w3.org/2000/svg";

/** An SVG element. */
export function shape(name, attributes = {}, ...children) {
  const node = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null) node.setAttribute(key, String(value));
  node.append(...children);
  return node;
}

const text = (x, y, words, attributes = {}) => shape("text", { x, y, ...attributes }, words);
/** Numbers under an axis stay within the drawing: the last one ends there. */
const anchor = (at, right) => (at > right - 24 ? "end" : "middle");
const line = (x1, y1, x2, y2, kind) => shape("line", { x1, y1, x2, y2, class: kind });

/**
 * A figure: a caption, the drawing (an image to screen readers, with a summary), and the same numbers as a table.
 * `draw(width)` gives [height, ...shapes] and is called again when the width changes.
 */
export function figure({ caption, summary, draw, table, method = null }) {
  const drawing = shape("svg", { role: "img", "aria-label": summary });
  const whole = element("figure", {}, element("figcaption", {}, caption), drawing);
  const more = element("div", { class: "more" });
  if (method) more.append(element("details", {}, element("summary", {}, PAGE.method), element("p", { class: "quiet" }, method)));
  if (table) more.append(element("details", {}, element("summary", {}, PAGE.table), table));
  const save = element("button", { type: "button", class: "save" }, PAGE.picture);
  save.addEventListener("click", () => savePicture(drawing));
  more.append(save);
  whole.append(more);
  let drawn = 0;
  const redraw = () => {
    const width = Math.max(260, Math.floor(whole.clientWidth));
    if (width === drawn) return;
    drawn = width;
    const [height, ...shapes] = draw(width);
    drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    drawing.setAttribute("height", height);
    drawing.replaceChildren(...shapes);
  };
  new ResizeObserver(redraw).observe(whole);
  return whole;
}

const LOOKS = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-linejoin", "stroke-dasharray", "font-family", "font-size", "font-weight"];

/** The drawing in a file of its own: the page's styles do not reach there, so each shape takes its looks with it. */
async function savePicture(drawing) {
  const copy = drawing.cloneNode(true);
  const [old, fresh] = [drawing, copy].map((whole) => [...whole.querySelectorAll("*")]);
  old.forEach((one, i) => {
    const looks = getComputedStyle(one);
    for (const name of LOOKS) fresh[i].setAttribute(name, looks.getPropertyValue(name));
  });
  const { width, height } = drawing.getBoundingClientRect();
  for (const [name, value] of Object.entries({ xmlns: SPACE, width, height })) copy.setAttribute(name, value);
  copy.prepend(shape("rect", { width: "100%", height: "100%", fill: getComputedStyle(document.body).backgroundColor }));
  const source = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }));
  const picture = new Image();
  picture.src = source;
  await picture.decode();
  URL.revokeObjectURL(source);
  const canvas = element("canvas", { width: Math.round(2 * width), height: Math.round(2 * height) });
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((data) => {
    const link = element("a", { download: `${drawing.getAttribute("aria-label").slice(0, 40).replace(/[^\w]+/g, "-")}.png`, href: URL.createObjectURL(data) });
    link.click();
    URL.revokeObjectURL(link.href);
  }, "image/png");
}

/** Round numbers from low to high, about `wanted` of them. */
export function ticks(low, high, wanted) {
  const rough = (high - low) / Math.max(wanted, 1);
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * unit).find((size) => size >= rough * 0.999);
  const marks = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-6; at += step) marks.push(Math.abs(at) < step * 1e-6 ? 0 : at);
  return marks;
}

/** The same for hours of a day: steps that a clock has. */
export function clockTicks(low, high, wanted) {
  const rough = (60 * (high - low)) / Math.max(wanted, 1);
  const step = [5, 10, 15, 30, 60, 120, 180, 360, 720].find((minutes) => minutes >= rough * 0.999) ?? 720;
  const marks = [];
  for (let at = Math.ceil((60 * low) / step - 1e-9) * step; at <= 60 * high + 1e-6; at += step) marks.push(at / 60);
  return marks;
}

/** At least three marks where there can be: one number alone says nothing about an axis. */
function marksOf(marks, low, high, wanted) {
  const some = marks(low, high, wanted);
  return some.length > 2 || wanted > 7 ? some : marksOf(marks, low, high, wanted + 1);
}

/** A horizontal axis under a drawing: grid lines, numbers, a title. */
function axisBelow({ low, high, left, right, top, bottom, title, show = short, marks = ticks }) {
  const at = (value) => left + ((value - low) / (high - low)) * (right - left);
  const shapes = [];
  for (const tick of marksOf(marks, low, high, Math.max(2, (right - left) / 75))) {
    shapes.push(line(at(tick), top, at(tick), bottom, "grid"));
    shapes.push(text(at(tick), bottom + 18, show(tick), { "text-anchor": anchor(at(tick), right + 10), class: "faint" }));
  }
  if (title) shapes.push(text((left + right) / 2, bottom + 38, title, { "text-anchor": "middle", class: "faint" }));
  return [at, shapes];
}

function whisker(at, low, high, y) {
  const [from, to] = [at(low), at(high)];
  return [line(from, y, to, y, "whisker"), line(from, y - 5, from, y + 5, "whisker"), line(to, y - 5, to, y + 5, "whisker")];
}

function fitted(label, width) {
  const most = Math.max(4, Math.floor(width / 7.2));
  return label.length > most ? `${label.slice(0, most - 1)}…` : label;
}

/** Bars with whiskers: rows of {label, value, low, high}; low and high may be left out. */
export function bars(rows, { title, show, from = 0 }) {
  return (width) => {
    const labels = Math.min(0.38 * width, 7.4 * Math.max(...rows.map(({ label }) => label.length)) + 16);
    const [left, right, top, each] = [labels, width - 14, 6, 34];
    const bottom = top + rows.length * each;
    // An unbiased estimate may lie outside its interval, which ends at 0 and 1.
    const low = Math.min(from, ...rows.map((row) => Math.min(row.value, row.low ?? row.value)));
    const high = Math.max(...rows.map((row) => Math.max(row.value, row.high ?? row.value))) || 1;
    const [at, axis] = axisBelow({ low, high: low + (high - low) * 1.04, left, right, top, bottom, title, show });
    const shapes = rows.flatMap((row, i) => {
      const y = top + i * each + each / 2;
      const [start, end] = [at(Math.min(from, row.value)), at(Math.max(from, row.value))];
      return [
        shape("rect", { x: start, y: y - 11, width: Math.max(end - start, 1), height: 22, class: "bar" }),
        text(left - 10, y + 4.5, fitted(row.label, labels - 14), { "text-anchor": "end" }),
        ...(row.low === undefined ? [] : whisker(at, row.low, row.high, y)),
      ];
    });
    return [bottom + (title ? 48 : 26), ...axis, line(at(from), top, at(from), bottom, "axis"), ...shapes];
  };
}

/** Points with whiskers on one axis: rows of {label, value, low, high}. */
export function dots(rows, { title, show = short, ends = null, marks = ticks }) {
  return (width) => {
    const labels = Math.min(0.34 * width, 7.4 * Math.max(...rows.map(({ label }) => label.length)) + 18);
    const [left, right, top, each] = [labels, width - 18, 6, 32];
    const bottom = top + rows.length * each;
    let [low, high] = [Math.min(...rows.map((row) => Math.min(row.low, row.value))), Math.max(...rows.map((row) => Math.max(row.high, row.value)))];
    const room = 0.06 * (high - low || Math.abs(high) || 1);
    // On the axis of the answers, where that is known: an interval that fills its own axis would look wide however narrow it is.
    [low, high] = ends === null ? [low - room, high + room] : [Math.min(low, ends[0]), Math.max(high, ends[1])];
    const [at, axis] = axisBelow({ low, high, left, right, top, bottom, title, show, marks });
    const shapes = rows.flatMap((row, i) => {
      const y = top + i * each + each / 2;
      return [
        text(left - 12, y + 4.5, fitted(row.label, labels - 16), { "text-anchor": "end" }),
        ...whisker(at, row.low, row.high, y),
        shape("circle", { cx: at(row.value), cy: y, r: 5.5, class: "dot" }),
      ];
    });
    return [bottom + (title ? 48 : 26), ...axis, ...shapes];
  };
}

/** Points with whiskers on one axis, in blocks with a heading: blocks of {name, rows of {group, value, low, high}}. */
export function grouped(blocks, { title, show = short }) {
  return (width) => {
    const all = blocks.flatMap(({ rows }) => rows);
    const labels = Math.min(0.38 * width, 7.4 * Math.max(...all.map(({ group }) => group.length)) + 18);
    const [left, right, top, each, head] = [labels, width - 18, 6, 24, 30];
    const bottom = top + blocks.reduce((sum, { rows }) => sum + head + rows.length * each, 0) + 4;
    let [low, high] = [Math.min(...all.map((row) => Math.min(row.low, row.value))), Math.max(...all.map((row) => Math.max(row.high, row.value)))];
    const room = 0.06 * (high - low || Math.abs(high) || 1);
    [low, high] = [low - room, high + room];
    const [at, axis] = axisBelow({ low, high, left, right, top, bottom, title, show });
    let y = top;
    const shapes = blocks.flatMap(({ name, rows }) => {
      y += head;
      const begin = y;
      y += rows.length * each;
      return [
        text(0, begin - 8, fitted(name, width), { class: "strong" }),
        ...rows.flatMap((row, i) => {
          const middle = begin + i * each + each / 2;
          return [
            text(left - 12, middle + 4.5, fitted(row.group, labels - 16), { "text-anchor": "end" }),
            ...whisker(at, row.low, row.high, middle),
            shape("circle", { cx: at(row.value), cy: middle, r: 5.5, class: "dot" }),
          ];
        }),
      ];
    });
    return [bottom + (title ? 48 : 26), ...axis, ...shapes];
  };
}

/** Columns over bins: rows of {start, end, value, low, high}. */
export function histogram(rows, { title, show }) {
  return (width) => {
    const [left, right, top, bottom] = [60, width - 18, 8, 236];
    const least = Math.min(0, ...rows.map((row) => row.low));
    const most = Math.max(...rows.map((row) => row.high)) * 1.04 || 1;
    const [at, axis] = axisBelow({ low: rows[0].start, high: rows.at(-1).end, left, right, top, bottom, title });
    const up = (value) => bottom - ((value - least) / (most - least)) * (bottom - top);
    const side = ticks(least, most, 5).flatMap((tick) => [
      line(left, up(tick), right, up(tick), "grid"),
      text(left - 8, up(tick) + 4, show(tick), { "text-anchor": "end", class: "faint" }),
    ]);
    const columns = rows.flatMap((row) => {
      const [x, next] = [at(row.start), at(row.end)];
      const middle = (x + next) / 2;
      return [
        shape("rect", { x: x + 0.5, y: Math.min(up(row.value), up(0)), width: Math.max(next - x - 1, 1), height: Math.abs(up(0) - up(row.value)), class: "bar" }),
        line(middle, up(row.low), middle, up(row.high), "whisker"),
      ];
    });
    return [bottom + 46, ...axis, ...side, line(left, up(0), right, up(0), "axis"), ...columns];
  };
}

/** Sectors around a circle: rows of {start, end, value, low, high}; the area is the share. */
export function rose(rows, { show, name = short }) {
  return (width) => {
    const size = Math.min(width, 380);
    const [x, y, radius] = [width / 2, size / 2, size / 2 - 34];
    const period = rows.at(-1).end;
    const most = Math.max(...rows.map((row) => row.high)) || 1;
    const far = (value) => radius * Math.sqrt(Math.max(value, 0) / most);
    const place = (value, distance) => {
      const turn = (2 * Math.PI * value) / period;
      return [x + distance * Math.sin(turn), y - distance * Math.cos(turn)];
    };
    const rings = [0.25, 0.5, 0.75, 1].map((part) => shape("circle", { cx: x, cy: y, r: radius * Math.sqrt(part), class: "grid", fill: "none" }));
    const names = [0, 0.25, 0.5, 0.75].map((part) => {
      const [atX, atY] = place(part * period, radius + 18);
      return text(atX, atY + 4, name(part * period), { "text-anchor": "middle", class: "faint" });
    });
    const ring = text(0, size - 6, PAGE.rim(show(most)), { class: "faint" });
    const sectors = rows.flatMap((row) => {
      const [a, b] = [place(row.start, far(row.value)), place(row.end, far(row.value))];
      const [low, high] = [place((row.start + row.end) / 2, far(row.low)), place((row.start + row.end) / 2, far(row.high))];
      const path = `M${x} ${y}L${a.join(" ")}A${far(row.value)} ${far(row.value)} 0 0 1 ${b.join(" ")}Z`;
      return [shape("path", { d: path, class: "bar" }), line(...low, ...high, "whisker")];
    });
    return [size, ...rings, ...sectors, ...names, ring];
  };
}

/** A curve: points [x, y]; with `log`, both axes count powers of ten. `mark` is a point to point out. */
export function curve(points, { title, sideTitle, showX = short, showY = short, log = false, mark = null, filled = false, marks = ticks }) {
  return (width) => {
    const [left, right, top, bottom] = [64, width - 20, 24, 236];
    const scale = log ? Math.log10 : (value) => value;
    const [xs, ys] = [0, 1].map((axis) => points.map((point) => scale(point[axis])));
    const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), log ? Math.min(...ys) : 0, Math.max(...ys) || 1];
    const at = (value) => left + ((scale(value) - x0) / (x1 - x0 || 1)) * (right - left);
    const up = (value) => bottom - ((scale(value) - y0) / ((y1 - y0) * (log ? 1 : 1.05) || 1)) * (bottom - top);
    const back = (low, high, wanted, linear = ticks) => {
      if (!log) return linear(low, high, wanted);
      const powers = [];
      // Every power of ten, or every second one where there is no room for all.
      const step = Math.ceil((high - low) / Math.max(wanted, 1));
      for (let power = Math.ceil(low - 1e-9); power <= high + 1e-9; power += step) powers.push(10 ** power);
      return powers;
    };
    const axes = [
      ...back(x0, x1, (right - left) / (log ? 48 : 90), marks).flatMap((tick) => [
        line(at(tick), top, at(tick), bottom, "grid"),
        text(at(tick), bottom + 18, showX(tick), { "text-anchor": anchor(at(tick), right), class: "faint" }),
      ]),
      ...back(y0, y1, 5).flatMap((tick) => [
        line(left, up(tick), right, up(tick), "grid"),
        text(left - 8, up(tick) + 4, showY(tick), { "text-anchor": "end", class: "faint" }),
      ]),
      text((left + right) / 2, bottom + 40, title, { "text-anchor": "middle", class: "faint" }),
      text(0, 12, sideTitle, { class: "faint" }),
    ];
    const path = points.map((point, i) => `${i ? "L" : "M"}${at(point[0])} ${up(point[1])}`).join("");
    const area = filled ? [shape("path", { d: `${path}L${at(points.at(-1)[0])} ${bottom}L${at(points[0][0])} ${bottom}Z`, class: "area" })] : [];
    const dot = mark ? [shape("circle", { cx: at(mark[0]), cy: up(mark[1]), r: 6, class: "dot" })] : [];
    return [bottom + 50, ...axes, ...area, shape("path", { d: path, class: "curve" }), ...dot];
  };
}

/** Lines with bands, one under the other on the same scale: series of {name, points: [{window, value, low, high}]}. */
export function trend(series, { show }) {
  return (width) => {
    const [left, right, each, gap] = [64, width - 14, 96, 34];
    const all = series.flatMap(({ points }) => points);
    const names = [...new Set(all.map(({ window }) => window))].sort();
    let [low, high] = [Math.min(...all.map((point) => point.low)), Math.max(...all.map((point) => point.high))];
    const room = 0.04 * (high - low || Math.abs(high) || 1);
    [low, high] = [low - room, high + room];
    const at = (window) => left + (names.indexOf(window) / (names.length - 1)) * (right - left);
    const step = Math.ceil(names.length / Math.max(1, Math.floor((right - left) / 90)));
    const shapes = series.flatMap(({ name, points }, i) => {
      const top = 22 + i * (each + gap);
      const up = (value) => top + each - ((value - low) / (high - low)) * each;
      const side = ticks(low, high, 3).flatMap((tick) => [line(left, up(tick), right, up(tick), "grid"), text(left - 8, up(tick) + 4, show(tick), { "text-anchor": "end", class: "faint" })]);
      const edge = (end) => points.map((point) => `${at(point.window)} ${up(point[end])}`);
      return [
        text(left, top - 7, fitted(name, right - left)),
        ...side,
        shape("path", { d: `M${edge("low").join("L")}L${edge("high").reverse().join("L")}Z`, class: "area" }),
        shape("path", { d: `M${edge("value").join("L")}`, class: "curve" }),
        ...points.map((point) => shape("circle", { cx: at(point.window), cy: up(point.value), r: 3.5, class: "dot" })),
      ];
    });
    const bottom = 22 + series.length * (each + gap) - gap;
    const ends = (i) => (i === 0 ? "start" : at(names[i]) > right - 40 ? "end" : "middle");
    const below = names.flatMap((name, i) => (i % step ? [] : [text(at(name), bottom + 20, name, { "text-anchor": ends(i), class: "faint" })]));
    return [bottom + 30, ...shapes, ...below];
  };
}

/** Cells of {bounds: [left, lower, right, upper], value}: the fuller, the stronger. */
export function map(cells, { show }) {
  return (width) => {
    const [xs, ys] = [[0, 2], [1, 3]].map((sides) => cells.flatMap(({ bounds }) => sides.map((side) => bounds[side])));
    const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const [left, top, room] = [56, 8, Math.min(width - 76, 460)];
    const unit = Math.min(room / (x1 - x0), 360 / (y1 - y0));
    const [right, bottom] = [left + (x1 - x0) * unit, top + (y1 - y0) * unit];
    const most = Math.max(...cells.map(({ value }) => value)) || 1;
    const squares = cells.map(({ bounds: [l, b, r, t], value }) =>
      shape("rect", { x: left + (l - x0) * unit, y: bottom - (t - y0) * unit, width: (r - l) * unit, height: (t - b) * unit, class: "cell", "fill-opacity": Math.max(0.03, Math.max(value, 0) / most) }),
    );
    const back = shape("rect", { x: left, y: top, width: right - left, height: bottom - top, class: "back" });
    const names = [
      ...ticks(x0, x1, 4).map((tick) => text(left + (tick - x0) * unit, bottom + 18, short(tick), { "text-anchor": "middle", class: "faint" })),
      ...ticks(y0, y1, 4).map((tick) => text(left - 8, bottom - (tick - y0) * unit + 4, short(tick), { "text-anchor": "end", class: "faint" })),
      text(left, bottom + 40, PAGE.strongest(show(most)), { class: "faint" }),
    ];
    return [bottom + 48, back, ...squares, ...names];
  };
}
