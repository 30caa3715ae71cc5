// The objects of one entity at the moment, as a table with chosen and sized columns.

import { changed, current, go, link } from "./address.js";
import { h, notice, observeSize, replace, setStyle } from "./dom.js";
import { ask, failure } from "./server.js";
import { at, momentKey } from "./session.js";
import { count, line, numeric, shortValue } from "./values.js";
import { VirtualRows } from "./virtual-rows.js";

/** The name of a column without the quotes that conditions need. */
export function plainName(column) {
  return column.name.replace(/`/g, "");
}

/** Columns are not narrowed below this to make room for others, in pixels. */
const narrowest = 130;
const widthKey = (entity) => `widths ${entity}`;

/** Makes the table; `answered` is called with each answer about its first page. */
export function createTable(element, { answered, refused }) {
  const header = h("div", { class: "head", role: "row", "aria-rowindex": "1" });
  const grid = h("div", { class: "grid", role: "grid", "aria-label": "Objects", "data-first": true }, header);
  const message = h("div", { class: "grid-message" });
  element.append(grid, message);
  let columns = [];
  let shown = [];
  let widths = {};
  let entity = null;
  let selected = null;
  let key = null;
  let isNarrow = false;
  let hasReferrers = false;
  let firstAnswer = null;

  const rows = new VirtualRows({
    element: grid,
    rowHeight: rowHeight(),
    headerHeight: () => (isNarrow ? 0 : header.offsetHeight),
    fetchPage,
    makeRow,
    activate: (row) => go(link("state", [row.object.id], kept())),
    failed: (error) => {
      grid.hidden = true;
      key = null;
      const isOfCondition = error.parameter === "where" || error.parameter === "sort";
      refused(isOfCondition ? error : null);
      replace(message, isOfCondition && error.parameter === "where"
        ? notice("", "Nothing to show", "The condition above cannot be read yet.") : failure(error));
    },
  });
  const stop = observeSize(element, (width) => {
    isNarrow = width < 480;
    grid.classList.toggle("cards", isNarrow);
    if (rows.rowHeight === rowHeight()) return;
    rows.rowHeight = rowHeight();
    if (firstAnswer) setWidths(firstAnswer);
  });

  function rowHeight() {
    const single = parseFloat(getComputedStyle(document.documentElement).fontSize) * 2;
    return Math.round(isNarrow ? single * 1.75 : single);
  }

  function kept() {
    const { where, sort, columns: chosen, by } = current().query;
    return { where, sort, columns: chosen, by };
  }

  async function fetchPage(offset, limit, signal) {
    const { where, sort, columns: chosen } = current().query;
    const answer = await ask("table", {
      entity, at: at(), where, sort, columns: chosen, offset, limit, referrers: 1,
    }, signal);
    grid.hidden = false;
    replace(message);
    if (shown.length === 0 || key?.needsColumns) arrange(answer, chosen);
    answered(answer, { columns, shown });
    if (answer.total === 0) {
      replace(message, h("div", { class: "notice" }, h("strong", {}, answer.all > 0 ? "None matches" : `No ${entity}`),
        answer.all > 0 ? `None of the ${count(answer.all)} objects meets the condition.`
          : "There is none at this moment."));
    }
    return answer;
  }

  /** Chooses columns: those asked for, otherwise those with a value among the first rows. */
  function arrange(answer, chosen) {
    if (key) key.needsColumns = false;
    const isSame = columns.map((each) => each.name).join() === answer.columns.map((each) => each.name).join();
    columns = answer.columns;
    const filled = new Set(isSame ? shown.map((each) => each.name) : []);
    answer.rows.forEach((row) => row.values.forEach((cell, place) => {
      if (cell.kind !== "null") filled.add(columns[place].name);
    }));
    shown = chosen ? columns : columns.filter((each) => filled.has(each.name) || each.isKey || each.isDisplayName);
    hasReferrers = answer.rows.some((row) => row.referrers > 0);
    firstAnswer = answer;
    setWidths(answer);
    showHeader();
  }

  function setWidths(answer) {
    const saved = JSON.parse(localStorage.getItem(widthKey(entity)) ?? "{}");
    for (const column of shown) {
      const place = columns.indexOf(column);
      const texts = answer.rows.slice(0, 60).map((row) => line(row.values[place]).slice(0, 80));
      widths[column.name] = saved[column.name] ?? measured(column, texts);
    }
    fit(shown.filter((each) => !saved[each.name]).map((each) => each.name));
    applyWidths();
  }

  /** Narrows the widest columns, if all of them can be seen then. */
  function fit(names) {
    let excess = shown.reduce((sum, each) => sum + widths[each.name], hasReferrers ? 84 : 0) + 8 - grid.clientWidth;
    const room = names.reduce((sum, name) => sum + Math.max(0, widths[name] - narrowest), 0);
    if (excess <= 0 || excess > room) return;
    while (excess > 0) {
      const widest = names.reduce((most, name) => (widths[name] > widths[most] ? name : most));
      widths[widest] -= 4;
      excess -= 4;
    }
  }

  /** The width that a column's name and first values take, at most 26 em. */
  function measured(column, texts) {
    const style = getComputedStyle(grid);
    const context = document.createElement("canvas").getContext("2d");
    context.font = `${style.fontSize} ${style.fontFamily}`;
    const widest = Math.max(context.measureText(`${plainName(column)} ↓`).width, ...texts.map((each) => context.measureText(each).width));
    return Math.round(Math.min(parseFloat(style.fontSize) * 26, Math.max(40, widest + 24)));
  }

  function applyWidths() {
    const all = [...shown.map((each) => `${widths[each.name]}px`), ...(hasReferrers ? ["6em"] : [])];
    const sum = shown.reduce((total, each) => total + widths[each.name], hasReferrers ? 84 : 0);
    setStyle(grid, { "--columns": all.join(" "), "--width": `${sum}px` });
  }

  function showHeader() {
    applyWidths();
    const sort = current().query.sort ?? "";
    const orders = sort.split(",").filter(Boolean);
    replace(header, shown.map((column) => {
      const order = orders.find((each) => each.replace(/^-/, "").replace(/\[\w+\]$/, "") === column.name);
      const direction = order === undefined ? "none" : order.startsWith("-") ? "descending" : "ascending";
      return h("div", {
        role: "columnheader", "aria-sort": direction, class: numeric.has(column.type) ? "number" : null,
      },
      h("button", {
        type: "button", class: "plain", title: `${column.type}${column.isIndexed ? ", indexed" : ""}. Press to sort`,
        onclick: (event) => sortBy(column.name, direction, event.shiftKey, orders),
        onkeydown: (event) => {
          if (event.altKey && event.key === "ArrowRight") resize(column, widths[column.name] + 16, event);
          if (event.altKey && event.key === "ArrowLeft") resize(column, widths[column.name] - 16, event);
        },
      }, h("span", { class: "cut" }, plainName(column)),
      direction === "none" ? null : h("span", { "aria-hidden": "true" }, direction === "ascending" ? " ↑" : " ↓")),
      grip(column));
    }), hasReferrers ? h("div", { role: "columnheader", class: "number soft" }, "referrers") : null);
  }

  function sortBy(name, direction, isAdding, orders) {
    const next = direction === "none" ? name : direction === "ascending" ? `-${name}` : null;
    const others = isAdding ? orders.filter((each) => each.replace(/^-/, "") !== name) : [];
    go(changed({ sort: [...others, ...(next ? [next] : [])].join(",") || null }));
  }

  function grip(column) {
    const element = h("span", { class: "grip", "aria-hidden": "true" });
    element.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      const start = event.clientX - widths[column.name];
      const move = (each) => resize(column, each.clientX - start);
      element.setPointerCapture(event.pointerId);
      element.addEventListener("pointermove", move);
      element.addEventListener("pointerup", () => element.removeEventListener("pointermove", move), { once: true });
    });
    return element;
  }

  function resize(column, width, event) {
    event?.preventDefault();
    const em = rowHeight() / 2;
    widths[column.name] = Math.round(Math.min(30 * em, Math.max(3 * em, width)));
    localStorage.setItem(widthKey(entity), JSON.stringify(widths));
    applyWidths();
  }

  function makeRow(row) {
    const { object } = row;
    const element = h("div", {
      role: "row", class: "object", "aria-selected": object.id === selected ? "true" : "false", "data-object": object.id,
      onclick: (event) => {
        if (!event.target.closest("a")) go(link("state", [object.id], kept()));
      },
    });
    const cells = shown.map((column) => [column, row.values[columns.indexOf(column)]]);
    if (isNarrow) {
      const rest = cells.filter(([column, cell]) => cell.kind !== "null" && !column.isDisplayName && line(cell));
      element.append(h("div", { role: "gridcell" }, h("a", {
        href: link("state", [object.id], kept()), class: "cut card-name",
      }, object.label ?? object.name ?? object.id),
      h("div", { class: "soft cut small" }, rest.map(([column, cell]) => `${plainName(column)} ${line(cell)}`).join(" · "))));
      return element;
    }
    cells.forEach(([column, cell], place) => {
      const isFirst = place === 0;
      const content = isFirst && !column.isRelationship
        ? h("a", { href: link("state", [object.id], kept()), tabindex: "-1" }, line(cell) || object.name || object.id)
        : shortValue(cell);
      content.querySelectorAll?.("a").forEach((each) => each.setAttribute("tabindex", "-1"));
      if (content.matches?.("a")) content.setAttribute("tabindex", "-1");
      element.append(h("div", {
        role: "gridcell", class: numeric.has(column.type) ? "number" : null,
        title: cell.kind === "string" && cell.text.length > 30 ? cell.text.slice(0, 300) : null,
      }, content));
    });
    if (hasReferrers) {
      element.append(h("div", { role: "gridcell", class: "number soft" }, row.referrers ? count(row.referrers) : ""));
    }
    return element;
  }

  return {
    /** Shows what the address says; reads only if it differs. */
    show(newEntity, newSelected) {
      const { where, sort, columns: chosen } = current().query;
      const newKey = JSON.stringify([newEntity, momentKey(), where, sort, chosen]);
      if (newSelected !== selected) {
        selected = newSelected;
        grid.querySelectorAll(".row.object").forEach((row) =>
          row.setAttribute("aria-selected", row.dataset.object === selected ? "true" : "false"));
      }
      if (key?.text === newKey) return;
      const isSameList = entity === newEntity && key?.list === JSON.stringify([where, sort]);
      if (entity !== newEntity) shown = columns = [];
      entity = newEntity;
      key = { text: newKey, list: JSON.stringify([where, sort]), needsColumns: true };
      rows.reset({ keepingPlace: isSameList });
    },
    close() {
      stop();
      rows.close();
    },
  };
}
