// The state at the moment, in columns across the hierarchy: entities, objects, one object, its life.

import { changed, current, go, link } from "./address.js";
import { createCondition, planOf } from "./condition.js";
import { h, notice, replace } from "./dom.js";
import { setCommand } from "./frame.js";
import { createGroups, groupingChoice } from "./groups.js";
import { createLifePanel } from "./life-panel.js";
import { createObjectPanel, entityOf, objectOfAddress } from "./object-panel.js";
import { ask, Loader } from "./server.js";
import { at, momentKey, session } from "./session.js";
import { createTable, plainName } from "./state-table.js";
import { count } from "./values.js";

/** The plan of a longer condition is closed at first: it may repeat all of it. */
const mostForPlan = 300;

export function create(element) {
  const entities = h("nav", { class: "entities column", "aria-label": "Entities" });
  const bar = h("div", { class: "table-bar" });
  const counts = h("span", { class: "soft nowrap", role: "status" });
  const choices = h("div", { class: "choices" });
  const plan = h("div", { class: "plan-place" });
  const groups = h("section", { class: "groups", "aria-label": "Groups" });
  const table = h("div", { class: "table-place" });
  const objects = h("section", { class: "objects column", "aria-label": "Objects" }, bar, plan, groups, table);
  const objectBody = h("div", { class: "object-body" });
  const object = h("section", { class: "object-column column", "aria-label": "Object", tabindex: "-1" },
    h("div", { class: "back" }), objectBody);
  const life = h("section", { class: "life-column column", "aria-label": "Life of the object" });
  element.append(entities, objects, object, life);

  let entity = null;
  let tableCommand = "";
  let objectCommand = "";
  let groupCommand = "";
  let hasProblem = false;
  let choicesKey = "";
  let known = [];
  const entityLoader = new Loader(entities);
  const condition = createCondition(() => entity);
  const title = h("h2", { class: "cut" });
  const up = h("a", { class: "narrow-back", "aria-label": "Entities" }, "‹");
  bar.append(h("div", { class: "bar-line" }, up, title, counts, choices), condition.element);
  const groupPanel = createGroups(groups, {
    answered: (answer) => {
      groupCommand = answer.command;
      showCommand();
    },
  });
  const objectPanel = createObjectPanel(objectBody, {
    answered: (answer) => {
      objectCommand = answer.command;
      showCommand();
    },
  });
  const lifePanel = createLifePanel(life);
  const rows = createTable(table, {
    answered: (answer, { columns, shown }) => {
      counts.textContent = answer.total === answer.all ? count(answer.all) : `${count(answer.total)} of ${count(answer.all)}`;
      tableCommand = answer.command;
      hasProblem = false;
      showCommand();
      condition.showProblem(null);
      const named = columns.find((each) => each.isDisplayName) ?? columns.find((each) => each.type === "string");
      condition.input.placeholder = named ? `${named.name} CONTAINS "…"` : "condition";
      showPlan(answer);
      showChoices(columns, shown);
    },
    refused: (error) => {
      counts.textContent = "";
      replace(plan);
      condition.showProblem(error);
      if (error?.parameter === "where") showCommandWithout();
    },
  });

  /** The command of the table without its condition, which cannot be read. */
  async function showCommandWithout() {
    hasProblem = true;
    const { sort, columns } = current().query;
    const answer = await ask("table", { entity, at: at(), sort, columns, limit: 1 }).catch(() => null);
    if (!answer || !hasProblem) return;
    tableCommand = answer.command.replace(/ --limit 1(?= |$)/, "");
    showCommand();
  }

  function showPlan(answer) {
    const { where, sort } = current().query;
    const details = where || sort ? planOf(answer) : null;
    if (details && where && where.length <= mostForPlan) details.open = true;
    replace(plan, details);
  }

  function showChoices(columns, shown) {
    const { by, columns: chosen } = current().query;
    const key = JSON.stringify([entity, by, chosen, columns.map((each) => each.name), shown.length]);
    if (key === choicesKey) return;
    choicesKey = key;
    const isAll = !chosen;
    if (isAll) allColumns.set(entity, columns);
    const every = allColumns.get(entity) ?? columns;
    replace(choices, groupingChoice(every), columnChoice(every, shown));
  }

  function showCommand() {
    if (objectOfAddress()) setCommand(objectCommand);
    else if (hasProblem) setCommand(tableCommand, "without the condition, which has an error");
    else setCommand(current().query.by && groupCommand ? groupCommand : tableCommand);
  }

  function showEntities() {
    entityLoader.load(momentKey(), async (signal) => {
      const overview = await ask("overview", { at: at() }, signal);
      const query = current().query.where ? { where: null } : {};
      replace(entities, overview.entities.length === 0
        ? notice("", "Nothing yet", "There is no entity at this moment.")
        : h("ul", {}, overview.entities.map((each) => h("li", {}, h("a", {
          href: link("state", [each.name], query), "data-entity": each.name, class: each.count === 0 ? "empty" : null,
        }, h("span", { class: "cut" }, each.name), h("span", { class: "number" }, count(each.count)))))));
      known = overview.entities;
      markEntity();
      chooseEntity();
    }, { quietly: entities.children.length > 0 });
  }

  /** Where there is room for a table, it shows the entity with the most objects at first. */
  function chooseEntity() {
    if (entity || current().view !== "state" || known.length === 0 || element.clientWidth <= 700) return;
    const first = known.reduce((most, each) => (each.count > most.count ? each : most));
    go(link("state", [first.name]), { replacing: true });
  }

  function markEntity() {
    for (const each of entities.querySelectorAll("a")) {
      if (each.dataset.entity === entity) each.setAttribute("aria-current", "true");
      else each.removeAttribute("aria-current");
    }
  }

  function show() {
    const { parts, query } = current();
    const chosen = objectOfAddress(parts);
    const newEntity = chosen ? entityOf(chosen) : parts[0] ?? null;
    if (newEntity !== entity) allChoicesForgotten();
    entity = newEntity;
    element.classList.toggle("with-entity", entity !== null);
    element.classList.toggle("with-object", chosen !== null);
    showEntities();
    markEntity();
    if (!entity) {
      setCommand(session.overview?.command);
      chooseEntity();
      return;
    }
    title.textContent = entity;
    up.href = link("state", []);
    condition.set(query.where);
    if (!query.by) groupCommand = "";
    groupPanel.show(entity);
    rows.show(entity, chosen);
    const keep = { where: query.where, sort: query.sort, columns: query.columns, by: query.by };
    replace(object.querySelector(".back"), h("a", { href: link("state", [entity], keep), "aria-label": "Close the object" },
      h("span", { class: "narrow-back" }, `‹ ${entity}`), h("span", { class: "wide-close", "aria-hidden": "true" }, "×")));
    if (chosen) {
      objectPanel.show(chosen);
      lifePanel.show(chosen);
    }
    showCommand();
  }

  function allChoicesForgotten() {
    choicesKey = "";
    replace(choices);
    replace(plan);
    counts.textContent = "";
  }

  return {
    show,
    keys: {
      "/": ["To the condition", () => condition.input.focus()],
      "g": ["To the table", () => table.querySelector(".grid")?.focus()],
      "o": ["To the object", () => object.focus()],
      "u": ["Close the object", () => entity && go(link("state", [entity], {
        where: current().query.where, sort: current().query.sort, columns: current().query.columns, by: current().query.by,
      }))],
      "j": ["Next row", () => moveRow(1)],
      "k": ["Row before", () => moveRow(-1)],
    },
    close() {
      rows.close();
      groupPanel.close();
      objectPanel.close();
      lifePanel.close();
      entityLoader.stop();
    },
  };

  function moveRow(distance) {
    const grid = table.querySelector(".grid");
    grid.focus();
    grid.dispatchEvent(new KeyboardEvent("keydown", { key: distance > 0 ? "ArrowDown" : "ArrowUp", bubbles: false }));
  }
}

const allColumns = new Map();

/** The choice of columns: a list of boxes that opens below its button. */
function columnChoice(every, shown) {
  const names = new Set(shown.map((each) => each.name));
  const boxes = every.map((column) => h("label", {}, h("input", {
    type: "checkbox", checked: names.has(column.name), "data-column": column.name,
    onchange: () => {
      const chosen = boxes.map((each) => each.querySelector("input")).filter((each) => each.checked)
        .map((each) => each.dataset.column);
      go(changed({ columns: chosen.join(",") || null }), { replacing: true });
    },
  }), h("span", { class: "cut" }, plainName(column)), h("span", { class: "soft small" }, ` ${column.type}`)));
  const menu = h("details", { class: "menu" },
    h("summary", { class: "button" }, `Columns ${shown.length}/${every.length}`),
    h("div", { class: "menu-list" }, boxes, h("button", {
      type: "button", class: "plain small", onclick: () => go(changed({ columns: null }), { replacing: true }),
    }, "Those with values")));
  menu.addEventListener("focusout", (event) => {
    if (event.relatedTarget && !menu.contains(event.relatedTarget)) menu.open = false;
  });
  return menu;
}
