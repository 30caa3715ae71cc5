// The list of transactions, newest first: pages are read as they come into view.

import { changed, current, go } from "./address.js";
import { changeElement, headerLine, onlyProperty } from "./change.js";
import { h, markIn, notice, observeEnd, replace } from "./dom.js";
import { isFiltered, transactionQuery } from "./filters.js";
import { showNewer } from "./newer-transactions.js";
import { ask, failure, Loader } from "./server.js";
import { session } from "./session.js";
import { count } from "./values.js";

const pageLength = 60;
const mostShown = 900;
/** The next page is read when the end is this near, in pixels. */
const reach = 600;

/** The transactions that the address asks for, in a scrolling element. */
export class TransactionList {
  #scroller;
  #newer;
  #answered;
  #list = h("ol", { class: "transactions", "data-first": true });
  #foot = h("div", { class: "foot" });
  #loader = new Loader(this.#list);
  #stop;
  #key = null;
  #newest = 0;
  #older;
  #isReading = false;
  /** The list begins below this one, since a transaction was opened by its address. */
  #start;

  /** `newer` is the element for what is left out above; `answered` is called with first pages. */
  constructor(scroller, { newer, answered }) {
    this.#scroller = scroller;
    this.#newer = newer;
    this.#answered = answered;
    scroller.append(this.#list, this.#foot);
    this.#stop = observeEnd(scroller, this.#foot, reach, () => this.#readMore());
  }

  /** Shows what the address says: reads only if that differs, or if there is something new. */
  show() {
    const asked = transactionQuery();
    const key = JSON.stringify(asked);
    const isWhole = this.#start === undefined;
    if (key !== this.#key || (!isWhole && !current().query.show)) {
      this.#key = key;
      this.#load(asked);
    } else if (session.head > this.#newest && asked.before === undefined && isWhole) {
      this.#prepend(asked);
    }
    this.#mark();
  }

  move(distance) {
    const items = [...this.#list.children];
    const place = items.findIndex((each) => each.dataset.number === current().query.show);
    const next = items[Math.min(items.length - 1, Math.max(0, place + distance))];
    if (!next) return;
    next.scrollIntoView({ block: "nearest" });
    go(changed({ show: next.dataset.number }), { replacing: place >= 0 });
  }

  close() {
    this.#stop();
    this.#loader.stop();
  }

  #load(asked) {
    this.#start = startOf(asked);
    this.#loader.load(null, async (signal) => {
      const answer = await this.#page({ ...asked, before: this.#start ?? asked.before }, signal);
      replace(this.#list, answer.transactions.map(item));
      this.#scroller.scrollTop = 0;
      this.#newest = session.head;
      this.#answered(answer);
      this.#pageShown(answer);
      showNewer(this.#newer, this.#start, signal).catch(() => {});
    }, { quietly: this.#list.children.length > 0 });
  }

  /** One page; a search that stops early goes on until there is something to show. */
  async #page(asked, signal) {
    const found = [];
    let { before } = asked;
    for (;;) {
      const answer = await ask("transactions", { ...asked, before, limit: pageLength }, signal);
      found.push(...answer.transactions);
      if (!answer.isPartial || answer.older === undefined || found.length >= pageLength) {
        return { ...answer, transactions: found };
      }
      replace(this.#foot, h("p", { class: "soft" }, `Searched back to ${count(answer.older)}…`));
      before = answer.older;
    }
  }

  #pageShown({ older }) {
    this.#older = older;
    this.#showFoot();
    this.#mark();
  }

  #isFull() {
    return this.#list.children.length >= mostShown;
  }

  async #readMore() {
    if (this.#isReading || this.#older === undefined || this.#isFull()) return;
    this.#isReading = true;
    const key = this.#key;
    try {
      const answer = await this.#page({ ...transactionQuery(), before: this.#older });
      if (key !== this.#key) return;
      this.#list.append(...answer.transactions.map(item));
      this.#pageShown(answer);
    } catch (error) {
      replace(this.#foot, failure(error, () => this.#readMore()));
    } finally {
      this.#isReading = false;
    }
    const end = this.#scroller.getBoundingClientRect().bottom;
    if (this.#foot.getBoundingClientRect().top - end < reach) this.#readMore();
  }

  /** What was written since appears above, without moving what is read. */
  async #prepend(asked) {
    const after = this.#newest;
    this.#newest = session.head;
    const answer = await ask("transactions", { ...asked, after, limit: 200 });
    const scroller = this.#scroller;
    const height = scroller.scrollHeight;
    this.#list.prepend(...answer.transactions.map(item));
    if (scroller.scrollTop > 0) scroller.scrollTop += scroller.scrollHeight - height;
  }

  #showFoot() {
    const older = this.#older;
    replace(this.#foot, this.#list.children.length === 0
      ? notice("", "No transaction", "None up to this moment meets the filters.")
      : older === undefined
        ? h("p", { class: "soft" }, isFiltered() ? "No more match." : "The history begins here.")
        : this.#isFull()
          ? h("a", { href: changed({ before: older }) }, `Older than ${count(older)}`)
          : h("p", { class: "soft" }, "…"));
  }

  #mark() {
    const { show: shown } = current().query;
    markIn(this.#list.children, "present", (each) => each.dataset.number === shown);
  }
}

/** Where the list begins if the transaction that is shown lies far below its top. */
function startOf({ before = session.head + 1 }) {
  const shown = Number(current().query.show);
  return shown > 0 && before - shown > pageLength ? shown + 20 : undefined;
}

function item({ header, changes, matching = header.changes }) {
  const { property } = current().query;
  const more = matching - changes.length;
  const address = changed({ show: header.number });
  return h("li", {
    "data-number": header.number, class: "transaction",
    onclick: (event) => {
      if (!event.target.closest("a, button, details")) go(changed({ show: header.number }));
    },
  }, headerLine(header), changes.map((each) => {
    const asked = onlyProperty(each, property);
    const left = (each.more ?? 0) + each.properties.length - asked.properties.length;
    return changeElement({ ...asked, more: left }, header.number, { open: each.kind === "update" });
  }), more > 0 && h("p", { class: "soft small more" },
    h("a", { href: address }, `${count(more)} more`)));
}
