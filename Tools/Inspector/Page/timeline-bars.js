// The bars of a timeline with their labels, in the lanes of their groups.

import { s } from "./dom.js";
import { fitted, widthOf } from "./text-width.js";
import { labelSize } from "./timeline-lanes.js";

const laneHeight = 19;
const barHeight = 13;
const titleHeight = 21;

/** Where the lanes of each group begin, from how many lanes each has, and the height of all. */
export function groupTops(lanes) {
  const tops = [];
  let height = 0;
  for (const count of lanes) {
    height += lanes.length > 1 ? titleHeight : 6;
    tops.push(height);
    height += count * laneHeight + 3;
  }
  return { tops, height: height + 8 };
}

/** The title of a group, above its lanes, and a line between it and the group before. */
export function groupTitle(name, top, isFirst, width) {
  const y = top - titleHeight + 1.5;
  return [
    !isFirst && s("line", { class: "group-line", x1: 0, x2: width, y1: y, y2: y }),
    s("text", { class: "group-title", x: 4, y: top - 6 }, name || "none"),
  ];
}

/** One of the bars. `x(time)` is a place in a picture of some width; null outside of it. */
export function barElement(bars, index, { x, width, tops, lit }) {
  const bar = bars[index];
  const isSingle = bar.kind === "single";
  const left = x(bar.startUs);
  const right = isSingle ? left : x(bar.endUs);
  if (right < -400 || left > width + 20) return null;
  const y = (tops[bar.place] ?? 0) + bar.lane * laneHeight;
  const start = Math.max(-10, left);
  const end = Math.min(width + 10, right);
  return s("g", {
    class: `bar-${bar.kind} hue-${(bar.place % 8) + 1}${index === lit ? " lit" : ""}`,
    "data-index": index,
  }, shape(bar.kind, { left, start, end, y, width }), label(bar.label ?? "", {
    y, start,
    own: isSingle ? 0 : end - Math.max(0, start) - 12,
    beside: isSingle ? left + 8 : Math.max(end + 4, 4),
    next: nextStart(bars, index, x) ?? width,
  }));
}

function shape(kind, { left, start, end, y, width }) {
  const middle = y + barHeight / 2;
  const bottom = y + barHeight;
  if (kind === "single") return s("circle", { class: "fill", cx: left, cy: middle, r: 4 });
  if (kind !== "ongoing") {
    const own = Math.max(2, end - start);
    return s("rect", { class: "fill", x: start, y, width: own, height: barHeight, rx: 2 });
  }
  const tip = Math.max(start + 8, Math.min(width - 2, end));
  return s("polygon", {
    class: "fill",
    points: [
      [start, y], [tip - 7, y], [tip, middle], [tip - 7, bottom], [start, bottom],
    ].join(" "),
  });
}

/** The label inside its bar if it fits there, or if there is more room than beside it. */
function label(text, { y, start, own, beside, next }) {
  const room = next - beside - 10;
  const isInside = own > 0 && (widthOf(text, labelSize) <= own || own > room);
  const shown = fitted(text, isInside ? own : room, labelSize);
  const x = isInside ? Math.max(4, start + 5) : beside;
  return shown
    ? s("text", { class: isInside ? "inside" : "beside", x, y: y + 10.5 }, shown) : null;
}

/** Where the next bar of the same lane begins. */
function nextStart(bars, index, x) {
  const { lane, place } = bars[index];
  for (let other = index + 1; other < bars.length; other += 1) {
    if (bars[other].lane === lane && bars[other].place === place) return x(bars[other].startUs);
  }
  return undefined;
}
