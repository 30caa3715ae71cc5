// The state at the moment, in columns: entities, the objects of one, one object, and its life.

import { current, go, link } from "./address.js";
import { h, notice, replace, setCurrent } from "./dom.js";
import { setCommand } from "./frame.js";
import { LifePanel } from "./life-panel.js";
import { createObjectPanel, entityOf, objectOfAddress } from "./object-panel.js";
import { ask, Loader } from "./server.js";
import { at, momentKey, session } from "./session.js";
import { tableQuery } from "./table-cells.js";
import { createTablePanel } from "./table-panel.js";
import { count } from "./values.js";

export function create(element) {
  const entities = h("nav", { class: "entities column", "aria-label": "Entities" });
  const objects = h("section", { class: "objects column", "aria-label": "Objects" });
  const back = h("div", { class: "back" });
  const objectBody = h("div", { class: "object-body" });
  const object = h("section", {
    class: "object-column column", "aria-label": "Object", tabindex: "-1",
  }, back, objectBody);
  const life = h("section", { class: "life-column column", "aria-label": "Life of the object" });
  element.append(entities, objects, object, life);
  let entity = null;
  let objectCommand = "";
  const entityList = createEntityList(entities, { hasRoom: () => element.clientWidth > 700 });
  const tablePanel = createTablePanel(objects, { answered: showCommand });
  const objectPanel = createObjectPanel(objectBody, {
    answered: (answer) => {
      objectCommand = answer.command;
      showCommand();
    },
  });
  const lifePanel = new LifePanel(life);

  function showCommand() {
    if (objectOfAddress()) setCommand(objectCommand);
    else tablePanel.showCommand();
  }

  function show() {
    const { parts } = current();
    const chosen = objectOfAddress(parts);
    entity = chosen ? entityOf(chosen) : parts[0] ?? null;
    element.classList.toggle("with-entity", entity !== null);
    element.classList.toggle("with-object", chosen !== null);
    entityList.show(entity);
    if (!entity) {
      setCommand(session.overview?.command);
      return entityList.chooseFirst();
    }
    tablePanel.show(entity, chosen);
    replace(back, h("a", { href: addressOfTable(), "aria-label": "Close the object" },
      h("span", { class: "narrow-back" }, `‹ ${entity}`),
      h("span", { class: "wide-close", "aria-hidden": "true" }, "×")));
    if (chosen) {
      objectPanel.show(chosen);
      lifePanel.show(chosen);
    }
    return showCommand();
  }

  function addressOfTable() {
    return link("state", [entity], tableQuery());
  }

  return {
    show,
    keys: {
      "/": ["To the condition", () => tablePanel.bar.focus()],
      "g": ["To the table", () => tablePanel.table.focus()],
      "o": ["To the object", () => object.focus()],
      "u": ["Close the object", () => entity && go(addressOfTable())],
      "j": ["Next row", () => tablePanel.table.move(1)],
      "k": ["Row before", () => tablePanel.table.move(-1)],
    },
    close() {
      for (const each of [entityList, tablePanel, objectPanel, lifePanel]) each.close();
    },
  };
}

/** The entities at the moment; `hasRoom()` tells whether a table finds room beside them. */
function createEntityList(element, { hasRoom }) {
  const loader = new Loader(element);
  let known = [];
  let chosen = null;

  function show(entity) {
    chosen = entity;
    loader.load(momentKey(), async (signal) => {
      const { entities } = await ask("overview", { at: at() }, signal);
      const query = current().query.where ? { where: null } : {};
      replace(element, entities.length === 0
        ? notice("", "Nothing yet", "There is no entity at this moment.")
        : h("ul", {}, entities.map((each) => h("li", {}, entityLink(each, query)))));
      known = entities;
      mark();
      chooseFirst();
    }, { quietly: element.children.length > 0 });
    mark();
  }

  /** Where there is room for a table, it shows the entity with the most objects at first. */
  function chooseFirst() {
    if (chosen || current().view !== "state" || known.length === 0 || !hasRoom()) return;
    const first = known.reduce((most, each) => (each.count > most.count ? each : most));
    go(link("state", [first.name]), { replacing: true });
  }

  function mark() {
    for (const each of element.querySelectorAll("a")) {
      setCurrent(each, each.dataset.entity === chosen);
    }
  }

  return { show, chooseFirst, close: () => loader.stop() };
}

function entityLink(entity, query) {
  return h("a", {
    href: link("state", [entity.name], query), "data-entity": entity.name,
    class: entity.count === 0 ? "empty" : null,
  }, h("span", { class: "cut" }, entity.name), h("span", { class: "number" }, count(entity.count)));
}
