// The transactions up to the moment, narrowed by filters; beside them one of them whole.

import { changed, current, go } from "./address.js";
import { h } from "./dom.js";
import { createFilters } from "./filters.js";
import { setCommand } from "./frame.js";
import { createTally } from "./tally.js";
import { TransactionList } from "./transaction-list.js";
import { createTransactionPanel } from "./transaction-panel.js";

export function create(element) {
  const filters = createFilters();
  const newer = h("div", { class: "newer", role: "status", hidden: true });
  const tally = createTally();
  filters.element.append(tally.element, newer);
  const left = h("section", {
    class: "column transaction-list", "aria-label": "Transactions",
  }, filters.element);
  const right = h("section", {
    class: "column transaction-column", "aria-label": "One transaction", tabindex: "-1",
  });
  element.append(left, right);
  let listCommand = "";
  const panel = createTransactionPanel(right, { answered: (answer) => setCommand(answer.command) });
  const list = new TransactionList(left, {
    newer,
    answered: (answer) => {
      listCommand = answer.command;
      if (!current().query.show) setCommand(listCommand);
    },
  });

  function show() {
    const { show: shown } = current().query;
    filters.show();
    element.classList.toggle("with-transaction", Boolean(shown));
    if (shown) panel.show(Number(shown));
    else {
      panel.clear();
      setCommand(listCommand);
    }
    list.show();
    tally.show();
  }

  return {
    show,
    keys: {
      "j": ["Next in the list", () => list.move(1)],
      "k": ["One before in the list", () => list.move(-1)],
      "/": ["To the filters", () => filters.focus()],
      "u": ["Close the transaction", () => go(changed({ show: null }))],
      "a": ["State as of this transaction", () => {
        const { show: shown } = current().query;
        if (shown) go(changed({ at: shown }));
      }],
    },
    close() {
      list.close();
      tally.close();
      panel.close();
    },
  };
}
