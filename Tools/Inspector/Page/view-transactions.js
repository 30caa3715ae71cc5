// The transactions up to the moment, newest first, narrowed by filters; beside them one of them whole.

import { changed, current, go } from "./address.js";
import { changeElement, headerLine } from "./change.js";
import { h, notice, replace } from "./dom.js";
import { createFilters, filterNames } from "./filters.js";
import { setCommand } from "./frame.js";
import { ask, failure, Loader } from "./server.js";
import { at, session } from "./session.js";
import { createTransactionPanel } from "./transaction-panel.js";
import { count, counted } from "./values.js";

const pageLength = 60;
const mostShown = 900;

export function create(element) {
  const filters = createFilters();
  const list = h("ol", { class: "transactions", "data-first": true });
  const foot = h("div", { class: "foot" });
  const newer = h("div", { class: "newer", role: "status", hidden: true });
  const left = h("section", { class: "column transaction-list", "aria-label": "Transactions" }, filters.element, list, foot);
  const right = h("section", { class: "column transaction-column", "aria-label": "One transaction", tabindex: "-1" });
  element.append(left, right);
  filters.element.append(newer);
  const loader = new Loader(list);
  const panel = createTransactionPanel(right, { answered: (answer) => setCommand(answer.command) });
  let key = null;
  let newest = 0;
  let older;
  let isReading = false;
  let listCommand = "";
  /** The list begins below this one, since a transaction was opened by its address. */
  let start;

  const watcher = new IntersectionObserver((entries) => {
    if (entries.some((each) => each.isIntersecting)) readMore();
  }, { root: left, rootMargin: "600px" });
  watcher.observe(foot);

  /** The filters of the address and the part of history that the slider shows. */
  function question() {
    const { query } = current();
    const asked = {};
    for (const name of filterNames) if (query[name]) asked[name] = query[name];
    if (query.before) asked.before = query.before;
    const zoom = /^(-?\d+)\.\.(-?\d+)$/.exec(query.zoom ?? "");
    if (zoom && query.axis === "number") {
      asked.after = Math.max(0, Number(zoom[1]) - 1);
      asked.before = Math.min(Number(asked.before ?? Infinity), Number(zoom[2]));
    } else if (zoom) {
      asked.since ??= new Date(Number(zoom[1]) / 1000).toISOString();
      asked.until ??= new Date(Number(zoom[2]) / 1000).toISOString();
    }
    const moment = momentNumber();
    if (moment !== undefined) asked.before = Math.min(Number(asked.before ?? Infinity), moment + 1);
    return asked;
  }

  /** The transaction of a moment in the past; nothing at head. */
  function momentNumber() {
    if (at() === undefined) return undefined;
    return /^\d+$/.test(at()) ? Number(at()) : session.moment?.number;
  }

  function show() {
    const { query } = current();
    filters.show();
    const asked = question();
    const newKey = JSON.stringify(asked);
    if (newKey !== key || (start !== undefined && !query.show)) {
      key = newKey;
      load(asked);
    } else if (session.head > newest && asked.before === undefined && start === undefined) prepend(asked);
    element.classList.toggle("with-transaction", Boolean(query.show));
    if (query.show) panel.show(Number(query.show));
    else {
      panel.clear();
      setCommand(listCommand);
    }
    mark();
  }

  function load(asked) {
    start = startAt(asked);
    loader.load(null, async (signal) => {
      const answer = await page({ ...asked, before: start ?? asked.before }, signal);
      replace(list, answer.transactions.map(item));
      left.scrollTop = 0;
      older = answer.older;
      newest = session.head;
      listCommand = answer.command;
      if (!current().query.show) setCommand(answer.command);
      showFoot();
      mark();
      showNewer(signal).catch(() => {});
    }, { quietly: list.children.length > 0 });
  }

  /** Where the list begins if the transaction that is shown lies far below its top; nothing if at the top. */
  function startAt({ before = session.head + 1 }) {
    const shown = Number(current().query.show);
    return shown > 0 && before - shown > pageLength ? shown + 20 : undefined;
  }

  /** One page; a search that stops early goes on until there is something to show. */
  async function page(asked, signal) {
    const found = [];
    let { before } = asked;
    for (;;) {
      const answer = await ask("transactions", { ...asked, before, limit: pageLength }, signal);
      found.push(...answer.transactions);
      if (!answer.isPartial || answer.older === undefined || found.length >= pageLength) {
        return { ...answer, transactions: found };
      }
      replace(foot, h("p", { class: "soft" }, `Searched back to ${count(answer.older)}…`));
      before = answer.older;
    }
  }

  async function readMore() {
    if (isReading || older === undefined || list.children.length >= mostShown) return;
    isReading = true;
    const forKey = key;
    try {
      const answer = await page({ ...question(), before: older });
      if (forKey !== key) return;
      list.append(...answer.transactions.map(item));
      older = answer.older;
      showFoot();
      mark();
    } catch (error) {
      replace(foot, failure(error, readMore));
    } finally {
      isReading = false;
    }
    const rest = foot.getBoundingClientRect().top - left.getBoundingClientRect().bottom;
    if (rest < 600) readMore();
  }

  /** What was written since appears above, without moving what is read. */
  async function prepend(asked) {
    const after = newest;
    newest = session.head;
    const answer = await ask("transactions", { ...asked, after, limit: 200 });
    const height = left.scrollHeight;
    list.prepend(...answer.transactions.map(item));
    if (left.scrollTop > 0) left.scrollTop += left.scrollHeight - height;
  }

  /** How many later than the moment are left out, and the way to them. */
  async function showNewer(signal) {
    const moment = momentNumber();
    newer.hidden = start === undefined;
    if (start !== undefined) {
      return replace(newer, h("p", {}, `The list begins at ${count(start - 1)}. `, h("button", {
        type: "button", onclick: () => go(changed({ show: null, before: null })),
      }, "From its top")));
    }
    if (moment === undefined || moment >= session.head) return;
    const { before, ...asked } = question();
    const isNarrowed = isFiltered();
    const answer = isNarrowed ? await ask("transactions", { ...asked, after: moment, limit: 500 }, signal) : null;
    if (signal.aborted) return;
    const all = answer ? answer.transactions.length : session.head - moment;
    const isLeast = answer && (answer.isPartial || answer.transactions.length === 500);
    if (all === 0 && !isLeast) return;
    newer.hidden = false;
    const what = `${counted(all, "newer transaction")}${isNarrowed ? ` that match${all === 1 ? "es" : ""}` : ""}`;
    replace(newer, h("p", { class: "warn" }, isLeast && "At least ", what, all === 1 ? " is" : " are",
      ` not shown: the moment is transaction ${count(moment)}. `,
    h("button", { type: "button", onclick: () => go(changed({ at: null })) }, "Newest")));
  }

  function isFiltered() {
    const { query } = current();
    return Boolean(query.zoom) || filterNames.some((name) => query[name]);
  }

  function showFoot() {
    if (list.children.length === 0) {
      replace(foot, notice("", "No transaction", "None up to this moment meets the filters."));
    } else if (older === undefined) {
      replace(foot, h("p", { class: "soft" }, isFiltered() ? "No more match." : "The history begins here."));
    }
    else if (list.children.length >= mostShown) {
      replace(foot, h("a", { href: changed({ before: older }) }, `Older than ${count(older)}`));
    } else replace(foot, h("p", { class: "soft" }, "…"));
  }

  function item(entry) {
    const { header, changes } = entry;
    const more = (entry.matching ?? header.changes) - changes.length;
    return h("li", {
      "data-number": header.number, class: "transaction",
      onclick: (event) => {
        if (!event.target.closest("a, button, details")) go(changed({ show: header.number }));
      },
    }, headerLine(header),
    changes.map((each) => changeElement(onlyAsked(each), header.number, { open: each.kind === "update" })),
    more > 0 && h("p", { class: "soft small more" }, h("a", { href: changed({ show: header.number }) }, `${count(more)} more`)));
  }

  /** A change with the property that is asked for alone. */
  function onlyAsked(change) {
    const { property } = current().query;
    if (!property) return change;
    const properties = change.properties.filter((each) => each.property === property);
    return { ...change, properties, more: (change.more ?? 0) + change.properties.length - properties.length };
  }

  function mark() {
    const { show: shown } = current().query;
    for (const each of list.children) {
      const isShown = each.dataset.number === shown;
      if (isShown && !each.classList.contains("present")) each.scrollIntoView({ block: "nearest" });
      each.classList.toggle("present", isShown);
    }
  }

  function move(distance) {
    const items = [...list.children];
    const place = items.findIndex((each) => each.dataset.number === current().query.show);
    const next = items[Math.min(items.length - 1, Math.max(0, place + distance))];
    if (!next) return;
    next.scrollIntoView({ block: "nearest" });
    go(changed({ show: next.dataset.number }), { replacing: place >= 0 });
  }

  return {
    show,
    keys: {
      "j": ["Next in the list", () => move(1)],
      "k": ["One before in the list", () => move(-1)],
      "/": ["To the filters", () => filters.focus()],
      "u": ["Close the transaction", () => go(changed({ show: null }))],
      "a": ["State as of this transaction", () => {
        const { show: shown } = current().query;
        if (shown) go(changed({ at: shown }));
      }],
    },
    close() {
      watcher.disconnect();
      loader.stop();
      panel.close();
    },
  };
}

