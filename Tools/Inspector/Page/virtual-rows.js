// A list of any length that holds only the rows in view, read by pages as they come into view.

import { debounced, h, observeSize, perFrame, setStyle } from "./dom.js";

/** Browsers draw nothing below some 16 million pixels: longer lists scroll in proportion. */
const mostHeight = 8_000_000;
const pageLength = 60;

/** Rows of one height in a scrolling element. */
export class VirtualRows {
  #options;
  #body;
  #rows = new Map();
  #pages = new Map();
  #requests = new Map();
  #total = 0;
  #generation = 0;
  #top = 0;
  #lastScroll = 0;
  #active = -1;
  #id = `rows${Math.random().toString(36).slice(2)}`;

  /**
   * Options: element (it scrolls), rowHeight, fetchPage(offset, limit, signal) → { rows, total },
   * makeRow(row, index), activate(row, index), failed(error), headerHeight().
   */
  constructor(options) {
    this.#options = options;
    this.#body = h("div", { class: "rows", role: "rowgroup" });
    options.element.append(this.#body);
    options.element.setAttribute("tabindex", "0");
    options.element.addEventListener("scroll", perFrame(() => this.#scrolled()));
    options.element.addEventListener("keydown", (event) => this.#pressed(event));
    this.stopObserving = observeSize(options.element, () => this.#draw());
  }

  get total() { return this.#total; }
  get active() { return this.#active; }

  get rowHeight() { return this.#options.rowHeight; }

  set rowHeight(value) {
    if (value === this.#options.rowHeight) return;
    this.#options.rowHeight = value;
    this.redraw();
  }

  /** Shows another list. With `keepingPlace` the rows in view stay until the new ones are there. */
  async reset({ keepingPlace = false } = {}) {
    this.#generation += 1;
    for (const controller of this.#requests.values()) controller.abort();
    this.#requests.clear();
    const isFirst = !keepingPlace || this.#total === 0;
    if (isFirst) {
      this.#total = 0;
      this.#active = -1;
      this.#top = 0;
      this.#lastScroll = 0;
      this.#options.element.scrollTop = 0;
    }
    const first = isFirst ? 0 : Math.floor(this.#firstVisible() / pageLength);
    const generation = this.#generation;
    this.#options.element.setAttribute("aria-busy", "true");
    const page = await this.#fetch(first, generation, true);
    if (generation !== this.#generation) return;
    this.#options.element.removeAttribute("aria-busy");
    if (!page) return;
    this.#pages.clear();
    this.#pages.set(first, page.rows);
    this.#setTotal(page.total);
    this.redraw();
  }

  /** Makes the rows in view anew from what was read. */
  redraw() {
    for (const row of this.#rows.values()) row.remove();
    this.#rows.clear();
    this.#setTotal(this.#total);
    this.#draw();
  }

  close() {
    this.stopObserving();
    for (const controller of this.#requests.values()) controller.abort();
  }

  async #fetch(page, generation, isFirst = false) {
    const controller = new AbortController();
    controller.isFirst = isFirst;
    this.#requests.set(page, controller);
    try {
      return await this.#options.fetchPage(page * pageLength, pageLength, controller.signal);
    } catch (error) {
      if (!controller.signal.aborted && generation === this.#generation) this.#options.failed(error);
      return null;
    } finally {
      if (this.#requests.get(page) === controller) this.#requests.delete(page);
    }
  }

  #setTotal(total) {
    this.#total = total;
    this.#options.element.setAttribute("aria-rowcount", String(total + 1));
    const height = Math.min(mostHeight, total * this.#options.rowHeight);
    setStyle(this.#body, { height });
  }

  #viewHeight() {
    return Math.max(0, this.#options.element.clientHeight - this.#options.headerHeight());
  }

  #wholeHeight() {
    return this.#total * this.#options.rowHeight;
  }

  #firstVisible() {
    return Math.floor(this.#top / this.#options.rowHeight);
  }

  #scrolled() {
    const { element } = this.#options;
    const scroll = element.scrollTop;
    const whole = this.#wholeHeight();
    const view = this.#viewHeight();
    if (whole <= mostHeight) this.#top = scroll;
    else {
      const distance = scroll - this.#lastScroll;
      const most = mostHeight - view;
      if (scroll <= 0) this.#top = 0;
      else if (scroll >= most - 1) this.#top = whole - view;
      else if (Math.abs(distance) < view * 3) this.#top += distance;
      else this.#top = (scroll / most) * (whole - view);
      this.#top = Math.min(whole - view, Math.max(0, this.#top));
      this.#settle();
    }
    this.#lastScroll = scroll;
    this.#draw();
  }

  /** Puts the scroll bar back into proportion once scrolling by hand has paused. */
  #settle = debounced(200, () => {
    const whole = this.#wholeHeight();
    const view = this.#viewHeight();
    if (whole <= mostHeight) return;
    this.#lastScroll = Math.round((this.#top / (whole - view)) * (mostHeight - view));
    this.#options.element.scrollTop = this.#lastScroll;
    this.#draw();
  });

  #draw() {
    const { rowHeight, element } = this.#options;
    const shift = this.#wholeHeight() > mostHeight ? element.scrollTop - this.#top : 0;
    const first = Math.max(0, this.#firstVisible() - 4);
    const last = Math.min(this.#total, Math.ceil((this.#top + this.#viewHeight()) / rowHeight) + 4);
    for (const [index, row] of this.#rows) {
      if (index < first || index >= last) {
        row.remove();
        this.#rows.delete(index);
      }
    }
    const needed = new Set();
    for (let index = first; index < last; index += 1) {
      const page = Math.floor(index / pageLength);
      const data = this.#pages.get(page)?.[index % pageLength];
      if (!data) needed.add(page);
      let row = this.#rows.get(index);
      if (!row || (data && row.classList.contains("unread"))) {
        row?.remove();
        row = data ? this.#options.makeRow(data, index) : h("div", { class: "unread", role: "row" });
        row.id = `${this.#id}-${index}`;
        row.classList.add("row");
        row.setAttribute("aria-rowindex", String(index + 2));
        this.#rows.set(index, row);
        this.#body.append(row);
      }
      row.classList.toggle("active", index === this.#active);
      setStyle(row, { transform: `translateY(${index * rowHeight + shift}px)`, height: rowHeight });
    }
    for (const [page, controller] of this.#requests) {
      if (!needed.has(page) && !controller.isFirst) controller.abort();
    }
    if (needed.size > 0) this.#read(needed);
    if (this.#pages.size > 200) this.#pages.delete(this.#pages.keys().next().value);
  }

  #read = debounced(40, async (pages) => {
    const generation = this.#generation;
    for (const page of pages) {
      if (this.#pages.has(page) || this.#requests.has(page)) continue;
      this.#fetch(page, generation).then((answer) => {
        if (!answer || generation !== this.#generation) return;
        this.#pages.set(page, answer.rows);
        if (answer.total !== this.#total) this.#setTotal(answer.total);
        this.#draw();
      });
    }
  });

  #pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== this.#options.element) return;
    const view = Math.max(1, Math.floor(this.#viewHeight() / this.#options.rowHeight) - 1);
    const moves = {
      ArrowDown: 1, ArrowUp: -1, j: 1, k: -1, PageDown: view, PageUp: -view,
      Home: -this.#total, End: this.#total,
    };
    if (event.key === "Enter") {
      const row = this.#pages.get(Math.floor(this.#active / pageLength))?.[this.#active % pageLength];
      if (row) this.#options.activate(row, this.#active);
    } else if (event.key in moves) {
      this.activate(this.#active + moves[event.key]);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Makes a row the active one, and brings it into view. */
  activate(index) {
    this.#active = Math.min(this.#total - 1, Math.max(0, index));
    const { rowHeight, element } = this.#options;
    const view = this.#viewHeight();
    const place = this.#active * rowHeight;
    let top = this.#top;
    if (place < top) top = place;
    else if (place + rowHeight > top + view) top = place + rowHeight - view;
    if (top !== this.#top) {
      const whole = this.#wholeHeight();
      this.#top = top;
      this.#lastScroll = whole <= mostHeight ? top : Math.round((top / (whole - view)) * (mostHeight - view));
      element.scrollTop = this.#lastScroll;
    }
    this.#draw();
    element.setAttribute("aria-activedescendant", `${this.#id}-${this.#active}`);
  }
}
