// One transaction whole: who, when, why, its metadata and every change.

import { changed, link } from "./address.js";
import { appendChanges, headerLine } from "./change.js";
import { h, replace } from "./dom.js";
import { ask, Loader } from "./server.js";
import { count, counted, value } from "./values.js";

const pageLength = 100;

/** Makes the panel. */
export function createTransactionPanel(element, { answered }) {
  const loader = new Loader(element);

  function show(number) {
    loader.load(number, async (signal) => {
      const answer = await ask("transaction", { number, limit: pageLength, cut: 2000 }, signal);
      answered(answer);
      draw(answer);
      element.scrollTop = 0;
    }, { quietly: element.children.length > 0 });
  }

  function draw(answer) {
    const { header } = answer;
    const changes = h("div", { class: "all-changes" });
    replace(element,
      h("div", { class: "transaction-bar" },
        h("h2", {}, `Transaction ${count(header.number)}`),
        answer.previous !== undefined && h("a", { href: changed({ show: answer.previous }), "aria-label": "Transaction before" }, "‹ before"),
        answer.next !== undefined && h("a", { href: changed({ show: answer.next }), "aria-label": "Next transaction" }, "next ›"),
        h("a", { href: link("state", [], { at: header.number }) }, "state then"),
        h("a", { href: link("compare", [], { from: Math.max(0, header.number - 1), to: header.number }) }, "compare"),
        h("a", { href: changed({ show: null }), class: "close", "aria-label": "Close the transaction" }, "×")),
      headerLine(header, { withProcess: true }),
      answer.metadata?.length > 0 && h("dl", { class: "changes metadata" }, answer.metadata.map((each) => [
        h("dt", {}, each.key), h("dd", {}, value(each.value))])),
      answer.schemaLines?.length > 0 && h("pre", { class: "mono schema-lines" }, answer.schemaLines.join("\n")),
      answer.total > 1 && h("h3", { class: "soft" }, counted(answer.total, "change")), changes);
    const { number } = header;
    appendChanges(changes, answer, {
      number, openUpTo: 40,
      next: (offset) => ask("transaction", { number, limit: pageLength, cut: 2000, offset }),
    });
  }

  return {
    show,
    clear() {
      loader.stop();
      replace(element);
    },
    close: () => loader.stop(),
  };
}
