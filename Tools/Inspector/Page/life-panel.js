// The life of one object: every version on a line, newest first, and any two of them compared.

import { changed, current } from "./address.js";
import { changeElement, headerLine, onlyProperty, sign } from "./change.js";
import { button, h, observeSize, replace, setCurrent } from "./dom.js";
import { drawLifeStrip } from "./life-strip.js";
import { ask, Loader } from "./server.js";
import { isAtHead, session } from "./session.js";
import * as steps from "./steps.js";
import { count, counted } from "./values.js";
import { chosenVersions, createComparison, toggleVersion } from "./version-comparison.js";

const pageLength = 100;
const mostForMoment = 2000;

/** The versions of the object that is asked for, or those of one of its properties. */
export class LifePanel {
  #element;
  #title = h("span", { class: "life-title" });
  #strip = h("div", { class: "life-strip" });
  #comparisonPlace = h("div", { class: "life-comparison" });
  #list = h("ol", { class: "versions" });
  #body = h("div", {});
  #loader = new Loader(this.#body);
  #comparison = createComparison(this.#comparisonPlace);
  #stop;
  #object = null;
  #versions = [];
  #older;
  /** How many versions there are; null if that is not known. */
  #total = null;
  #scrolledTo = null;
  #drawnProperty;

  constructor(element) {
    this.#element = element;
    element.append(this.#body);
    this.#stop = observeSize(this.#strip, () => drawLifeStrip(this.#strip, this.#versions));
  }

  show(object) {
    const isSame = object === this.#object;
    this.#object = object;
    this.#loader.load(`${object} ${session.head}`, (signal) => this.#read(signal), {
      quietly: isSame,
    });
    if (current().query.property !== this.#drawnProperty) this.#draw();
    this.#mark();
    this.#comparison.show(object);
  }

  close() {
    this.#stop();
    this.#loader.stop();
    this.#comparison.close();
  }

  async #read(signal) {
    await this.#readPage([], undefined, signal);
    for (let tries = 0; this.#older && this.#isShort() && tries < 60; tries += 1) {
      await this.#readPage(this.#versions, this.#older, signal);
      signal.throwIfAborted();
    }
    if (this.#older) await this.#countVersions(signal);
  }

  /** The search for older versions stops after a while; it goes on from where it stopped. */
  async #readPage(newer, before, signal) {
    const question = { object: this.#object, before, limit: pageLength, cut: 2000 };
    const answer = await ask("life", question, signal);
    this.#versions = [...newer, ...answer.versions];
    this.#older = answer.older;
    if (!this.#older) this.#total = this.#versions.length;
    else if (before === undefined) this.#total = null;
    if (!this.#body.contains(this.#list)) {
      replace(this.#body, h("h3", { class: "soft" }, this.#title),
        this.#strip, this.#comparisonPlace, this.#list);
    }
    this.#draw();
  }

  /** Whether there is not a page yet, or the version that the moment shows was not read. */
  #isShort() {
    const versions = this.#versions;
    const hasMoment = isAtHead() || versions.length >= mostForMoment
      || versions.some((each) => each.header.number <= steps.number());
    return versions.length < pageLength || !hasMoment;
  }

  /** Counts the versions that are not shown, without their texts; there may be too many. */
  async #countVersions(signal) {
    let found = this.#versions.length;
    let before = this.#older;
    for (let tries = 0; before && tries < 8; tries += 1) {
      const question = { object: this.#object, before, limit: 500, cut: 1 };
      const answer = await ask("life", question, signal);
      found += answer.versions.length;
      before = answer.older;
    }
    this.#total = before ? null : found;
    this.#draw();
  }

  #draw() {
    if (!this.#body.contains(this.#list)) return;
    const { property } = current().query;
    this.#drawnProperty = property;
    const shown = this.#versions.filter((each) => !property || touches(each, property));
    const all = counted(this.#total ?? this.#versions.length, "version");
    const text = this.#older && !this.#total ? `more than ${all}` : all;
    replace(this.#title, property ? [`Life of ${property}: ${count(shown.length)} of ${text} `,
      h("a", { href: changed({ property: null }) }, "all")] : `Life: ${text}`);
    const more = () => this.#readPage(this.#versions, this.#older);
    replace(this.#list, shown.map(item), this.#older
      && h("li", {}, button("Older", more)));
    this.#mark();
  }

  /** Marks the version that is shown at the moment, and those chosen. */
  #mark() {
    const number = steps.number();
    const newest = this.#versions.find((each) => each.header.number <= number);
    const chosen = chosenVersions();
    for (const row of this.#list.querySelectorAll(".version")) {
      const own = Number(row.dataset.number);
      const isPresent = own === newest?.header.number;
      row.classList.toggle("present", isPresent);
      setCurrent(row, isPresent);
      row.classList.toggle("later", own > number);
      const isChosen = chosen.includes(own);
      const button = row.querySelector(".choose");
      button.setAttribute("aria-pressed", isChosen ? "true" : "false");
      button.textContent = chosen.length === 1 && !isChosen ? "with this" : "compare";
    }
    drawLifeStrip(this.#strip, this.#versions);
    this.#scrollToPresent();
  }

  /** Brings the version of a moment in the past into sight, once for each moment. */
  #scrollToPresent() {
    const key = isAtHead() ? null : `${this.#object} ${steps.number()}`;
    const row = this.#list.querySelector(".version.present");
    if (key === this.#scrolledTo || (key && !row)) return;
    this.#scrolledTo = key;
    const { scrollHeight, clientHeight } = this.#element;
    if (key && scrollHeight > clientHeight) this.#element.scrollTop = row.offsetTop - 60;
  }
}

function touches({ base, change }, property) {
  return base || change?.properties.some((each) => each.property === property);
}

function item({ header, change, base }) {
  const { number } = header;
  const { property } = current().query;
  const hasChange = change && (change.kind !== "delete" || property);
  return h("li", { "data-number": number, class: "version" },
    h("div", { class: "version-line" },
      change ? sign(change.kind) : h("span", { class: "sign" }, "·"),
      headerLine(header, { isBase: base }),
      h("span", { class: "version-actions" },
        button("as of", () => steps.goTo(number, { replacing: false }), {
          class: "plain small", "aria-label": `Show the state at transaction ${number}`,
        }),
        button("compare", () => toggleVersion(number), {
          class: "plain small choose", "aria-label": `Compare version ${number} with another`,
        }))),
    base && h("p", { class: "soft" }, "The state at the base."),
    hasChange && changeElement(onlyProperty(change, property), number, { withObject: false }));
}
