// Steps from one window to the next that chance does not explain, named with a stated error rate.

/** How many standard errors a normal number exceeds with this probability; Abramowitz and Stegun 26.2.23, never too few. */
export function reachOf(probability) {
  const t = Math.sqrt(-2 * Math.log(probability));
  return t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) + 4.5e-4;
}

/**
 * Of lines of {window, value, low, high}: the steps that exceed what the intervals of both windows explain. If nothing ever changes, some
 * step is named with at most the probability `rate` in all: every step has an equal part of it, and intervals are widened to that.
 */
export function alertsOf(lines, level, rate = 0.05) {
  const steps = lines.flatMap(({ name, points }) => points.slice(1).map((to, i) => ({ name, from: points[i], to })));
  const wider = reachOf(rate / (2 * Math.max(steps.length, 1))) / (reachOf((1 - level) / 2) - 9e-4);
  const side = (point, up) => wider * (up ? point.high - point.value : point.value - point.low);
  return steps.filter(({ from, to }) => {
    const rises = to.value > from.value;
    return Math.abs(to.value - from.value) > Math.hypot(side(from, rises), side(to, !rises));
  });
}
