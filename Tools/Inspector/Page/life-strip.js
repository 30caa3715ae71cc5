// The versions of an object as dots on a line of time, in the colours of who wrote them.

import { replace, s } from "./dom.js";
import { hue } from "./session.js";
import * as steps from "./steps.js";
import { day, minutes } from "./values.js";

const height = 30;
const middle = 8.5;

/** Draws the line; a click on a dot shows the state after that version. */
export function drawLifeStrip(element, versions) {
  const width = element.clientWidth;
  if (width === 0 || versions.length === 0) return;
  const times = versions.map(({ header }) => header.us ?? Date.parse(header.timestamp) * 1000);
  const first = Math.min(...times);
  const last = Math.max(...times);
  const x = (time) => 6 + ((time - first) / Math.max(1, last - first)) * (width - 12);
  const date = (time) => day(versions[times.indexOf(time)].header.timestamp);
  replace(element, s("svg", {
    width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true",
  },
  s("line", { class: "axis", x1: 6, x2: width - 6, y1: middle, y2: middle }),
  versions.map(({ header }, place) => dot(header, x(times[place]))),
  s("text", { class: "tick-text", x: 2, y: 26 }, date(first)),
  last - first > 1
    && s("text", { class: "tick-text", x: width - 2, y: 26, "text-anchor": "end" }, date(last))));
}

function dot({ number, author, timestamp }, x) {
  return s("circle", {
    class: `fill hue-${hue(author)}${number > steps.number() ? " later" : ""}`,
    cx: x, cy: middle, r: 4.5, onclick: () => steps.goTo(number, { replacing: false }),
  }, s("title", {}, `${number}, ${minutes(timestamp)}`));
}
