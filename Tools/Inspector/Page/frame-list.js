// The regions of the file one after another: a part of the list around the one that is shown.

import { h, replace } from "./dom.js";
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

/** Makes the list; `choose` is called with the offset of the region to show. */
export function createFrameList(element, { choose }) {
  const list = h("ol", { class: "regions" });
  const before = h("div", { class: "foot", hidden: true });
  const after = h("div", { class: "foot" });
  element.append(before, list, after);
  const loader = new Loader(list);
  let first = null;
  let end = 0;
  let next;
  let marked = null;
  let size = null;
  let isReading = false;

  const watcher = new IntersectionObserver((entries) => {
    if (entries.some((each) => each.isIntersecting)) more();
  }, { root: element, rootMargin: "400px" });
  watcher.observe(after);

  function show(offset) {
    const isShown = first !== null && offset >= first && offset < end && size === session.size;
    if (isShown) return;
    size = session.size;
    loader.load(`${offset} ${size}`, async (signal) => {
      const answer = await ask("frames", { from: offset < 200_000 ? 0 : offset, limit: pageLength }, signal);
      replace(list, answer.regions.map(item));
      first = answer.regions[0]?.offset ?? 0;
      end = limit(answer.regions) ?? 0;
      next = answer.next;
      showEnds(answer);
      if (end <= offset && next !== undefined) await more();
      mark(marked ?? offset);
    }, { quietly: list.children.length > 0 });
  }

  function limit(regions) {
    const last = regions.at(-1);
    return last && last.offset + last.length;
  }

  async function more() {
    if (isReading || next === undefined || list.children.length >= mostShown) return;
    isReading = true;
    try {
      const answer = await ask("frames", { from: next, limit: pageLength });
      list.append(...answer.regions.map(item));
      end = limit(answer.regions) ?? end;
      next = answer.next;
      showEnds(answer);
      mark(marked);
    } catch (error) {
      replace(after, failure(error, more));
    } finally {
      isReading = false;
    }
  }

  function showEnds(answer) {
    before.hidden = !first;
    replace(before, h("button", { type: "button", class: "plain", onclick: earlier }, "Earlier"));
    replace(after, next !== undefined ? [h("button", {
      type: "button", class: "plain", onclick: () => {
        if (list.children.length >= mostShown) choose(next);
        else more();
      },
    }, "Later")] : h("p", { class: answer.damage ? "bad prose" : "soft prose" },
      answer.damage ?? (Number(answer.end) < answer.size ? `The log ends at ${count(Number(answer.end))}.` : "The file ends here.")));
  }

  async function earlier() {
    const answer = await ask("frames", { from: Math.max(0, first - reach), to: first, limit: 2000 });
    const added = answer.regions.filter((each) => each.offset < first);
    if (added.length === 0) return;
    const height = element.scrollHeight;
    list.prepend(...added.map(item));
    element.scrollTop += element.scrollHeight - height;
    [{ offset: first }] = added;
    before.hidden = first === 0;
    mark(marked);
  }

  function item(region) {
    const isBad = region.isOk === false;
    const { first, last } = numbersOf(region);
    const numbers = first === undefined ? "" : first === last ? count(first) : `${count(first)}–${count(last)}`;
    return h("li", {}, h("button", {
      type: "button", class: `plain region-row${isBad ? " bad" : ""}`, "data-offset": region.offset,
      onclick: () => choose(region.offset), title: region.summary ?? region.kind,
    },
    h("span", { class: "number soft" }, count(region.offset)),
    h("span", { class: `swatch hue-${isBad ? "bad" : kindHue(region.kind)}`, "aria-hidden": "true" }),
    h("span", { class: "cut" }, region.kind, numbers && h("span", { class: "soft" }, ` ${numbers}`)),
    h("span", { class: "number" }, isBad ? "not in order" : bytes(region.length))));
  }

  function mark(offset) {
    marked = offset;
    for (const row of list.querySelectorAll(".region-row")) {
      const isMarked = Number(row.dataset.offset) === offset;
      if (isMarked && !row.hasAttribute("aria-current")) row.scrollIntoView({ block: "nearest" });
      if (isMarked) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    }
  }

  return {
    show,
    mark,
    close() {
      watcher.disconnect();
      loader.stop();
    },
  };
}
