// The objects of one entity: the bar with the condition, groups if asked for, and the table.

import { changed, current, go, link } from "./address.js";
import { createCondition, planOf } from "./condition.js";
import { button, h, replace } from "./dom.js";
import { setCommand } from "./frame.js";
import { createGroups, groupingChoice } from "./groups.js";
import { ask } from "./server.js";
import { at } from "./session.js";
import { StateTable } from "./state-table.js";
import { count, plainName } from "./values.js";

/** The plan of a longer condition is closed at first: it may repeat all of it. */
const mostForPlan = 300;

/** All columns of the entities that were shown, for the choice among them. */
const allColumns = new Map();

/** Makes the panel; `answered` is called when there is another command. */
export function createTablePanel(element, { answered }) {
  const groups = h("section", { class: "groups", "aria-label": "Groups" });
  const place = h("div", { class: "table-place" });
  const bar = createTableBar();
  element.append(bar.element, bar.plan, groups, place);
  let entity = null;
  let tableCommand = "";
  let groupCommand = "";
  let hasProblem = false;
  const groupPanel = createGroups(groups, {
    answered: (answer) => {
      groupCommand = answer.command;
      answered();
    },
  });
  const table = new StateTable(place, {
    answered: (answer, columns, shown) => {
      hasProblem = false;
      tableCommand = answer.command;
      answered();
      bar.showAnswer(answer, columns, shown);
    },
    refused: (error) => {
      bar.showProblem(error);
      if (error?.parameter === "where") readCommandWithout();
    },
  });

  /** The command of the table without its condition, which cannot be read. */
  async function readCommandWithout() {
    hasProblem = true;
    const { sort, columns } = current().query;
    const question = { entity, at: at(), sort, columns, limit: 1 };
    const answer = await ask("table", question).catch(() => null);
    if (!answer || !hasProblem) return;
    tableCommand = answer.command.replace(/ --limit 1(?= |$)/, "");
    answered();
  }

  return {
    bar,
    table,
    show(newEntity, selected) {
      entity = newEntity;
      bar.show(entity);
      if (!current().query.by) groupCommand = "";
      groupPanel.show(entity);
      table.show(entity, selected);
    },
    showCommand() {
      if (hasProblem) setCommand(tableCommand, "without the condition, which has an error");
      else setCommand(current().query.by && groupCommand ? groupCommand : tableCommand);
    },
    close() {
      table.close();
      groupPanel.close();
    },
  };
}

/** Makes the bar, and the place for the plan below it. */
function createTableBar() {
  let entity = null;
  let choicesKey = "";
  const up = h("a", { class: "narrow-back", "aria-label": "Entities" }, "‹");
  const title = h("h2", { class: "cut" });
  const counts = h("span", { class: "soft nowrap", role: "status" });
  const choices = h("div", { class: "choices" });
  const plan = h("div", { class: "plan-place" });
  const condition = createCondition(() => entity);
  const element = h("div", { class: "table-bar" },
    h("div", { class: "bar-line" }, up, title, counts, choices), condition.element);

  function show(newEntity) {
    if (newEntity !== entity) {
      choicesKey = "";
      for (const each of [choices, plan, counts]) replace(each);
    }
    entity = newEntity;
    title.textContent = entity;
    up.href = link("state", []);
    condition.set(current().query.where);
  }

  /** Shows what the first page of the table tells of all objects. */
  function showAnswer(answer, columns, shown) {
    const { total, all } = answer;
    counts.textContent = total === all ? count(all) : `${count(total)} of ${count(all)}`;
    condition.showProblem(null);
    const named = columns.find((each) => each.isDisplayName)
      ?? columns.find((each) => each.type === "string");
    condition.input.placeholder = named ? `${named.name} CONTAINS "…"` : "condition";
    showPlan(answer);
    showChoices(columns, shown);
  }

  function showProblem(error) {
    counts.textContent = "";
    replace(plan);
    condition.showProblem(error);
  }

  function showPlan(answer) {
    const { where, sort } = current().query;
    const details = where || sort ? planOf(answer) : null;
    if (details && where && where.length <= mostForPlan) details.open = true;
    replace(plan, details);
  }

  function showChoices(columns, shown) {
    const { by, columns: chosen } = current().query;
    const names = columns.map((each) => each.name);
    const key = JSON.stringify([entity, by, chosen, names, shown.length]);
    if (key === choicesKey) return;
    choicesKey = key;
    if (!chosen) allColumns.set(entity, columns);
    const every = allColumns.get(entity) ?? columns;
    replace(choices, groupingChoice(every), columnChoice(every, shown));
  }

  return { element, plan, show, showAnswer, showProblem, focus: () => condition.input.focus() };
}

/** The choice of columns: a list of boxes that opens below its button. */
function columnChoice(every, shown) {
  const names = new Set(shown.map((each) => each.name));
  const choose = (columns) => go(changed({ columns }), { replacing: true });
  const boxes = every.map((column) => h("label", {}, h("input", {
    type: "checkbox", checked: names.has(column.name), "data-column": column.name,
    onchange: () => {
      const chosen = boxes.map((each) => each.querySelector("input")).filter((each) => each.checked)
        .map((each) => each.dataset.column);
      choose(chosen.join(",") || null);
    },
  }), h("span", { class: "cut" }, plainName(column)),
  h("span", { class: "soft small" }, column.type)));
  const menu = h("details", { class: "menu" },
    h("summary", { class: "button" }, `Columns ${shown.length}/${every.length}`),
    h("div", { class: "menu-list" }, boxes,
      button("Those with values", () => choose(null), { class: "plain small" })));
  menu.addEventListener("focusout", (event) => {
    if (event.relatedTarget && !menu.contains(event.relatedTarget)) menu.open = false;
  });
  return menu;
}
