// The cells of a table: its header, which sorts and sizes the columns, and its rows.

import { changed, current, go, link } from "./address.js";
import { h } from "./dom.js";
import { count, line, numeric, plainName, shortValue } from "./values.js";

/** What the address says of the table, for the addresses of its objects and back. */
export function tableQuery() {
  const { where, sort, columns, by } = current().query;
  return { where, sort, columns, by };
}

/** The cells of the header. A press sorts; the grip, or Alt with an arrow, sizes the column. */
export function headerCells(columns, widths, hasReferrers) {
  const orders = (current().query.sort ?? "").split(",").filter(Boolean);
  return [columns.map((column) => headerCell(column, orders, widths)), hasReferrers
    && h("div", { role: "columnheader", class: "number soft" }, "referrers")];
}

function headerCell(column, orders, widths) {
  const own = orders.find((each) => each.replace(/^-|\[\w+\]$/g, "") === column.name);
  const direction = own === undefined ? "none" : own.startsWith("-") ? "descending" : "ascending";
  const resizeBy = (distance, event) => {
    event.preventDefault();
    widths.resize(column, widths.of(column) + distance);
  };
  return h("div", {
    role: "columnheader", "aria-sort": direction,
    class: numeric.has(column.type) ? "number" : null,
  },
  h("button", {
    type: "button", class: "plain",
    title: `${column.type}${column.isIndexed ? ", indexed" : ""}. Press to sort`,
    onclick: (event) => sortBy(column.name, direction, event.shiftKey ? orders : []),
    onkeydown: (event) => {
      if (event.altKey && event.key === "ArrowRight") resizeBy(16, event);
      if (event.altKey && event.key === "ArrowLeft") resizeBy(-16, event);
    },
  }, h("span", { class: "cut" }, plainName(column)), direction !== "none"
    && h("span", { "aria-hidden": "true" }, direction === "ascending" ? " ↑" : " ↓")),
  grip(column, widths));
}

/** Sorts ascending, descending, then not at all; other orders come first. */
function sortBy(name, direction, orders) {
  const next = { none: [name], ascending: [`-${name}`], descending: [] }[direction];
  const others = orders.filter((each) => each.replace(/^-/, "") !== name);
  go(changed({ sort: [...others, ...next].join(",") || null }));
}

function grip(column, widths) {
  const element = h("span", { class: "grip", "aria-hidden": "true" });
  element.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    const start = event.clientX - widths.of(column);
    const move = (each) => widths.resize(column, each.clientX - start);
    element.setPointerCapture(event.pointerId);
    element.addEventListener("pointermove", move);
    element.addEventListener("pointerup", () => element.removeEventListener("pointermove", move), {
      once: true,
    });
  });
  return element;
}

export function addressOfRow({ object }) {
  return link("state", [object.id], tableQuery());
}

/** The cells of a row, from pairs of column and value. */
export function rowCells(row, cells, hasReferrers) {
  const elements = cells.map(([column, cell], place) => {
    const content = place === 0 && !column.isRelationship
      ? h("a", { href: addressOfRow(row) }, line(cell) || row.object.name || row.object.id)
      : shortValue(cell);
    const element = h("div", {
      role: "gridcell", class: numeric.has(column.type) ? "number" : null,
      title: cell.kind === "string" && cell.text.length > 30 ? cell.text.slice(0, 300) : null,
    }, content);
    element.querySelectorAll("a").forEach((each) => each.setAttribute("tabindex", "-1"));
    return element;
  });
  return [elements, hasReferrers && h("div", { role: "gridcell", class: "number soft" },
    row.referrers ? count(row.referrers) : "")];
}

/** The only cell of a row where there is little room: its name, and its values below. */
export function cardCell(row, cells) {
  const { object } = row;
  const values = cells.filter(([column, cell]) =>
    cell.kind !== "null" && !column.isDisplayName && line(cell));
  return h("div", { role: "gridcell" },
    h("a", { href: addressOfRow(row), class: "cut card-name" },
      object.label ?? object.name ?? object.id),
    h("div", { class: "soft cut small" },
      values.map(([column, cell]) => `${plainName(column)} ${line(cell)}`).join(" · ")));
}
