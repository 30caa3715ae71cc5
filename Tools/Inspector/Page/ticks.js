// Where the marks of an axis lie: round numbers, or years, months, days and hours of the zone shown.

import { s } from "./dom.js";
import { session } from "./session.js";
import { widthOf } from "./text-width.js";

const second = 1e6;
const dayLength = 86400 * second;

/** Marks of numbers from a through b, at most `most` of them. */
export function numberTicks(from, to, most) {
  const span = Math.max(1, to - from);
  let step = 10 ** Math.floor(Math.log10(span / most));
  for (const factor of [1, 2, 5, 10]) {
    if (span / (step * factor) <= most) {
      step *= factor;
      break;
    }
  }
  step = Math.max(1, step);
  const marks = [];
  for (let place = Math.ceil(from / step) * step; place <= to; place += step) {
    marks.push({ place, text: place.toLocaleString("en") });
  }
  return marks;
}

const months = [1, 2, 3, 6];
const years = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
const shorter = [
  [14 * dayLength, "day"], [7 * dayLength, "day"], [2 * dayLength, "day"], [dayLength, "day"],
  [12 * 3600 * second, "time"], [6 * 3600 * second, "time"], [3 * 3600 * second, "time"], [3600 * second, "time"],
  [1800 * second, "time"], [600 * second, "time"], [300 * second, "time"], [60 * second, "time"],
  [30 * second, "second"], [10 * second, "second"], [5 * second, "second"], [second, "second"],
].reverse();

/** Marks of microseconds since 1970, at most `most` of them. */
export function timeTicks(from, to, most) {
  const least = (to - from) / Math.max(1, most);
  const zone = session.zoneOffset * second;
  if (least <= 14 * dayLength) {
    const [step, kind] = shorter.find(([length]) => length >= least) ?? [14 * dayLength, "day"];
    const marks = [];
    for (let place = Math.ceil((from + zone) / step) * step - zone; place <= to; place += step) {
      marks.push({ place, text: label(place + zone, kind), isStrong: isMidnight(place + zone) });
    }
    // Within one day, the first mark says which.
    if (kind !== "day" && marks.length > 0 && !marks.some((each) => each.isStrong)) {
      marks[0].text = `${new Date((marks[0].place + zone) / 1000).toISOString().slice(0, 10)} ${marks[0].text}`;
    }
    return marks;
  }
  const wanted = least / (30.4 * dayLength);
  const step = months.find((each) => each >= wanted)
    ?? 12 * (years.find((each) => each * 12 >= wanted) ?? 1000);
  const first = new Date((from + zone) / 1000);
  let month = first.getUTCFullYear() * 12 + first.getUTCMonth();
  month = Math.ceil(month / step) * step;
  const marks = [];
  for (; marks.length < most * 3; month += step) {
    const date = new Date(0);
    date.setUTCFullYear(Math.floor(month / 12), ((month % 12) + 12) % 12, 1);
    const place = date.getTime() * 1000 - zone;
    if (place > to || Number.isNaN(place)) break;
    if (place >= from) marks.push({ place, text: monthLabel(date, step), isStrong: month % 12 === 0 });
  }
  return marks;
}

function isMidnight(place) {
  return ((place % dayLength) + dayLength) % dayLength === 0;
}

function label(place, kind) {
  const text = new Date(place / 1000).toISOString();
  if (kind === "day" || isMidnight(place)) return text.slice(0, 10);
  return kind === "time" ? text.slice(11, 16) : text.slice(11, 19);
}

function monthLabel(date, step) {
  const year = date.getUTCFullYear();
  const text = year < 0 ? `-${String(-year).padStart(4, "0")}` : String(year).padStart(4, "0");
  return step >= 12 || date.getUTCMonth() === 0 ? text : `${text}-${String(date.getUTCMonth() + 1).padStart(2, "0")}`;
}

/** The texts of ticks beside their lines, without one that would be cut at the end. */
export function tickTexts(ticks, x, width, y) {
  return ticks.map(({ place, text }) => {
    const left = Math.max(0, x(place) + 3);
    return left + widthOf(text, 11) <= width
      && s("text", { class: "tick-text", x: left, y }, text);
  });
}
