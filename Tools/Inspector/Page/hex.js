// The bytes of one region: as hexadecimal digits, as text and as fields, tied to each other.

import { h, replace } from "./dom.js";
import { count } from "./values.js";

const rowLength = 16;

/** Makes the three columns of a bytes document. */
export function createHex(answer) {
  const data = Uint8Array.from(atob(answer.bytes), (letter) => letter.charCodeAt(0));
  const start = answer.offset + answer.skip;
  const cells = [];
  const hex = h("ol", { class: "hex mono", "aria-label": "Bytes" }, byteRows(data, start, cells));
  const rows = answer.fields.map((field, index) => fieldRow(field, index));
  const list = h("ul", { class: "fields", role: "listbox", "aria-label": "Fields" },
    rows.length > 0 ? rows
      : h("li", { class: "soft" }, "Nothing in these bytes can be explained."));
  const said = h("div", { class: "hex-said small", role: "status" },
    h("span", { class: "soft" }, "Point at a byte or a field"));
  tie({ hex, list, said, fields: answer.fields, rows, cells, start });
  return h("div", { class: "hex-place" }, h("div", {}, said, hex), h("div", {}, list,
    answer.moreFields > 0
      && h("p", { class: "soft" }, `${count(answer.moreFields)} more fields in other bytes`)));
}

/** Lights a field and its bytes when the pointer or the focus is at one of them. */
function tie({ hex, list, said, fields, rows, cells, start }) {
  let lit = [];

  function light(index) {
    for (const each of lit) each.classList.remove("lit");
    lit = [];
    const field = fields[index];
    if (!field) return;
    const first = field.offset - start;
    const end = Math.max(0, first + field.length);
    lit = [...cells.slice(Math.max(0, first), end).flat(), rows[index]];
    for (const each of lit) each.classList.add("lit");
    replace(said, h("strong", {}, field.name), " ", h("span", { class: "soft" },
      `${count(field.offset)}, ${count(field.length)} bytes `), field.value);
  }

  const fieldOf = ({ target: { dataset: { place } } }) =>
    (place === undefined ? undefined : innermostField(fields, start + Number(place)));
  const lightRow = ({ target }) => {
    const row = target.closest("[data-field]");
    if (row) light(Number(row.dataset.field));
  };
  hex.addEventListener("pointerover", (event) => {
    const index = fieldOf(event);
    if (index !== undefined) light(index);
  });
  hex.addEventListener("click", (event) => {
    const row = rows[fieldOf(event)];
    row?.focus({ preventScroll: true });
    row?.scrollIntoView({ block: "nearest" });
  });
  list.addEventListener("pointerover", lightRow);
  list.addEventListener("focusin", lightRow);
  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const index = Number(event.target.dataset.field);
    if (!step || Number.isNaN(index)) return;
    event.preventDefault();
    rows[index + step]?.focus();
  });
}

/** The index of the innermost field of a byte; -1 if there is none. */
function innermostField(fields, offset) {
  let best = -1;
  fields.forEach((field, index) => {
    if (field.offset > offset || offset >= field.offset + field.length) return;
    const other = fields[best];
    const isDeeper = !other || field.depth > other.depth
      || (field.depth === other.depth && field.length < other.length);
    if (isDeeper) best = index;
  });
  return best;
}

/** The rows of the bytes; those that repeat the one before are counted. */
function byteRows(data, start, cells) {
  const rows = [];
  for (let place = 0; place < data.length; place += rowLength) {
    rows.push(makeRow(data, place, start, cells));
    const same = repeatedRows(data, place);
    if (same <= 2) continue;
    rows.push(h("li", { class: "repeated soft" }, `the same, ${count(same)} rows`));
    place += same * rowLength;
  }
  return rows;
}

/** How many rows after this one hold the same bytes. */
function repeatedRows(data, place) {
  let same = 0;
  for (let other = place + rowLength; other + rowLength <= data.length; other += rowLength) {
    for (let index = 0; index < rowLength; index += 1) {
      if (data[other + index] !== data[place + index]) return same;
    }
    same += 1;
  }
  return same;
}

function makeRow(data, place, start, cells) {
  const digits = [];
  const letters = [];
  for (let index = place; index < Math.min(place + rowLength, data.length); index += 1) {
    const byte = data[index];
    const kind = byte === 0 ? "zero" : null;
    const digit = h("span", { class: kind, "data-place": index }, byte.toString(16).padStart(2, "0"));
    const isShown = byte > 32 && byte < 127;
    const letter = h("span", { class: isShown ? null : "zero", "data-place": index }, isShown ? String.fromCharCode(byte) : "·");
    digits.push(digit);
    letters.push(letter);
    cells[index] = [digit, letter];
  }
  return h("li", {}, h("span", { class: "offset soft" }, String(start + place)),
    h("span", { class: "digits" }, digits), h("span", { class: "letters" }, letters));
}

function fieldRow(field, index) {
  return h("li", {
    role: "option", class: `field-row depth-${Math.min(6, field.depth)}`, "data-field": index, tabindex: index === 0 ? "0" : "-1",
  }, h("span", { class: "number soft" }, String(field.offset)), h("span", { class: "field-name" }, field.name),
  h("span", { class: "field-value" }, field.value));
}
