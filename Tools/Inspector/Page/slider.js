// The time slider: the density of transactions over the whole width, and the moment that every view shows.

import { changed, current, go, rangeOf } from "./address.js";
import { h, observeSize, plainButton, replace, setStyle } from "./dom.js";
import { momentField, showMomentField } from "./moment-field.js";
import { askUntilWhole, Loader } from "./server.js";
import { foundDamage, isAtHead, observe, resolveMoment, session } from "./session.js";
import { drawDensity } from "./slider-picture.js";
import { listenToPointer } from "./slider-pointer.js";
import * as steps from "./steps.js";
import { minutes, transactionLink, who } from "./values.js";

const picture = h("div", { class: "density" });
const shade = h("div", { class: "shade" });
const handle = h("div", { class: "handle" });
const second = h("div", { class: "second", hidden: true });
const brush = h("div", { class: "brush", hidden: true });
const hover = h("div", { class: "hover", hidden: true });
const track = h("div", {
  class: "track", role: "slider", tabindex: "0", "aria-label": "Moment", "aria-orientation": "horizontal",
}, picture, shade, second, handle, brush, hover);
const readout = h("div", { class: "readout" });
const loader = new Loader(picture);

let density = null;
let width = 0;

/** Puts the slider into its place and follows address, store and size. */
export function install(element) {
  element.append(h("div", { class: "slider-bar" }, controls(), momentField, readout, scales()), track);
  observeSize(track, (newWidth) => {
    width = newWidth;
    if (density) {
      drawDensity(picture, density, width);
      showMoment();
    }
    load();
  });
  observe((what) => {
    if (what === "authors" && density) drawDensity(picture, density, width);
    if (what === "head" || what === "overview" || what === "file") load();
    if (what === "moment" || what === "live") showMoment();
  });
  listenToPointer({
    track, handle, shade, brush, hover, isByTime, numberAt, zoomTo, zoomBy, pan,
    get density() { return density; },
    get width() { return width; },
  });
}

function controls() {
  const step = (text, name, action) =>
    plainButton(text, action, { "aria-label": name, title: name });
  return h("div", { class: "steps" },
    step("«", "Day before ({)", () => steps.byDay(-1)),
    step("‹", "Transaction before ([)", () => steps.byTransaction(-1)),
    step("›", "Next transaction (])", () => steps.byTransaction(1)),
    step("»", "Next day (})", () => steps.byDay(1)));
}

let axisButton;
let wholeButton;
let headButton;

function scales() {
  axisButton = plainButton(null, toggleAxis, { title: "Time or number (x)" });
  wholeButton = plainButton("Whole history", () => go(changed({ zoom: null })), {
    title: "Whole history (-)",
  });
  headButton = plainButton("Newest", () => go(changed({ at: null })), { title: "Newest state (h)" });
  return h("div", { class: "scales" }, headButton, wholeButton, axisButton);
}

export function toggleAxis() {
  go(changed({ axis: isByTime() ? "number" : null, zoom: null }), { replacing: true });
}

function isByTime() {
  return current().query.axis !== "number";
}

function zoom() {
  return rangeOf(current().query.zoom);
}

/** Shows the address: the moment at once, the density if the zoom changed. */
export async function show() {
  load();
  showMoment();
  try {
    await resolveMoment();
  } catch (error) {
    session.moment = null;
    replace(readout, h("span", { class: "soft" }, error.message));
  }
}

function load() {
  if (width === 0 || !session.overview) return;
  const range = zoom() ?? {};
  const by = isByTime() ? "time" : "number";
  const buckets = Math.max(20, Math.min(1000, Math.floor(width / 4)));
  loader.load(JSON.stringify([by, range, buckets, session.head]), (signal) =>
    askUntilWhole("density", { by, ...range, buckets }, signal, (answer) => {
      density = answer;
      drawDensity(picture, density, width);
      track.classList.toggle("zoomed", zoom() !== null);
      showMoment();
    }), { quietly: true, failed: showDamage });
}

/** There is no room for a notice in the slider: damage is told above the view. */
function showDamage(error) {
  if (error.status !== 422) return false;
  replace(picture);
  foundDamage(error);
  return true;
}

