// The condition of a table: checked while it is typed, errors at their column, the plan below.

import { changed, current, go } from "./address.js";
import { debounced, followAddress, h, plainButton, replace } from "./dom.js";
import { ask } from "./server.js";
import { at, session } from "./session.js";
import { count, plainName } from "./values.js";

const operators = /\b(AND|OR|NOT|IN|LIKE|BETWEEN|CONTAINS|BEGINSWITH|ENDSWITH|ANY|ALL|NONE)\b/i;

/** Makes the field for a condition over the entity that `entity()` names. */
export function createCondition(entity, { commit, example = "condition", name = "Condition" } = {}) {
  const problem = h("div", { class: "condition-problem", role: "alert", hidden: true });
  const state = h("span", { class: "soft small", role: "status" });
  problem.id = `condition-problem${Math.random().toString(36).slice(2, 8)}`;
  const input = h("input", {
    type: "text", class: "mono condition-input", spellcheck: "false", autocomplete: "off",
    autocapitalize: "off", placeholder: example, "aria-label": name, "aria-describedby": problem.id,
    oninput: () => check(),
    onkeydown: (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      apply();
    },
  });
  const clear = plainButton("×", () => {
    input.value = "";
    apply();
    input.focus();
  }, { "aria-label": "Without a condition", title: "Without a condition", hidden: true });
  let controller = null;

  const check = debounced(250, async () => {
    controller?.abort();
    clear.hidden = input.value === "";
    if (!input.value.trim()) {
      showProblem(null);
      replace(state);
      return;
    }
    controller = new AbortController();
    const { signal } = controller;
    try {
      const answer = await ask("plan", { entity: entity(), at: at(), where: input.value }, signal);
      if (signal.aborted) return;
      showProblem(null);
      const isShown = input.value === (current().query.where ?? "");
      replace(state, isShown ? null : `${count(answer.total)} match – Enter shows them`);
    } catch (error) {
      if (!signal.aborted) showProblem(error);
    }
  });

  function apply() {
    controller?.abort();
    replace(state);
    if (commit) commit(input.value.trim());
    else go(changed({ where: input.value.trim() || null }));
  }

  function showProblem(error) {
    problem.hidden = !error;
    input.setAttribute("aria-invalid", error ? "true" : "false");
    if (!error) return;
    replace(state);
    replace(problem, problemElements(error, input), wordSearch());
  }

  /** The way from a typed word to what contains it. */
  function wordSearch() {
    const text = input.value.trim();
    const { texts = [] } = session.overview?.entities.find(({ name }) => name === entity()) ?? {};
    if (texts.length === 0 || !/^[\p{L}\p{N}][^=<>!(){}"`]*$/u.test(text) || operators.test(text)) return null;
    return h("div", {}, plainButton(`Find “${text}” in ${texts.map((each) => plainName({ name: each })).join(", ")}`, () => {
      input.value = texts.map((each) => `${each} CONTAINS[cd] "${text}"`).join(" OR ");
      apply();
    }));
  }

  const element = h("div", { class: "condition" },
    h("div", { class: "condition-line" }, input, clear, state), problem);
  return {
    element, input, showProblem,
    set(text) {
      followAddress(input, text);
      clear.hidden = input.value === "";
      showProblem(null);
      replace(state);
    },
  };
}

/** What is wrong, below the column where it is if that can be seen. */
function problemElements({ column, message }, input) {
  const hasColumn = column !== undefined;
  const place = Math.min(column ?? 1, input.value.length + 1);
  return [
    hasColumn && place * 8 < input.clientWidth && h("span", {
      class: "mono caret", "aria-hidden": "true",
    }, `${" ".repeat(place - 1)}▲`),
    h("span", { class: "prose" },
      hasColumn && h("span", { class: "soft" }, `column ${column}: `),
      withoutPlace(message), hint(message)),
  ];
}

/** The message without the parameter and the column, which are told beside it. */
function withoutPlace(message) {
  return message.replace(/^where, column \d+: /, "");
}

/** What a text without quotes is read as does not say that quotes are missing. */
function hint(message) {
  return / has no meaning here/.test(message) ? h("span", { class: "soft" }, ". Texts stand in quotes: name == \"fog\"") : null;
}

/** The plan of an answer, and the command for an index that would help. */
export function planOf(answer) {
  if (!answer.plan?.length) return null;
  return h("details", { class: "plan small" }, h("summary", { class: "soft" }, "Plan"),
    h("ul", {}, answer.plan.map((each) => h("li", { class: "soft prose" }, each))),
    answer.planRemedy && h("p", { class: "mono" }, answer.planRemedy));
}
