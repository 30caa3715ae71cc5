// What the filters select, counted: transactions and changes, by author and by entity.

import { changed } from "./address.js";
import { tally as signs } from "./change.js";
import { h, replace } from "./dom.js";
import { isFiltered, transactionQuery } from "./filters.js";
import { ask } from "./server.js";
import { momentKey } from "./session.js";
import { count, counted, who } from "./values.js";

/** An element that counts what the address selects, and shows by whom and of what when it is opened. */
export function createTally() {
  const element = h("details", { class: "tally-of-filter", hidden: true });
  let shown = null;
  let question = new AbortController();

  async function show() {
    const asked = transactionQuery({ isWhole: true });
    const key = isFiltered() ? JSON.stringify([asked, momentKey()]) : null;
    if (key === shown) return;
    shown = key;
    question.abort();
    element.hidden = key === null;
    if (key === null) return;
    question = new AbortController();
    const { signal } = question;
    try {
      const answer = await ask("tally", asked, signal);
      if (!signal.aborted) replace(element, summary(answer), tables(answer));
    } catch {
      // The list below says what is wrong.
      if (!signal.aborted) element.hidden = true;
    }
  }

  return { element, show, close: () => question.abort() };
}

function summary({ transactions, changes, reached }) {
  return h("summary", {}, reached !== undefined && "At least ",
    `${counted(transactions, "transaction")}, ${counted(changes, "change")} that match`,
    reached !== undefined && `, down to transaction ${count(reached)}`);
}

function tables({ authors, authorCount, entities, entityCount }) {
  const rest = (all, shown) => all > shown.length && h("p", { class: "soft small" }, `and ${count(all - shown.length)} more`);
  return h("div", { class: "tally-tables" },
    h("div", {}, h("table", { class: "list" },
      head("author", "transactions", "changes"),
      h("tbody", {}, authors.map((each) => h("tr", {}, h("td", {}, narrowed({ author: each.author }, who(each.author))),
        cell(count(each.transactions)), cell(count(each.changes)))))), rest(authorCount, authors)),
    h("div", {}, h("table", { class: "list" },
      head("entity", "changes"),
      h("tbody", {}, entities.map((each) => h("tr", {}, h("td", {}, narrowed({ entity: each.entity }, each.entity)),
        cell(signs(each)))))), rest(entityCount, entities)));
}

function head(first, ...others) {
  return h("thead", {}, h("tr", {}, h("th", {}, first), others.map((each) => h("th", { class: "number" }, each))));
}

function cell(content) {
  return h("td", { class: "number" }, content);
}

/** A link that narrows the filters to one author or entity; not for those without a name. */
function narrowed(filter, content) {
  if (Object.values(filter).includes(undefined) || Object.values(filter).includes(null)) return content;
  return h("a", { href: changed({ ...filter, before: null, show: null }) }, content);
}
