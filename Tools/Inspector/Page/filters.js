// The filters of the transactions, as fields; each is part of the address.

import { changed, current, go, rangeOf } from "./address.js";
import { followAddress, h, plainButton, setOptions } from "./dom.js";
import { ask } from "./server.js";
import { momentNumber, session } from "./session.js";

const filterNames = [
  "author", "context", "entity", "property", "object", "type", "since", "until", "text",
];

/** Whether the address narrows the transactions. */
export function isFiltered() {
  const { query } = current();
  return Boolean(query.zoom) || filterNames.some((name) => query[name]);
}

/**
 * The filters of the address, the part of history that the slider shows, and the moment; with `isWhole` wherever the list
 * begins.
 */
export function transactionQuery({ isWhole = false } = {}) {
  const { query } = current();
  const asked = {};
  for (const name of filterNames) if (query[name]) asked[name] = query[name];
  if (query.before && !isWhole) asked.before = query.before;
  const limit = (number) => Math.min(Number(asked.before ?? Infinity), number);
  const zoom = rangeOf(query.zoom);
  if (zoom && query.axis === "number") {
    asked.after = Math.max(0, zoom.from - 1);
    asked.before = limit(zoom.to);
  } else if (zoom) {
    asked.since ??= new Date(zoom.from / 1000).toISOString();
    asked.until ??= new Date(zoom.to / 1000).toISOString();
  }
  const moment = momentNumber();
  if (moment !== undefined) asked.before = limit(moment + 1);
  return asked;
}

/** Makes the fields. */
export function createFilters() {
  const set = (name) => (event) => go(changed({ [name]: event.target.value.trim() || null, before: null, show: null }));
  const text = (name, label, hint, width) => h("input", {
    type: "text", name, "aria-label": label, placeholder: hint, size: width, onchange: set(name), autocomplete: "off",
    spellcheck: "false",
  });
  const choice = (name, label) => h("select", { name, "aria-label": label, onchange: set(name) });
  const fields = {
    text: text("text", "Words of the message", "message", 14),
    author: choice("author", "Author"),
    entity: choice("entity", "Entity"),
    property: choice("property", "Property"),
    type: choice("type", "Kind of change"),
    object: text("object", "Object", "object: Post/7", 12),
    context: text("context", "Context", "context", 8),
    since: text("since", "Dated at or after", "since: 2019-10", 10),
    until: text("until", "Dated at or before", "until", 10),
  };
  const clear = plainButton("All", () => go(changed(Object.fromEntries(
    [...filterNames, "before"].map((name) => [name, null])))));
  const note = h("p", { class: "soft small filter-note" });
  const element = h("div", { class: "filters", role: "search", "aria-label": "Filters" }, Object.values(fields), clear, note);
  let properties = null;

  async function show() {
    const { query } = current();
    const entities = (session.overview?.entities ?? []).map((each) => each.name);
    setOptions(fields.author, "any author", session.active, query.author);
    setOptions(fields.entity, "any entity", entities, query.entity);
    setOptions(fields.type, "any change", ["insert", "update", "delete"], query.type);
    for (const [name, field] of Object.entries(fields)) {
      if (field.tagName === "INPUT") followAddress(field, query[name]);
      field.classList.toggle("set", Boolean(query[name]));
    }
    clear.hidden = !filterNames.some((name) => query[name]);
    const zoomed = query.zoom ? "Within the part of history that the slider shows." : "";
    note.textContent = zoomed;
    note.hidden = !zoomed;
    setOptions(fields.property, "any property", propertiesOf(query.entity), query.property);
    if (!properties) {
      properties = [];
      try {
        properties = (await ask("schema", {})).entities;
        setOptions(fields.property, "any property", propertiesOf(current().query.entity), current().query.property);
      } catch {
        properties = null;
      }
    }
  }

  function propertiesOf(entity) {
    const found = (properties ?? []).filter((each) => !entity || each.name === entity)
      .flatMap((each) => [...each.attributes, ...each.relationships].map((property) => property.name));
    return [...new Set(found)].sort().slice(0, 500);
  }

  return { element, show, focus: () => fields.text.focus() };
}
