// What will be sent, and what epsilon means, in plain words: to be shown before anything is asked.

import { changesOf } from "./changes.js";
import { expNumber } from "./exponential.js";
import { Fraction } from "./fraction.js";
import { permanentOf } from "./kept-layers.js";
import { meaning } from "./meaning.js";
import { outputBits } from "./wire.js";

const percent = (share) => (share > 0.999 ? "more than 99.9 %" : share < 0.001 ? "less than 0.1 %" : `${Number((100 * share).toPrecision(3))} %`);
const short = (number) => (number >= 1e6 ? number.toExponential(2) : String(Number(number.toPrecision(3))));

/** The words for one survey on this device. `left` is what the ledger has left of the survey's budget; `own`, of the person's limit. */
export function explain(survey, left = survey.budget, own = null) {
  const odds = expNumber(survey.epsilon);
  const { repeat, window, keep_reports: kept, release, strategy } = survey.document;
  return {
    title: survey.title,
    purpose: survey.document.purpose,
    questions: survey.document.attributes.map(({ name, question }) => ({ name, question })),
    staying: "Your answer stays on this device. Only a randomized report leaves it.",
    sending: whatIsSent(survey),
    strategy: STRATEGY_WORDS[strategy] ?? null,
    meaning: repeat === "once" ? meaning(survey.epsilon) : meaning(survey.epsilon, survey.budget),
    repeating: repeating(repeat, window),
    keeping: kept
      ? "The collector may keep single reports. They carry no name, no address and no time finer than the window."
      : "The collector adds the report to its sums and keeps no single reports.",
    releasing: release === "live" ? LIVE_WORDS : releaseWords(release),
    budget:
      `${changesOf(repeat) === null ? "One answer costs" : "All answers together cost"} ${permanentOf(repeat) ?? survey.epsilon} of the ${survey.budget} you can ever spend on this survey; ${left} is left.` +
      (own === null ? "" : ` Of your own limit for all surveys ${own} is left.`),
    checked: `This device checked the survey itself: its hash, and that no report is more than ${short(odds)} times as likely for one answer as for another: e to the power of ${survey.epsilon}.`,
    odds,
  };
}

const LIVE_WORDS = "Numbers are published live: anyone who looks just before and just after your report learns that report.";

function releaseWords({ reports, minutes }) {
  const wait = minutes === 0 ? "" : ` and at least ${minutes} minute${minutes === 1 ? "" : "s"}`;
  return `The survey says that new numbers are published after at least ${reports} new reports${wait}. Whoever sends all the others of a step can still work out yours.`;
}

const STRATEGY_WORDS = {
  split: "Every question is answered, each with a part of epsilon.",
  "sample-one": "A coin picks one of your answers, and only that one is randomized and sent: several would each need more noise. The report says which question it answers.",
  "fake-data": "A hidden coin picks one of your answers to be sent; made-up ones take the place of the others, and nobody can tell which: several answers would each need more noise.",
};

const PER_DEVICE = "This holds for each device: if you answer on two, you spend twice.";

function repeating(repeat, window) {
  const level = permanentOf(repeat);
  if (level !== null) {
    return `You are asked every ${window}. Your device draws an answer once for every value and keeps it; every report adds fresh noise. All reports of one value cost ${level} together, a changed answer costs ${level} again, and when it changes is not hidden. ${PER_DEVICE}`;
  }
  const changes = changesOf(repeat);
  if (changes !== null) {
    const signs = `Your device reports whether your answer changed, not what it is: the direction of ${changes === 1 ? "its first change" : `one of its first ${changes} changes`}, with noise, or a coin where there was none`;
    const when = `It draws once how many ${window}s lie between its reports, a power of two that every report shows and that says nothing about your answers, and is silent otherwise`;
    return `You are asked every ${window}. ${signs}. ${when}. All its reports together cost epsilon once, and when you change is hidden, too. To notice a change, your device keeps your last answer. ${PER_DEVICE}`;
  }
  if (!repeat.startsWith("turns:")) return REPEAT_WORDS[repeat](window);
  const turns = repeat.slice(6);
  return `Your device reports every ${turns} ${window}s, in a turn that it draws once, and is silent otherwise: any ${turns} ${window}s in a row cost epsilon once. ${PER_DEVICE}`;
}

const REPEAT_WORDS = {
  once: () => "You are asked once.",
  permanent: (window) => `You are asked every ${window}. The same answer always gives the same report; a changed answer costs epsilon again, and whoever can link two of your reports sees that it changed.`,
  "each-window": (window) => `You are asked every ${window}; each report is fresh and costs epsilon, until the budget is spent.`,
  "random-window": (window) => `Your device reports once in all, in a ${window} that it draws at random, and is silent otherwise. ${PER_DEVICE}`,
};

function whatIsSent(survey) {
  const { channel, document } = survey;
  const bytes = 19 + Math.ceil(outputBits(channel) / 8);
  const frame = `The report has ${bytes} bytes, whatever you answer, and travels with a random number that is used once.`;
  const compiled = document.channel;
  if (changesOf(document.repeat) !== null) return `A direction, up or down, that is drawn at random with chances that lean toward your own change in at most one report, and how many ${document.window}s it is about. ${frame}`;
  if (compiled.kind === "two-level" && compiled.set === "singleton") {
    const truth = new Fraction(channel.high, channel.total).toNumber();
    return `One of the ${channel.inputs} possible answers: yours with a chance of ${percent(truth)}, otherwise another one at random. ${frame}`;
  }
  if (compiled.kind === "product") {
    return `A randomized answer to each of the ${compiled.parts.length} parts, put together into one report. ${frame}`;
  }
  if (compiled.kind === "bits") return `A row of ${compiled.size} bits, one for each possible answer, every one of them flipped at random. ${frame}`;
  if (compiled.kind === "two-level" && compiled.set === "window") {
    const near = Number(compiled.members) * Number(compiled.high);
    const share = near / (near + (Number(compiled.outputs) - Number(compiled.members)) * Number(compiled.low));
    return `A number drawn at random: with a chance of ${percent(share)} from a window around yours, otherwise from everywhere else. ${frame}`;
  }
  return `A number drawn at random, with chances that lean toward your answer. ${frame}`;
}
