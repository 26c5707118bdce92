// For the operator of a survey: with a token the numbers are those of now, not those of the last step.

import { ask, complain, count, element, signIn, surveyHash } from "./page.js";
import { RESULTS } from "./words.js";

/** A fold to sign in with; `changed(signedIn)` hears when what is asked for changes. */
export function operatorFold(changed) {
  const input = element("input", { type: "password", id: "operator", required: true, autocomplete: "off", spellcheck: "false" });
  const form = element("form", { autocomplete: "off" }, element("p", {}, element("label", { for: "operator" }, RESULTS.token), input, " ", element("button", { type: "submit" }, RESULTS.signIn)));
  const hint = element("p", { class: "quiet" }, RESULTS.tokenHint);
  const fold = element("details", { class: "operator" }, element("summary", {}, RESULTS.operator), form, hint);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    form.querySelector("[role=alert]")?.remove();
    signIn(input.value.trim());
    try {
      const seen = await ask(`v1/admin/surveys/${surveyHash}`);
      input.value = "";
      fold.replaceChildren(...signedIn(seen, fold, [form, hint], changed));
      changed(true);
    } catch (error) {
      signIn("");
      complain(form, error);
    }
  });
  return fold;
}

function signedIn(seen, fold, before, changed) {
  const out = element("button", { type: "button", class: "plain" }, RESULTS.signOut);
  out.addEventListener("click", () => {
    signIn("");
    fold.replaceChildren(element("summary", {}, RESULTS.operator), ...before);
    changed(false);
  });
  return [
    element("summary", {}, RESULTS.operator),
    element("p", {}, element("strong", {}, RESULTS.signedIn), RESULTS.current),
    element("p", {}, RESULTS.stored(count(seen.stored), seen.open, seen.kept)),
    out,
  ];
}
