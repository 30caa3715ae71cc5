// The schema at the moment as a picture, and how it grew.

import { link } from "./address.js";
import { headerLine } from "./change.js";
import { button, h, notice, observeSize, replace, s } from "./dom.js";
import { setCommand } from "./frame.js";
import { arrange, drawArrows } from "./schema-layout.js";
import { ask, Loader } from "./server.js";
import { at, momentKey } from "./session.js";
import { count } from "./values.js";

const mostLines = 24;

export function create(element) {
  const picture = h("section", { class: "column schema-picture", "aria-label": "Entities", tabindex: "0", "data-first": true });
  const growth = h("section", { class: "column schema-growth", "aria-label": "How the schema grew" });
  element.append(picture, growth);
  const loader = new Loader(picture);
  let cards = [];
  let arrows = null;
  const stop = observeSize(picture, (width) => place(width));

  function show() {
    loader.load(momentKey(), async (signal) => {
      const answer = await ask("schema", { at: at() }, signal);
      setCommand(answer.command);
      draw(answer);
    }, { quietly: cards.length > 0 });
  }

  function draw(answer) {
    cards = answer.entities.map((entity) => ({ entity, element: card(entity, () => place(picture.clientWidth)) }));
    arrows = s("svg", { "aria-hidden": "true" });
    replace(picture, cards.length === 0
      ? notice("", "No entity", "The schema is empty at this moment.")
      : [arrows, cards.map((each) => each.element)]);
    place(picture.clientWidth);
    replace(growth, h("h2", {}, "How it grew"), answer.growth.length === 0
      ? h("p", { class: "soft" }, "It was not changed up to this moment.")
      : h("ol", {}, [...answer.growth].reverse().map((step) => h("li", {}, headerLine(step.header, { withMessage: false }),
        h("pre", { class: "mono schema-lines" }, step.lines.join("\n"))))),
    answer.migrations?.length > 0 && [h("h2", {}, "Migrations"), h("ol", {}, answer.migrations.map((each) =>
      h("li", {}, h("a", { href: link("transactions", [], { show: each.number }) }, count(each.number)), " ", each.name)))]);
  }

  function place(width) {
    if (!arrows || cards.length === 0) return;
    if (innerWidth <= 900) return;
    const size = arrange(cards, width, picture.clientHeight);
    drawArrows(arrows, cards, size);
  }

  return {
    show,
    close() {
      stop();
      loader.stop();
    },
  };
}

/** An entity with its attributes and relationships; a long one opens. */
function card(entity, changed) {
  const lines = [
    ...entity.relationships.map((each) => relationshipLine(each)),
    ...entity.attributes.map((each) => attributeLine(each, entity)),
  ];
  const more = lines.slice(mostLines);
  const list = h("ul", {}, lines.slice(0, mostLines));
  const element = h("article", { class: "schema-entity", "aria-label": entity.name },
    h("h3", {}, h("a", { href: link("state", [entity.name]) }, entity.name),
      entity.count !== undefined && h("span", { class: "soft number" }, count(entity.count))),
    list,
    [...(entity.indexes ?? []).map((each) => `index: ${each}`), ...(entity.rules ?? [])].map((each) =>
      h("p", { class: "soft small" }, each)));
  if (more.length > 0) {
    const rest = button(`${count(more.length)} more`, () => {
      rest.remove();
      list.append(...more);
      changed();
    }, { class: "plain small" });
    element.append(rest);
  }
  element.addEventListener("pointerenter", () => light(element, entity.name, true));
  element.addEventListener("pointerleave", () => light(element, entity.name, false));
  return element;
}

function light(element, name, isOn) {
  for (const path of element.parentElement?.querySelectorAll("path[data-from]") ?? []) {
    if (path.dataset.from === name || path.dataset.to === name) path.classList.toggle("lit", isOn);
  }
}

function attributeLine(attribute, entity) {
  const marks = [
    attribute.isUnique && "unique", attribute.isRequired && "required", attribute.isIndexed && "indexed",
    attribute.isPreserved && "preserved", attribute.derived && `derived: ${attribute.derived}`,
    attribute.default !== undefined && `default ${attribute.default}`, ...(attribute.rules ?? []),
  ].filter(Boolean);
  const isName = attribute.name === entity.displayName;
  return h("li", {}, h(isName ? "strong" : "span", {}, attribute.name), h("span", { class: "soft" }, attribute.type),
    marks.length > 0 && h("span", { class: "soft small rules" }, [...new Set(marks)].join(", ")));
}

function relationshipLine(relationship) {
  const marks = [
    relationship.isRequired && "required", relationship.deleteRule && relationship.deleteRule !== "nullify" && relationship.deleteRule,
    relationship.inverse && `inverse ${relationship.inverse}`, ...(relationship.rules ?? []),
  ].filter(Boolean);
  return h("li", { "data-relationship": relationship.name, "data-to": relationship.destination },
    h("span", {}, relationship.name),
    h("a", { href: link("state", [relationship.destination]) }, `${relationship.isToMany ? "⇉" : "→"} ${relationship.destination}`),
    marks.length > 0 && h("span", { class: "soft small rules" }, [...new Set(marks)].join(", ")));
}
