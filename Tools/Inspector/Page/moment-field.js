// The field for the moment: a date, a number or a token.

import { h, replace } from "./dom.js";
import { isAtHead } from "./session.js";
import * as steps from "./steps.js";

const problem = h("span", { class: "bad moment-problem", id: "moment-problem", role: "alert", hidden: true });
const input = h("input", {
  type: "text", name: "moment", size: 13, placeholder: "date or number", "aria-label": "Moment: a date, a number or a token",
  title: "A date (the last transaction not after it), a number, head~2, 30d (m)", "aria-describedby": "moment-problem",
  autocomplete: "off", spellcheck: "false",
  onkeydown: (event) => {
    if (event.key === "Enter") apply();
    if (event.key === "Escape") showProblem(null);
  },
  oninput: () => showProblem(null),
  onblur: () => showProblem(null),
});

export const momentField = h("span", { class: "moment-field" }, input, problem);

async function apply() {
  const text = withoutSeparators(input.value.trim());
  if (!text) return;
  try {
    await steps.toMoment(text);
    showProblem(null);
    input.select();
  } catch (error) {
    showProblem(error);
  }
}

/** A number as the page writes it is one: 1,190. */
function withoutSeparators(text) {
  return /^\d{1,3}(,\d{3})+$/.test(text) ? text.replaceAll(",", "") : text;
}

function showProblem(error) {
  problem.hidden = !error;
  input.setAttribute("aria-invalid", error ? "true" : "false");
  if (!error) return;
  const text = input.value.trim();
  const form = /^\d{4}$/.test(text) ? `: write ${text}-12 for the year`
    : error.parameter === "at" && ": write 2019-10-22, 42, head~2 or 30d";
  replace(problem, error.message.split(". ")[0], form);
}

export function focusMoment() {
  input.focus();
  input.select();
}

/** What was typed is forgotten when the newest state is shown again. */
export function showMomentField() {
  if (isAtHead() && document.activeElement !== input) input.value = "";
}