function showMoment() {
  showMomentField();
  wholeButton.hidden = zoom() === null;
  headButton.hidden = isAtHead();
  axisButton.textContent = isByTime() ? "by time" : "by number";
  const number = steps.number();
  track.setAttribute("aria-valuemin", session.base);
  track.setAttribute("aria-valuemax", session.head);
  track.setAttribute("aria-valuenow", number);
  const moment = session.moment;
  if (moment && moment.number === number) {
    const date = moment.timestamp ? minutes(moment.timestamp) : "before the first transaction";
    track.setAttribute("aria-valuetext", `transaction ${number}, ${date}${moment.author ? `, ${moment.author}` : ""}`);
    replace(readout,
      h("span", { class: "nowrap" }, h("span", { class: "soft wide-only" }, "transaction "),
        number > session.base ? transactionLink(number) : h("span", {}, "base")),
      h("span", { class: "nowrap" }, date), number > 0 && moment.author !== undefined ? who(moment.author) : null,
      moment.context && h("span", { class: "soft cut" }, moment.context),
      moment.message && h("span", { class: "soft cut message" }, moment.message.split("\n")[0]));
  }
  const place = density ? placeOf(number) : null;
  const isShown = place !== null && place >= 0 && place <= width;
  handle.hidden = !isShown;
  shade.hidden = place === null || place >= width;
  if (place === null) return;
  showSecond();
  setStyle(handle, { left: Math.min(width - 1, Math.max(0, place)) });
  setStyle(shade, { left: Math.max(0, place) });
}

/** The first of two moments that are compared. */
function showSecond() {
  const { view, query } = current();
  const place = view === "compare" && /^\d+$/.test(query.from ?? "") ? placeOf(Number(query.from)) : -1;
  second.hidden = !(place >= 0 && place <= width);
  if (!second.hidden) setStyle(second, { left: place });
}

/** Where a transaction lies, in pixels. */
function placeOf(number) {
  const { from, to } = density;
  if (!isByTime()) return ((number + 0.5 - from) / (to - from)) * width;
  const moment = session.moment;
  if (moment?.number === number && moment.timestamp) {
    return ((Date.parse(moment.timestamp) * 1000 - from) / (to - from)) * width;
  }
  const bucket = density.buckets.find((each) => each.last >= number);
  if (!bucket) return number >= session.head ? width : 0;
  return (((bucket.from + bucket.to) / 2 - from) / (to - from)) * width;
}

/** The transaction at a place: the last one up to there. */
function numberAt(place) {
  const { from, to, buckets } = density;
  const value = from + (place / width) * (to - from);
  if (!isByTime()) return Math.round(value - 0.5);
  let number = null;
  for (const bucket of buckets) {
    if (bucket.from > value) break;
    number = bucket.last ?? number;
  }
  return number ?? Math.max(session.base, (buckets.find((each) => each.first)?.first ?? 1) - 1);
}

function valueAt(place) {
  return density.from + (place / width) * (density.to - density.from);
}

/** Zooms by a factor around a value; the moment if none is given. */
export function zoomBy(factor, around) {
  if (!density) return;
  const { from, to } = density;
  const place = placeOf(steps.number());
  const centre = around ?? (place >= 0 && place <= width ? valueAt(place) : (from + to) / 2);
  zoomTo(centre - (centre - from) * factor, centre + (to - centre) * factor);
}

function pan(distance) {
  if (zoom()) zoomTo(density.from + distance, density.to + distance);
}

let whole = null;

function zoomTo(from, to) {
  if (!zoom()) whole = { from: density.from, to: density.to, axis: isByTime() };
  const least = isByTime() ? 60e6 : 10;
  const length = Math.max(least, to - from);
  let start = Math.round(from + (to - from - length) / 2);
  let end = Math.round(start + length);
  if (whole && whole.axis === isByTime()) {
    if (length >= whole.to - whole.from) return go(changed({ zoom: null }), { replacing: true });
    const shift = Math.max(0, whole.from - start) - Math.max(0, end - whole.to);
    start += shift;
    end += shift;
  }
  go(changed({ zoom: `${start}..${end}` }), { replacing: true });
}

/** Keys while the slider has the focus. */
export const sliderKeys = {
  ArrowLeft: () => steps.byTransaction(-1), ArrowRight: () => steps.byTransaction(1),
  ArrowDown: () => steps.byTransaction(-1), ArrowUp: () => steps.byTransaction(1),
  PageUp: () => steps.byDay(1), PageDown: () => steps.byDay(-1),
  Home: () => steps.goTo(session.base), End: () => steps.goTo(session.head),
};
track.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !sliderKeys[event.key]) return;
  event.preventDefault();
  event.stopPropagation();
  if (event.shiftKey && event.key.startsWith("Arrow")) {
    steps.byAuthor(event.key === "ArrowLeft" || event.key === "ArrowDown" ? -1 : 1);
  } else sliderKeys[event.key]();
});

