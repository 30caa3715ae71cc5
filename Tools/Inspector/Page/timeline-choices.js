// What a timeline draws: its fields, and what is suggested at first.

import { changed, current, go } from "./address.js";
import { h, setOptions } from "./dom.js";
import { ask } from "./server.js";
import { at, session } from "./session.js";

const unlikelyGroup = /(^|\.)id($|\.|_)|_id$|name|url|phone|address|title|date|start|end/i;

const startLike = /start|begin|from|since|add|open|join|born|found/i;
const endLike = /end|until|to$|close|remov|left|leav|finish|expir|died|death|stop|dissolv/i;

/** What to draw of an entity: its first date, and what looks like an end and a flag. */
function suggestion({ entity, starts, flags }) {
  const end = starts.length > 1 ? starts.find((each) => endLike.test(each)) : undefined;
  const others = starts.filter((each) => each !== end);
  const start = (end && others.find((each) => startLike.test(each))) ?? others[0];
  const flag = flags?.find((each) => /ongoing|open|current|active/i.test(each));
  return {
    entity, start, end, open: flag ? `flag:${flag}` : null,
    group: null, label: null, lifetimes: null,
  };
}

/** A property with few values, to group by at first. */
async function likelyGroup({ entity, groups = [] }, signal) {
  const likely = groups.filter((each) => !unlikelyGroup.test(each));
  for (const by of likely.slice(0, 4)) {
    const answer = await ask("groups", { entity, by, at: at(), limit: 12 }, signal);
    const unset = answer.groups.find((each) => each.key?.kind === "null")?.count ?? 0;
    const isFew = answer.groupCount > 1 && answer.groupCount <= 12;
    if (isFew && unset * 2 < answer.total) return by;
  }
  return null;
}

/** What to draw at first: an entity that has dates, otherwise the lives of objects. */
export async function firstChoice(suggestions, signal) {
  const { entity: asked } = current().query;
  const found = suggestions?.entities.find((each) => !asked || each.entity === asked);
  if (found) return { ...suggestion(found), group: await likelyGroup(found, signal) };
  const entity = asked ?? session.overview?.entities[0]?.name;
  return entity ? { entity, lifetimes: 1 } : null;
}

/** The fields of what is drawn; each is part of the address. */
export function timelineFields(suggestions) {
  const { query } = current();
  const own = suggestions?.entities.find((each) => each.entity === query.entity);
  const starts = own?.starts ?? [];
  const flags = (own?.flags ?? []).map((each) => `flag:${each}`);
  return [
    entityField(suggestions), axisField(), !query.lifetimes && [
      choice("start", "start", starts), choice("end", "end", starts, "none"),
      choice("open", "ongoing", ["never", "nil", ...flags], "–"),
    ],
    choice("group", "groups", own?.groups ?? [], "none"),
    choice("label", "labels", own?.labels ?? [], "–"),
    h("span", { class: "toggles" }, dateField("from"), dateField("to")),
    h("span", { class: "toggles" },
      toggle("hideEnds", "hide ends"), toggle("hideOngoing", "hide ongoing")),
  ];
}

function entityField(suggestions) {
  if (current().query.lifetimes) {
    return choice("entity", "Entity", (session.overview?.entities ?? []).map((each) => each.name));
  }
  const dated = suggestions?.entities ?? [];
  return choice("entity", "Entity", dated.map((each) => each.entity), undefined, (name) =>
    suggestion(dated.find((each) => each.entity === name)));
}

function axisField() {
  const select = h("select", {
    "aria-label": "Axis", onchange: () => go(changed(select.value
      ? { lifetimes: 1, start: null, end: null, open: null } : { lifetimes: null, start: null })),
  },
  h("option", { value: "" }, "when it happened"),
  h("option", { value: "1" }, "when it was written down"));
  select.value = current().query.lifetimes ? "1" : "";
  return select;
}

/** A choice of one of the values; `queryOf(value)` is what it makes of the address. */
function choice(name, label, values, none, queryOf = (value) => ({ [name]: value || null })) {
  const select = h("select", {
    "aria-label": label, onchange: () => go(changed(queryOf(select.value))),
  });
  setOptions(select, none, values, current().query[name]);
  return h("label", { class: "field" }, label, select);
}

function toggle(name, label) {
  return h("label", {}, h("input", {
    type: "checkbox", checked: Boolean(current().query[name]),
    onchange: (event) => go(changed({ [name]: event.target.checked ? 1 : null })),
  }), label);
}

function dateField(name) {
  return h("label", { class: "field" }, name, h("input", {
    type: "text", size: 8, value: current().query[name] ?? "", placeholder: "2019-10",
    autocomplete: "off",
    onchange: (event) => go(changed({ [name]: event.target.value.trim() || null })),
  }));
}
