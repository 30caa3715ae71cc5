// The widths of a table's columns: as they were dragged, otherwise as their first values need.

import { setStyle } from "./dom.js";
import { plainName } from "./values.js";

/** Columns are not narrowed below this to make room for others, in pixels. */
const narrowest = 130;
const referrersWidth = 84;
const keyOf = (entity) => `widths ${entity}`;

export class ColumnWidths {
  #grid;
  #entity;
  #columns = [];
  #hasReferrers = false;
  #widths = {};

  constructor(grid) {
    this.#grid = grid;
  }

  of(column) {
    return this.#widths[column.name];
  }

  /** Sets the widths of the columns that are shown; `textsOf(column)` are its first values. */
  set(entity, columns, { textsOf, hasReferrers }) {
    this.#entity = entity;
    this.#columns = columns;
    this.#hasReferrers = hasReferrers;
    const saved = JSON.parse(localStorage.getItem(keyOf(entity)) ?? "{}");
    for (const column of columns) {
      this.#widths[column.name] = saved[column.name] ?? this.#measured(column, textsOf(column));
    }
    this.#fit(columns.map((each) => each.name).filter((name) => !saved[name]));
    this.#apply();
  }

  resize(column, width) {
    const em = parseFloat(getComputedStyle(document.documentElement).fontSize);
    this.#widths[column.name] = Math.round(Math.min(30 * em, Math.max(3 * em, width)));
    localStorage.setItem(keyOf(this.#entity), JSON.stringify(this.#widths));
    this.#apply();
  }

  #sum() {
    const start = this.#hasReferrers ? referrersWidth : 0;
    return this.#columns.reduce((sum, each) => sum + this.of(each), start);
  }

  /** Narrows the widest columns, if all of them can be seen then. */
  #fit(names) {
    const widths = this.#widths;
    let excess = this.#sum() + 8 - this.#grid.clientWidth;
    const room = names.reduce((sum, name) => sum + Math.max(0, widths[name] - narrowest), 0);
    if (excess <= 0 || excess > room) return;
    while (excess > 0) {
      const widest = names.reduce((most, name) => (widths[name] > widths[most] ? name : most));
      widths[widest] -= 4;
      excess -= 4;
    }
  }

  /** The width that a column's name and first values take, at most 26 em. */
  #measured(column, texts) {
    const style = getComputedStyle(this.#grid);
    const context = document.createElement("canvas").getContext("2d");
    context.font = `${style.fontSize} ${style.fontFamily}`;
    const widest = Math.max(...[`${plainName(column)} ↓`, ...texts].map((each) =>
      context.measureText(each).width));
    const most = parseFloat(style.fontSize) * 26;
    return Math.round(Math.min(most, Math.max(40, widest + 24)));
  }

  #apply() {
    const all = this.#columns.map((each) => `${this.of(each)}px`);
    if (this.#hasReferrers) all.push("6em");
    setStyle(this.#grid, { "--columns": all.join(" "), "--width": `${this.#sum()}px` });
  }
}
