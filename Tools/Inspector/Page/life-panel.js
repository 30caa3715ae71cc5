// The life of one object: every version on a line, newest first, and any two of them compared.

import { changed, current, go } from "./address.js";
import { changeElement, headerLine, sign } from "./change.js";
import { h, observeSize, replace, s } from "./dom.js";
import { ask, Loader } from "./server.js";
import { hue, isAtHead, session } from "./session.js";
import * as steps from "./steps.js";
import { count, counted, minutes } from "./values.js";

const pageLength = 100;
const mostForMoment = 2000;

/** Makes the panel. The versions compared are part of the address: versions=A,B. */
export function createLifePanel(element) {
  const strip = h("div", { class: "life-strip" });
  const comparison = h("div", { class: "life-comparison" });
  const list = h("ol", { class: "versions" });
  const body = h("div", {});
  element.append(body);
  const loader = new Loader(body);
  const comparing = new Loader(comparison);
  let versions = [];
  let older;
  let total = null;
  let scrolledTo = null;
  let object = null;
  let drawnFor;
  const stop = observeSize(strip, () => drawStrip());

  function show(newObject) {
    const isSame = object === newObject;
    object = newObject;
    loader.load(`${object} ${session.head}`, async (signal) => {
      const answer = await ask("life", { object, limit: pageLength, cut: 2000 }, signal);
      ({ versions, older } = answer);
      if (!body.contains(list)) {
        replace(body, h("h3", { class: "soft" }, h("span", { class: "life-title" })), strip, comparison, list);
      }
      total = older ? null : versions.length;
      draw();
      for (let tries = 0; older && (versions.length < pageLength || !hasMoment()) && tries < 60; tries += 1) {
        await readMore(signal);
        signal.throwIfAborted();
      }
      if (older) await countVersions(signal);
    }, { quietly: isSame });
    if (current().query.property !== drawnFor) draw();
    mark();
    compare();
  }

  /** Whether the version that the moment shows was read. */
  function hasMoment() {
    return isAtHead() || versions.length >= mostForMoment || versions.some((each) => each.header.number <= steps.number());
  }

  /** Counts the versions that are not shown, without their texts; there may be too many. */
  async function countVersions(signal) {
    let found = versions.length;
    let before = older;
    for (let tries = 0; before && tries < 8; tries += 1) {
      const answer = await ask("life", { object, before, limit: 500, cut: 1 }, signal);
      found += answer.versions.length;
      before = answer.older;
    }
    total = before ? null : found;
    draw();
  }

  function touches(version, property) {
    return version.base || version.change?.properties.some((each) => each.property === property);
  }

  function draw() {
    const title = body.querySelector(".life-title");
    if (!title) return;
    const { property } = current().query;
    drawnFor = property;
    const shown = versions.filter((each) => !property || touches(each, property));
    const all = total ? counted(total, "version") : `${older ? "more than " : ""}${counted(versions.length, "version")}`;
    replace(title, property ? [`Life of ${property}: ${count(shown.length)} of ${all} `,
      h("a", { href: changed({ property: null }) }, "all")] : `Life: ${all}`);
    replace(list, shown.map(item), older && h("li", {}, h("button", { type: "button", onclick: () => readMore() }, "Older")));
    drawStrip();
    mark();
  }

  /** The search for older versions stops after a while; it goes on from where it stopped. */
  async function readMore(signal) {
    const answer = await ask("life", { object, before: older, limit: pageLength, cut: 2000 }, signal);
    versions = [...versions, ...answer.versions];
    older = answer.older;
    if (!older) total = versions.length;
    draw();
  }

  function item(version) {
    const { header, change } = version;
    const number = header.number;
    return h("li", { "data-number": number, class: "version" },
      h("div", { class: "version-line" },
        change ? sign(change.kind) : h("span", { class: "sign" }, "·"),
        headerLine(header, { isBase: version.base }),
        h("span", { class: "version-actions" },
          h("button", {
            type: "button", class: "plain small", onclick: () => steps.goTo(number, { replacing: false }),
            "aria-label": `Show the state at transaction ${number}`,
          }, "as of"),
          h("button", {
            type: "button", class: "plain small choose", onclick: () => choose(number), "aria-pressed": "false",
            "aria-label": `Compare version ${number} with another`,
          }, "compare"))),
      version.base ? h("p", { class: "soft" }, "The state at the base.") : null,
      change && (change.kind === "delete" && !current().query.property ? null : changeElement(only(change), number, { withObject: false })));
  }

  /** A change with the chosen property alone. */
  function only(change) {
    const { property } = current().query;
    return property ? { ...change, properties: change.properties.filter((each) => each.property === property), more: 0 } : change;
  }

  function chosen() {
    return (current().query.versions ?? "").split(",").filter((each) => /^\d+$/.test(each)).map(Number);
  }

  function choose(number) {
    const now = chosen();
    const next = now.includes(number) ? now.filter((each) => each !== number) : [...now, number].slice(-2);
    go(changed({ versions: next.join(",") || null }), { replacing: true });
  }

  /** Marks the version that is shown at the moment, and those chosen. */
  function mark() {
    const number = steps.number();
    const newest = versions.find((each) => each.header.number <= number);
    const picked = chosen();
    for (const row of list.querySelectorAll(".version")) {
      const own = Number(row.dataset.number);
      const isPresent = own === newest?.header.number;
      row.classList.toggle("present", isPresent);
      if (isPresent) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
      row.classList.toggle("later", own > number);
      const button = row.querySelector(".choose");
      button.setAttribute("aria-pressed", picked.includes(own) ? "true" : "false");
      button.textContent = picked.length === 1 && !picked.includes(own) ? "with this" : "compare";
    }
    drawStrip();
    scrollToPresent();
  }

  /** Brings the version of a moment in the past into sight, once for each moment. */
  function scrollToPresent() {
    const key = isAtHead() ? null : `${object} ${steps.number()}`;
    const row = list.querySelector(".version.present");
    if (key === scrolledTo || (key && !row)) return;
    scrolledTo = key;
    if (key && element.scrollHeight > element.clientHeight) element.scrollTop = row.offsetTop - 60;
  }

  function compare() {
    const picked = chosen().sort((first, second) => first - second);
    if (picked.length < 2) {
      comparing.stop();
      replace(comparison);
      return;
    }
    comparing.load(`${object} ${picked}`, async (signal) => {
      const answer = await ask("version", { object, from: picked[0], to: picked[1], cut: 2000 }, signal);
      replace(comparison, h("h3", {}, `${count(picked[0])} → ${count(picked[1])} `, h("button", {
        type: "button", class: "plain small", onclick: () => go(changed({ versions: null }), { replacing: true }),
      }, "close")),
      answer.change ? changeElement(answer.change, null, { withObject: false })
        : h("p", { class: "soft" }, "Equal."));
    });
  }

  /** The versions as dots on a line of time, in the colours of who wrote them. */
  function drawStrip() {
    const width = strip.clientWidth;
    if (width === 0 || versions.length === 0) return;
    const times = versions.map((each) => each.header.us ?? Date.parse(each.header.timestamp) * 1000);
    const from = Math.min(...times);
    const span = Math.max(1, Math.max(...times) - from);
    const x = (time) => 6 + ((time - from) / span) * (width - 12);
    const number = steps.number();
    const isOne = span === 1;
    replace(strip, s("svg", { width, height: 30, viewBox: `0 0 ${width} 30`, "aria-hidden": "true" },
      s("line", { class: "axis", x1: 6, x2: width - 6, y1: 8.5, y2: 8.5 }),
      versions.map((each, place) => s("circle", {
        class: `fill hue-${hue(each.header.author)}${each.header.number > number ? " later" : ""}`,
        cx: x(times[place]), cy: 8.5, r: 4.5, onclick: () => steps.goTo(each.header.number, { replacing: false }),
      }, s("title", {}, `${each.header.number}, ${minutes(each.header.timestamp)}`))),
      s("text", { class: "tick-text", x: 2, y: 26 }, minutes(versions[times.indexOf(from)].header.timestamp).slice(0, 10)),
      !isOne && s("text", { class: "tick-text", x: width - 2, y: 26, "text-anchor": "end" },
        minutes(versions[times.indexOf(Math.max(...times))].header.timestamp).slice(0, 10))));
  }

  return { show, close: () => { stop(); loader.stop(); comparing.stop(); } };
}
