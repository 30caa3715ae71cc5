// The objects of one entity at the moment, as a table with chosen and sized columns.

import { current, go } from "./address.js";
import { ColumnWidths } from "./column-widths.js";
import { h, notice, observeSize, replace } from "./dom.js";
import { ask, failure } from "./server.js";
import { at, momentKey } from "./session.js";
import { addressOfRow, cardCell, headerCells, rowCells } from "./table-cells.js";
import { count, line } from "./values.js";
import { VirtualRows } from "./virtual-rows.js";

/** The table of the entity, moment, condition, order and columns that are asked for. */
export class StateTable {
  #options;
  #header = h("div", { class: "head", role: "row", "aria-rowindex": "1" });
  #grid = h("div", {
    class: "grid", role: "grid", "aria-label": "Objects", "data-first": true,
  }, this.#header);
  #message = h("div", { class: "grid-message" });
  #widths = new ColumnWidths(this.#grid);
  #rows;
  #stop;
  #columns = [];
  #shown = [];
  #entity = null;
  #selected = null;
  #key = null;
  #isNarrow = false;
  #hasReferrers = false;
  #firstAnswer = null;

  /** Options: answered(answer, columns, shown) with each first page, refused(error). */
  constructor(element, options) {
    this.#options = options;
    element.append(this.#grid, this.#message);
    this.#rows = new VirtualRows({
      element: this.#grid,
      rowHeight: this.#rowHeight(),
      headerHeight: () => (this.#isNarrow ? 0 : this.#header.offsetHeight),
      fetchPage: (offset, limit, signal) => this.#fetchPage(offset, limit, signal),
      makeRow: (row) => this.#makeRow(row),
      activate: (row) => go(addressOfRow(row)),
      failed: (error) => this.#failed(error),
    });
    this.#stop = observeSize(element, (width) => this.#resized(width));
  }

  /** Shows what the address says; reads only if it differs. */
  show(entity, selected) {
    const { where, sort, columns } = current().query;
    const key = JSON.stringify([entity, momentKey(), where, sort, columns]);
    if (selected !== this.#selected) this.#select(selected);
    if (this.#key?.text === key) return;
    const list = JSON.stringify([where, sort]);
    const isSameList = entity === this.#entity && this.#key?.list === list;
    if (entity !== this.#entity) this.#shown = this.#columns = [];
    this.#entity = entity;
    this.#key = { text: key, list, needsColumns: true };
    this.#rows.reset({ keepingPlace: isSameList });
  }

  focus() {
    this.#grid.focus();
  }

  /** Makes another row the active one, as an arrow does. */
  move(distance) {
    this.#grid.focus();
    this.#rows.activate(this.#rows.active + distance);
  }

  close() {
    this.#stop();
    this.#rows.close();
  }

  #select(selected) {
    this.#selected = selected;
    for (const row of this.#grid.querySelectorAll(".row.object")) {
      row.setAttribute("aria-selected", row.dataset.object === selected ? "true" : "false");
    }
  }

  #rowHeight() {
    const single = parseFloat(getComputedStyle(document.documentElement).fontSize) * 2;
    return Math.round(this.#isNarrow ? single * 1.75 : single);
  }

  #resized(width) {
    this.#isNarrow = width < 480;
    this.#grid.classList.toggle("cards", this.#isNarrow);
    this.#rows.rowHeight = this.#rowHeight();
    if (this.#firstAnswer) this.#setWidths();
  }

  async #fetchPage(offset, limit, signal) {
    const { where, sort, columns } = current().query;
    const entity = this.#entity;
    const answer = await ask("table", {
      entity, at: at(), where, sort, columns, offset, limit, referrers: 1,
    }, signal);
    this.#grid.hidden = false;
    replace(this.#message);
    if (this.#shown.length === 0 || this.#key?.needsColumns) this.#arrange(answer, columns);
    this.#options.answered(answer, this.#columns, this.#shown);
    if (answer.total === 0) {
      const none = `None of the ${count(answer.all)} objects meets the condition.`;
      replace(this.#message, answer.all > 0 ? notice("", "None matches", none)
        : notice("", `No ${entity}`, "There is none at this moment."));
    }
    return answer;
  }

  #failed(error) {
    this.#grid.hidden = true;
    this.#key = null;
    const { parameter } = error;
    this.#options.refused(parameter === "where" || parameter === "sort" ? error : null);
    replace(this.#message, parameter === "where"
      ? notice("", "Nothing to show", "The condition above cannot be read yet.") : failure(error));
  }

  /** Chooses columns: those asked for, otherwise those with a value among the first rows. */
  #arrange(answer, chosen) {
    if (this.#key) this.#key.needsColumns = false;
    const names = (columns) => columns.map((each) => each.name);
    const isSame = names(this.#columns).join() === names(answer.columns).join();
    const filled = new Set(isSame ? names(this.#shown) : []);
    this.#columns = answer.columns;
    answer.rows.forEach((row) => row.values.forEach((cell, place) => {
      if (cell.kind !== "null") filled.add(this.#columns[place].name);
    }));
    this.#shown = chosen ? this.#columns : this.#columns.filter((each) =>
      filled.has(each.name) || each.isKey || each.isDisplayName);
    this.#hasReferrers = answer.rows.some((row) => row.referrers > 0);
    this.#firstAnswer = answer;
    this.#setWidths();
    replace(this.#header, headerCells(this.#shown, this.#widths, this.#hasReferrers));
  }

  #setWidths() {
    const first = this.#firstAnswer.rows.slice(0, 60);
    this.#widths.set(this.#entity, this.#shown, {
      hasReferrers: this.#hasReferrers,
      textsOf: (column) => {
        const place = this.#columns.indexOf(column);
        return first.map((row) => line(row.values[place]).slice(0, 80));
      },
    });
  }

  #makeRow(row) {
    const { id } = row.object;
    const cells = this.#shown.map((column) => [column, row.values[this.#columns.indexOf(column)]]);
    return h("div", {
      role: "row", class: "object", "aria-selected": id === this.#selected ? "true" : "false",
      "data-object": id, onclick: (event) => {
        if (!event.target.closest("a")) go(addressOfRow(row));
      },
    }, this.#isNarrow ? cardCell(row, cells) : rowCells(row, cells, this.#hasReferrers));
  }
}
