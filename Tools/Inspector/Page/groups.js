// The objects of a table counted in groups, as bars.

import { changed, current, go } from "./address.js";
import { button, h, replace, setStyle } from "./dom.js";
import { ask, Loader } from "./server.js";
import { at, momentKey } from "./session.js";
import { count, counted, line, plainName } from "./values.js";

const units = ["year", "month", "week", "day", "hour"];

/** Makes the bars for the grouping that the address names (by=about, by=month:start). */
export function createGroups(element, { answered }) {
  const loader = new Loader(element);
  element.hidden = true;

  function show(entity) {
    const { by, where } = current().query;
    element.hidden = !by;
    if (!by) return loader.stop();
    loader.load(JSON.stringify([entity, momentKey(), by, where]), async (signal) => {
      const answer = await ask("groups", { entity, at: at(), by, where, limit: 200 }, signal);
      answered(answer);
      draw(answer, where);
    }, { quietly: element.children.length > 0 });
  }

  function draw(answer, where) {
    const greatest = Math.max(1, ...answer.groups.map((each) => each.count));
    const isUnit = /^(hour|day|week|month|year):/.test(answer.by);
    replace(element,
      h("h3", { class: "soft small" }, `${counted(answer.groupCount, "group")} of ${counted(answer.total, "object")} by “${answer.by}”`),
      h("ul", { class: `bars ${isUnit ? "dates" : ""}` }, answer.groups.map((each) => {
        const bar = h("span", { class: "bar" });
        setStyle(bar, { width: `${(each.count / greatest) * 100}%` });
        const name = nameOf(each);
        const label = each.filter
          ? button(name, () => go(changed({
            where: where ? `(${where}) AND ${each.filter}` : each.filter,
          })), { class: "plain cut bar-name", title: `Only ${each.filter}` })
          : h("span", { class: "cut bar-name" }, name);
        return h("li", {}, label, h("span", { class: "bar-space" }, bar), h("span", { class: "number" }, count(each.count)));
      })),
      answer.groupCount > answer.groups.length && h("p", { class: "soft small" },
        `${count(answer.groupCount - answer.groups.length)} more groups`));
  }

  return { show, close: () => loader.stop() };
}

/** The name of a group, in the words of a cell. */
function nameOf({ key, text }) {
  if (key?.kind === "null") return "nil";
  return key?.kind === "object" || (key?.kind === "string" && text === "") ? line(key) : text;
}

/** The choice of a grouping, from the columns of the table. */
export function groupingChoice(columns) {
  const { by } = current().query;
  const options = columns.filter((each) => !each.isKey && !each.isToMany).flatMap((each) => [
    h("option", { value: each.name }, plainName(each)),
    ...(each.type === "date" || each.type === "day" ? units.map((unit) =>
      h("option", { value: `${unit}:${each.name}` }, `${unit} of ${each.name}`)) : []),
  ]);
  const select = h("select", {
    "aria-label": "Group by", onchange: () => go(changed({ by: select.value || null })),
  }, h("option", { value: "" }, "no groups"), options);
  if (by && ![...select.options].some((each) => each.value === by)) select.append(h("option", { value: by }, by));
  select.value = by ?? "";
  return select;
}
