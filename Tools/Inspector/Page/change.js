// Changes and headers of transactions as elements: for lists, one transaction, lives and differences.

import { button, h } from "./dom.js";
import { difference } from "./textdiff.js";
import { count, counted, line, minutes, reference, transactionLink, value, who } from "./values.js";

const signs = {
  insert: ["+", "inserted"],
  update: ["~", "updated"],
  delete: ["−", "deleted"],
  replace: ["±", "deleted, and another inserted under the same key"],
};
const isChanging = ({ kind }) => kind === "update" || kind === "replace";

/** The sign of a kind of change, with its word for screen readers. */
export function sign(kind) {
  const [text, word] = signs[kind] ?? ["·", kind];
  return h("span", { class: `sign ${kind}`, title: word },
    h("span", { "aria-hidden": "true" }, text), h("span", { class: "unseen" }, `${word} `));
}

/** Who, when, context and message of a transaction. */
export function headerLine(header, { withMessage = true, withProcess = false, isBase = false } = {}) {
  const extra = [header.context, withProcess && header.process && `${header.process}${header.pid ? `[${header.pid}]` : ""}`].filter(Boolean);
  return h("div", { class: "transaction-head" },
    h("div", { class: "head-line" }, isBase ? h("span", {}, count(header.number)) : transactionLink(header.number),
      h("span", { class: "nowrap", title: header.timestamp }, header.timestamp ? minutes(header.timestamp) : ""),
      isBase ? null : who(header.author), extra.length > 0 && h("span", { class: "soft cut" }, extra.join(" · "))),
    withMessage && header.message && h("p", { class: "message" }, flowing(header.message)),
    remarks(header));
}

/** A message without empty lines, and without the breaks of lines that were filled by hand. */
function flowing(message) {
  return message.replace(/([^\n]{50})\n(?![\s*•-]|\d+[.)] )/g, "$1 ").replace(/\n\s*\n/g, "\n");
}

/** What is special about a transaction: undo, loss, erasure, schema. */
function remarks(header) {
  const numbers = (list) => [...new Set([list].flat())].map((each, place) => [place ? ", " : "", transactionLink(each)]);
  const all = [
    header.undoes && (!Array.isArray(header.undoes) || header.undoes.length > 0) && ["undoes ", numbers(header.undoes)],
    header.redoes && ["redoes ", numbers(header.redoes)],
    header.group && [`group ${header.group}`],
    header.migrations?.length > 0 && [`migration ${header.migrations.join(", ")}`],
    header.schema?.length > 0 && [`schema of ${header.schema.join(", ")}`],
    header.lost && [`lost: ${header.lost}${header.lostReason ? ` (${header.lostReason})` : ""}`],
    header.erased?.length > 0 && [`erased ${header.erased.slice(0, 5).join(", ")}${header.erased.length > 5 ? "…" : ""}`],
  ].filter(Boolean);
  return all.length > 0 && h("p", { class: "soft small" }, all.map((each, place) => [place ? " · " : "", each]));
}

/**
 * One change. `number` is its transaction, so that cut values can be asked for whole. One that is not open shows its
 * properties on one line, which opens.
 */
export function changeElement(change, number, { withObject = true, open = true } = {}) {
  const list = h("dl", { class: "changes" }, change.properties.map((each) => [
    h("dt", {}, each.property),
    h("dd", {}, propertyChange(change, each, number)),
  ]));
  const same = change.kind === "replace" && change.properties.length === 0
    && h("p", { class: "soft small" }, "Deleted and inserted anew, with the same values");
  const more = change.more > 0 && h("p", { class: "soft small" }, `${count(change.more)} more properties`);
  if (!withObject) return h("div", { class: "change" }, list, same, more);
  const title = h("div", { class: "change-title" }, sign(change.kind), reference(objectOf(change)),
    objectOf(change).label && h("span", { class: "soft cut" }, change.object.name));
  if (open) return h("div", { class: "change" }, title, list, same, more);
  return h("div", { class: "change" }, title, h("details", { class: "closed-change" }, summary(change), list), more);
}

function objectOf(change) {
  return { ...change.object, label: change.label ?? change.object.label, exists: true };
}

/** A change in few words: the properties on one line. */
function summary(change) {
  const text = change.properties.slice(0, 8).map((each) =>
    (isChanging(change) ? each.property : `${each.property} ${line(each.after ?? each.before)}`)).join(" · ");
  return h("summary", { class: "soft cut small" }, text);
}

function propertyChange(change, each, number) {
  const where = (side) => number && {
    transaction: number, object: change.object.id, property: each.property, side,
  };
  if (each.edits) return edits(each.edits);
  if (change.kind === "insert") return value(each.after, where("after"));
  if (change.kind === "delete") return h("span", { class: "gone-value" }, value(each.before, where("before")));
  return difference(each.before, each.after, where, each);
}

function edits(list) {
  const items = (all, kind, word) => (all ?? []).map((each) => h("span", { class: "edit" },
    h(kind === "was" ? "del" : kind === "now" ? "ins" : "span", { class: kind }, reference(each.object)),
    h("span", { class: "soft small" }, ` ${word(each)}`)));
  return h("span", { class: "value edits" },
    items(list.removed, "was", (each) => `from ${each.position + 1}`),
    items(list.inserted, "now", (each) => `at ${each.position + 1}`),
    items(list.moved, "moved", (each) => `${each.from + 1} → ${each.to + 1}`),
    list.more > 0 && h("span", { class: "soft" }, `${count(list.more)} more`));
}

/** "3 inserts, 5 updates, 1 delete, 2 replaces" with the signs' colours. */
export function tally(entry) {
  return Object.entries(signs).map(([kind, [text]]) => [kind, text, entry[`${kind}s`]])
    .filter(([, , number]) => number > 0)
    .map(([kind, text, number]) => h("span", { class: `tally sign ${kind}`, title: counted(number, kind) },
      `${text}${count(number)}`));
}

/** A change with the named property alone; with all of them if none is named. */
export function onlyProperty(change, name) {
  if (!name) return change;
  const properties = change.properties.filter((each) => each.property === name);
  return { ...change, properties, more: 0 };
}

/**
 * Appends a page of changes, and a button for the next page, which `next(offset)` reads. Inserts
 * and deletes are open if there are at most `openUpTo` changes in all.
 */
export function appendChanges(place, answer, { number = null, openUpTo, next }) {
  place.append(...answer.changes.map((each) =>
    changeElement(each, number, { open: isChanging(each) || answer.total <= openUpTo })));
  const read = answer.offset + answer.changes.length;
  if (read >= answer.total || answer.changes.length === 0) return;
  const more = button(`${count(answer.total - read)} more`, async () => {
    more.disabled = true;
    const page = await next(read);
    more.remove();
    appendChanges(place, page, { number, openUpTo, next });
  });
  place.append(more);
}
