// What a verification of the file finds, and the way to salvage.

import { h, replace } from "./dom.js";
import { openingFailure } from "./frame.js";
import { askUntilWhole, Loader } from "./server.js";
import { foundDamage, session } from "./session.js";
import { count, counted } from "./values.js";

/** Errors are shown by the live mark, too. */
function noteDamage(answer) {
  const error = answer.findings.find((each) => each.severity === "error");
  if (error && session.overview) foundDamage({ message: error.message, remedy: error.remedy });
}

const stages = { bytes: "checking bytes", history: "replaying the history", done: "" };

/** Makes the list of findings; each leads to its place in the file. */
export function createFindings(element, { addressOf }) {
  const loader = new Loader(element);
  return {
    show() {
      loader.load(`${session.size} ${session.head}`, (signal) => askUntilWhole("findings", {}, signal, draw),
        { quietly: element.children.length > 0 });
    },
    close: () => loader.stop(),
  };

  function draw(answer) {
    noteDamage(answer);
    const isDone = (answer.progress ?? 1) >= 1;
    // What is no store cannot be salvaged, whatever is wrong with its slots.
    const failed = openingFailure();
    const isForeign = failed?.code === "notAnAnnalsFile" && !failed.remedy;
    const remedies = isForeign ? []
      : [...new Set(answer.findings.map((each) => each.remedy).filter(Boolean))];
    const total = (answer.errors ?? 0) + (answer.warnings ?? 0);
    const text = total > 0
      ? [answer.errors > 0 && counted(answer.errors, "error"), answer.warnings > 0 && counted(answer.warnings, "warning")]
        .filter(Boolean).join(", ")
      : isDone ? "Nothing is wrong: every byte and the whole history were checked" : "Nothing wrong so far";
    const opening = session.overview ? null : openingFailure();
    replace(element,
      opening && h("p", { class: "bad opening" }, opening.message),
      h("p", { class: answer.errors > 0 ? "bad" : total > 0 ? "warn" : "soft", role: "status" }, text,
        answer.findings.length > total && `; ${counted(answer.findings.length - total + (answer.more ?? 0), "note")}`,
        !isDone && h("span", { class: "soft" }, ` – ${stages[answer.stage] ?? answer.stage}, ${Math.floor((answer.progress ?? 0) * 100)} %`)),
      answer.findings.length > 0 && h("ul", { class: "finding-list", tabindex: "0", "aria-label": "Findings" },
        answer.findings.map((each) => h("li", { class: each.severity },
          each.offset === undefined ? h("span", { class: "soft" }, each.subject)
            : h("a", { href: addressOf(each.offset) }, count(each.offset)),
          h("span", { class: "prose" }, each.message))),
        answer.more > 0 && h("li", { class: "soft" }, `and ${count(answer.more)} more`)),
      remedies.length > 0 && h("p", { class: "remedy prose" }, "What helps: ", remedies.map((each) =>
        h("code", { class: "mono" }, each))));
  }
}
