// The density of transactions as bars in the colours of their authors, with an axis below.

import { replace, s } from "./dom.js";
import { hue } from "./session.js";
import { numberTicks, tickTexts, timeTicks } from "./ticks.js";

const height = 40;
const axisHeight = 16;

/** Draws a density document. One path for each colour, so that a thousand bars are nine elements. */
export function drawDensity(element, density, width) {
  const { buckets, from, to } = density;
  const greatest = Math.max(4, ...buckets.map((bucket) => bucket.count));
  const paths = Array.from({ length: 9 }, () => []);
  const step = width / Math.max(1, buckets.length);
  const bar = Math.max(1, Math.min(8, step - (step > 3 ? 1 : 0)));
  buckets.forEach((bucket, place) => {
    if (bucket.count === 0) return;
    const whole = Math.max(3, Math.sqrt(bucket.count / greatest) * (height - 2));
    const x = (place * step + (step - bar) / 2).toFixed(2);
    let y = height;
    bucket.authors.forEach((each, index) => {
      if (each === 0) return;
      const part = whole * (each / bucket.count);
      y -= part;
      paths[hue(density.authors[index])].push(`M${x} ${y.toFixed(2)}h${bar.toFixed(2)}v${part.toFixed(2)}h-${bar.toFixed(2)}z`);
    });
  });
  const most = Math.max(2, Math.floor(width / 90));
  const ticks = density.total === 0 ? [] : density.by === "time" ? timeTicks(from, to, most) : numberTicks(from, to, most);
  const x = (place) => ((place - from) / (to - from)) * width;
  replace(element, s("svg", {
    width, height: height + axisHeight, viewBox: `0 0 ${width} ${height + axisHeight}`, "aria-hidden": "true",
  },
  ticks.map((tick) => s("line", { class: "tick", x1: x(tick.place), x2: x(tick.place), y1: 0, y2: height + 4 })),
  paths.map((path, place) => path.length > 0 && s("path", { class: `fill hue-${place}`, d: path.join("") })),
  s("line", { class: "axis", x1: 0, x2: width, y1: height + 0.5, y2: height + 0.5 }),
  tickTexts(ticks, x, width, height + 13)));
}
