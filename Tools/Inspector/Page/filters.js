// The filters of the transactions, as fields; each is part of the address.

import { changed, current, go } from "./address.js";
import { h, replace } from "./dom.js";
import { ask } from "./server.js";
import { session } from "./session.js";

export const filterNames = ["author", "context", "entity", "property", "object", "type", "since", "until", "text"];

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
  const clear = h("button", {
    type: "button", class: "plain", onclick: () => go(changed(Object.fromEntries(
      [...filterNames, "before"].map((name) => [name, null])))),
  }, "All");
  const note = h("p", { class: "soft small filter-note" });
  const element = h("div", { class: "filters", role: "search", "aria-label": "Filters" }, Object.values(fields), clear, note);
  let properties = null;

  function options(select, first, values, chosen) {
    const all = chosen && !values.includes(chosen) ? [...values, chosen] : values;
    replace(select, h("option", { value: "" }, first), all.map((each) => h("option", { value: each }, each)));
    select.value = chosen ?? "";
  }

  async function show() {
    const { query } = current();
    const entities = (session.overview?.entities ?? []).map((each) => each.name);
    options(fields.author, "any author", session.active, query.author);
    options(fields.entity, "any entity", entities, query.entity);
    options(fields.type, "any change", ["insert", "update", "delete"], query.type);
    for (const [name, field] of Object.entries(fields)) {
      if (field.tagName === "INPUT" && document.activeElement !== field) field.value = query[name] ?? "";
      field.classList.toggle("set", Boolean(query[name]));
    }
    clear.hidden = !filterNames.some((name) => query[name]);
    const zoomed = query.zoom ? "Within the part of history that the slider shows." : "";
    note.textContent = zoomed;
    note.hidden = !zoomed;
    options(fields.property, "any property", propertiesOf(query.entity), query.property);
    if (!properties) {
      properties = [];
      try {
        properties = (await ask("schema", {})).entities;
        options(fields.property, "any property", propertiesOf(current().query.entity), current().query.property);
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
