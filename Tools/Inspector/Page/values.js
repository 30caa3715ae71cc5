// Values, references, authors and dates of a store, as elements.

import { h, setStyle } from "./dom.js";
import { link } from "./address.js";
import { askText, valueAddress } from "./server.js";
import { hue, session } from "./session.js";

const numberFormat = new Intl.NumberFormat("en");

/** A count with separators of thousands. */
export function count(value) {
  return numberFormat.format(value);
}

/** "1 object", "3 objects". */
export function counted(value, noun, plural = `${noun}s`) {
  return `${count(value)} ${value === 1 ? noun : plural}`;
}

/** A number of bytes, as the command prints them. */
export function bytes(value) {
  if (value < 1000) return `${value} bytes`;
  const units = ["kB", "MB", "GB", "TB"];
  let place = -1;
  let rest = value;
  do {
    rest /= 1000;
    place += 1;
  } while (rest >= 999.95 && place < units.length - 1);
  return `${rest.toFixed(1)} ${units[place]}`;
}

/** A time of RFC 3339 in the zone of the command: date, or date and minutes. */
export function day(timestamp) {
  return local(timestamp).slice(0, 10);
}

export function minutes(timestamp) {
  return local(timestamp).slice(0, 16).replace("T", " ");
}

function local(timestamp) {
  const time = Date.parse(timestamp);
  if (Number.isNaN(time)) return timestamp ?? "";
  const shifted = new Date(time + session.zoneOffset * 1000);
  return Number.isNaN(shifted.getTime()) ? timestamp : shifted.toISOString();
}

/** An author with the author's colour. */
export function who(author, { short = false } = {}) {
  const name = author ?? "no author";
  return h("span", { class: `who hue-${hue(author)}`, title: name },
    h("span", { class: "swatch", "aria-hidden": "true" }),
    h("span", { class: short ? "unseen" : author ? null : "soft" }, name));
}

/** A transaction's number, as a link to it. */
export function transactionLink(number) {
  return h("a", { href: link("transactions", [], { show: number }), class: "nowrap" }, count(number));
}

/** A reference, as a link to its object. */
export function reference(object, { label = true } = {}) {
  const text = label && object.label ? object.label : object.name ?? object.id;
  return h("a", {
    href: link("state", [object.id]),
    title: `${object.name ?? object.id}${object.exists === false ? ` (${object.id}), not there at this moment` : ""}`,
    class: object.exists === false ? "gone" : null,
  }, text, object.exists === false && text !== object.id && h("span", { class: "soft small" }, ` ${rowOf(object)}`));
}

/** "#7": what tells an object that is gone from another with its key. */
function rowOf({ id }) {
  return id.slice(id.lastIndexOf("#"));
}

/** How an empty text is shown, so that it differs from nil. */
const emptyText = "\"\"";
const isEmpty = (cell) => (cell.kind === "string" || cell.kind === "url") && cell.text === "" && !cell.isCut;

/** The text of a value on one line, for tables and titles. */
export function line(cell) {
  if (!cell || cell.kind === "null") return "";
  if (cell.kind === "object") return cell.object?.label ?? cell.text;
  if (cell.kind === "objects") return cell.count === 0 ? "empty" : counted(cell.count, "object");
  if (cell.kind === "data") return cell.length === undefined ? "data" : bytes(cell.length);
  if (cell.kind === "erased") return "erased";
  if (cell.kind === "date") return minutes(cell.text);
  if (isEmpty(cell)) return emptyText;
  return cell.text.replace(/\s+/g, " ");
}

/** The name of a column without the quotes that conditions need. */
export function plainName({ name }) {
  return name.replace(/`/g, "");
}

export const numeric = new Set(["int", "int64", "double", "decimal"]);

/** A value in a row of a table: one line, references as links. */
export function shortValue(cell) {
  if (!cell || cell.kind === "null") return h("span", { class: "soft", "aria-label": "nil" }, "");
  if (cell.kind === "object") return reference(cell.object);
  if (cell.kind === "objects" && cell.count === 1) return reference(cell.objects[0]);
  const isSoft = cell.kind === "data" || cell.kind === "erased" || cell.kind === "objects" || isEmpty(cell);
  return h("span", { class: isSoft ? "soft" : null }, line(cell), cell.isCut && cell.text ? "…" : null);
}

/** A value with room: whole texts wrap, what was cut can be asked for. */
export function value(cell, where) {
  if (!cell || cell.kind === "null") return h("span", { class: "value none" }, "nil");
  switch (cell.kind) {
    case "object":
      return h("span", { class: "value" }, reference(cell.object));
    case "objects":
      return list(cell);
    case "erased":
      return h("span", { class: "value none" }, "erased");
    case "data":
      return h("span", { class: "value" }, h("span", { class: "soft" }, `${line(cell)} of data `),
        where && h("a", { href: valueAddress(where), download: "" }, "Download"));
    case "json":
      return cell.isCut ? cutText(cell, where) : h("span", { class: "value text mono" }, indented(cell.text));
    case "url":
    case "string":
      if (isEmpty(cell)) return h("span", { class: "value none", title: "an empty text" }, emptyText);
      return cell.isCut ? cutText(cell, where) : h("span", { class: textClass(cell.text) }, cell.text);
    case "date":
      return h("span", { class: "value", title: cell.text }, minutes(cell.text));
    default:
      return h("span", { class: "value" }, cell.text);
  }
}

function list(cell) {
  const more = cell.count - cell.objects.length;
  return h("span", { class: "value" },
    cell.objects.map((object, place) => [place ? ", " : null, reference(object)]),
    cell.count === 0 ? h("span", { class: "soft" }, "empty") : null,
    more > 0 ? h("span", { class: "soft" }, `, and ${count(more)} more`) : null);
}

/** A text in which many lines are indented, or have columns, is shown as it was laid out. */
export function textClass(text) {
  const lines = text.slice(0, 20_000).split("\n").filter((each) => each.trim());
  const laidOut = lines.filter((each) => /^( {2}|\t)|\S( {3,}|\t)\S/.test(each));
  return lines.length > 2 && laidOut.length * 5 >= lines.length ? "value text mono" : "value text";
}

/** JSON with a member a line; as it is if it cannot be read. */
export function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 1);
  } catch {
    return text;
  }
}

function cutText(cell, where) {
  const body = h("span", { class: textClass(cell.text) }, cell.text, h("span", { class: "soft" }, "… "));
  if (!where) return body;
  const button = h("button", {
    type: "button", class: "plain small",
    async onclick() {
      button.disabled = true;
      try {
        const text = await askText(where);
        const whole = h("span", { class: `${textClass(text)} whole`, tabindex: "0" }, text);
        setStyle(whole, { "max-height": "60vh" });
        body.replaceWith(whole);
        whole.focus();
      } catch (error) {
        button.textContent = error.message;
      }
    },
  }, `Show all ${cell.length === undefined ? "" : bytes(cell.length)}`);
  body.append(button);
  return body;
}
