// The bytes of one region: as hexadecimal digits, as text and as fields, tied to each other.

import { h, replace } from "./dom.js";
import { count } from "./values.js";

const rowLength = 16;

/** Makes the three columns of a bytes document. */
export function createHex(answer) {
  const data = Uint8Array.from(atob(answer.bytes), (letter) => letter.charCodeAt(0));
  const start = answer.offset + answer.skip;
  const cells = [];
  const rows = [];
  for (let place = 0; place < data.length; place += rowLength) {
    const same = repeatedRows(data, place);
    if (same > 2) {
      rows.push(makeRow(data, place, start, cells));
      rows.push(h("li", { class: "repeated soft" }, `the same, ${count(same)} rows`));
      place += same * rowLength;
    } else rows.push(makeRow(data, place, start, cells));
  }
  const fields = answer.fields.map((field, index) => fieldRow(field, index));
  const hex = h("ol", { class: "hex mono", "aria-label": "Bytes" }, rows);
  const list = h("ul", { class: "fields", role: "listbox", "aria-label": "Fields" }, fields.length > 0 ? fields
    : h("li", { class: "soft" }, "Nothing in these bytes can be explained."));
  const said = h("div", { class: "hex-said small", role: "status" }, h("span", { class: "soft" }, "Point at a byte or a field"));
  const element = h("div", { class: "hex-place" }, h("div", {}, said, hex), h("div", {}, list,
    answer.moreFields > 0 && h("p", { class: "soft" }, `${count(answer.moreFields)} more fields in other bytes`)));
  let lit = [];

  function light(index) {
    for (const each of lit) each.classList.remove("lit");
    lit = [];
    const field = answer.fields[index];
    if (!field) return;
    for (let place = Math.max(0, field.offset - start); place < Math.min(data.length, field.offset - start + field.length); place += 1) {
      if (cells[place]) lit.push(...cells[place]);
    }
    lit.push(fields[index]);
    for (const each of lit) each.classList.add("lit");
    replace(said, h("strong", {}, field.name), " ", h("span", { class: "soft" },
      `${count(field.offset)}, ${count(field.length)} bytes `), field.value);
  }

  /** The innermost field of a byte. */
  function fieldAt(offset) {
    let best = -1;
    answer.fields.forEach((field, index) => {
      if (field.offset > offset || offset >= field.offset + field.length) return;
      const other = answer.fields[best];
      if (!other || field.depth > other.depth || (field.depth === other.depth && field.length < other.length)) best = index;
    });
    return best;
  }

  hex.addEventListener("pointerover", (event) => {
    const { place } = event.target.dataset;
    if (place === undefined) return;
    light(fieldAt(start + Number(place)));
  });
  hex.addEventListener("click", (event) => {
    const { place } = event.target.dataset;
    if (place === undefined) return;
    const row = fields[fieldAt(start + Number(place))];
    row?.focus({ preventScroll: true });
    row?.scrollIntoView({ block: "nearest" });
  });
  list.addEventListener("pointerover", (event) => lightRow(event));
  list.addEventListener("focusin", (event) => lightRow(event));
  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const index = Number(event.target.dataset.field);
    if (!step || Number.isNaN(index)) return;
    event.preventDefault();
    fields[index + step]?.focus();
  });

  function lightRow(event) {
    const row = event.target.closest("[data-field]");
    if (row) light(Number(row.dataset.field));
  }

  return element;
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
