// The regions of the file one after another: a part of the list around the one that is shown.

import { h, observeEnd, plainButton, replace, setCurrent } from "./dom.js";
import { ask, failure, Loader } from "./server.js";
import { session } from "./session.js";
import { kindHue } from "./strip.js";
import { bytes, count } from "./values.js";

const pageLength = 200;
const mostShown = 2000;
const reach = 100_000;

/** The transactions of a region, from its own words. */
export function numbersOf(region) {
  const said = region.summary ?? (region.details ?? []).map((each) => `${each.name} ${each.value}`).join(", ");
  const found = /(?:^|, )(?:first )?number (\d+)(?:, last number (\d+))?/.exec(said);
  if (!found || !/^(transaction|block|checkpoint)/.test(region.kind)) return {};
  return { first: Number(found[1]), last: Number(found[2] ?? found[1]) };
}

/** The list of regions; `choose` is called with the offset of the one to show. */
export class FrameList {
  #element;
  #choose;
  #list = h("ol", { class: "regions" });
  #before = h("div", { class: "foot", hidden: true });
  #after = h("div", { class: "foot" });
  #loader = new Loader(this.#list);
  #stop;
  #first = null;
  #end = 0;
  #next;
  #marked = null;
  #size = null;
  #isReading = false;

  constructor(element, { choose }) {
    this.#element = element;
    this.#choose = choose;
    element.append(this.#before, this.#list, this.#after);
    this.#stop = observeEnd(element, this.#after, 400, () => this.#readMore());
  }

  show(offset) {
    const { size } = session;
    const isListed = this.#first !== null && offset >= this.#first && offset < this.#end;
    if (isListed && size === this.#size) return;
    this.#size = size;
    this.#loader.load(`${offset} ${size}`, async (signal) => {
      const from = offset < 200_000 ? 0 : offset;
      const answer = await ask("frames", { from, limit: pageLength }, signal);
      replace(this.#list);
      this.#first = answer.regions[0]?.offset ?? 0;
      this.#end = 0;
      this.#add(answer);
      if (this.#end <= offset && this.#next !== undefined) await this.#readMore();
      this.mark(this.#marked ?? offset);
    }, { quietly: this.#list.children.length > 0 });
  }

  mark(offset) {
    this.#marked = offset;
    for (const row of this.#list.querySelectorAll(".region-row")) {
      const isMarked = Number(row.dataset.offset) === offset;
      const isNew = isMarked && !row.hasAttribute("aria-current");
      if (isNew) row.scrollIntoView({ block: "nearest" });
      setCurrent(row, isMarked);
    }
  }

  close() {
    this.#stop();
    this.#loader.stop();
  }

  #isFull() {
    return this.#list.children.length >= mostShown;
  }

  #add(answer) {
    const { regions, next } = answer;
    this.#list.append(...regions.map((each) => this.#item(each)));
    const last = regions.at(-1);
    if (last) this.#end = last.offset + last.length;
    this.#next = next;
    this.#showEnds(answer);
  }

  async #readMore() {
    if (this.#isReading || this.#next === undefined || this.#isFull()) return;
    this.#isReading = true;
    try {
      this.#add(await ask("frames", { from: this.#next, limit: pageLength }));
      this.mark(this.#marked);
    } catch (error) {
      replace(this.#after, failure(error, () => this.#readMore()));
    } finally {
      this.#isReading = false;
    }
  }

  #showEnds({ damage, end, size }) {
    this.#before.hidden = !this.#first;
    replace(this.#before, plainButton("Earlier", () => this.#readEarlier()));
    const ending = damage ?? (Number(end) < size ? `The log ends at ${count(Number(end))}.`
      : "The file ends here.");
    replace(this.#after, this.#next !== undefined
      ? plainButton("Later", () => (this.#isFull() ? this.#choose(this.#next) : this.#readMore()))
      : h("p", { class: damage ? "bad prose" : "soft prose" }, ending));
  }

  async #readEarlier() {
    const first = this.#first;
    const from = Math.max(0, first - reach);
    const { regions } = await ask("frames", { from, to: first, limit: 2000 });
    const added = regions.filter((each) => each.offset < first);
    if (added.length === 0) return;
    const height = this.#element.scrollHeight;
    this.#list.prepend(...added.map((each) => this.#item(each)));
    this.#element.scrollTop += this.#element.scrollHeight - height;
    this.#first = added[0].offset;
    this.#before.hidden = this.#first === 0;
    this.mark(this.#marked);
  }

  #item(region) {
    const { offset, length, kind, summary = kind } = region;
    const isBad = region.isOk === false;
    const { first, last } = numbersOf(region);
    const numbers = first === last ? count(first) : `${count(first)}–${count(last)}`;
    return h("li", {}, h("button", {
      type: "button", class: `plain region-row${isBad ? " bad" : ""}`, "data-offset": offset,
      onclick: () => this.#choose(offset), title: summary,
    },
    h("span", { class: "number soft" }, count(offset)),
    h("span", { class: `swatch hue-${isBad ? "bad" : kindHue(kind)}`, "aria-hidden": "true" }),
    h("span", { class: "cut" }, kind,
      first !== undefined && h("span", { class: "soft" }, ` ${numbers}`)),
    h("span", { class: "number" }, isBad ? "not in order" : bytes(length))));
  }
}
