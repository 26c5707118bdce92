// For the operator of a survey: with a token the numbers are those of now, not those of the last step.

import { ask, complain, count, element, signIn, surveyHash } from "./page.js";

/** A fold to sign in with; `changed(signedIn)` hears when what is asked for changes. */
export function operatorFold(changed) {
  const input = element("input", { type: "password", id: "operator", required: true, autocomplete: "off", spellcheck: "false" });
  const form = element("form", { autocomplete: "off" }, element("p", {}, element("label", { for: "operator" }, "Admin token "), input, " ", element("button", { type: "submit" }, "Sign in")));
  const hint = element("p", { class: "quiet" }, "`deniable token NAME` on the collector's machine makes one. It stays in this page and is gone when you leave it.");
  const fold = element("details", { class: "operator" }, element("summary", {}, "For the operator"), form, hint);
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
  const out = element("button", { type: "button", class: "plain" }, "Sign out");
  out.addEventListener("click", () => {
    signIn("");
    fold.replaceChildren(element("summary", {}, "For the operator"), ...before);
    changed(false);
  });
  return [
    element("summary", {}, "For the operator"),
    element("p", {}, element("strong", {}, "Signed in."), " These are the current numbers. They are not public: anyone who compares two of them sees what arrived in between."),
    element("p", {}, `${count(seen.stored)} reports were counted. The survey is ${seen.open ? "open" : "closed"}. ${seen.kept}`),
    out,
  ];
}
