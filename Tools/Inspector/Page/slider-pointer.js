// The slider by pointer: a click shows a moment, the handle is dragged, a brush zooms, the wheel zooms and pans.

import { changed, go } from "./address.js";
import { debounced, perFrame, setStyle } from "./dom.js";
import * as steps from "./steps.js";
import { count, minutes } from "./values.js";

/**
 * Listens on a slider's track. `slider` gives its parts (track, handle, shade, brush, hover), density and width,
 * isByTime(), numberAt(place), and zoomTo(from, to), zoomBy(factor, around), pan(distance).
 */
export function listenToPointer(slider) {
  const { track, handle, shade, brush, hover } = slider;
  let start = null;
  let mode = null;
  let isMoved = false;

  const placeOf = (event) =>
    Math.min(slider.width, Math.max(0, event.clientX - track.getBoundingClientRect().left));
  const valueAt = (place) =>
    slider.density.from + (place / slider.width) * (slider.density.to - slider.density.from);

  /** The first step of a drag is kept for going back to where it began. */
  const scrub = debounced(60, (number) => {
    steps.goTo(number, { replacing: isMoved });
    isMoved = true;
  });

  track.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !slider.density) return;
    start = placeOf(event);
    isMoved = false;
    const isNearHandle = !handle.hidden && Math.abs(start - parseFloat(handle.style.left)) < 7;
    mode = event.shiftKey ? "pan" : isNearHandle || event.pointerType === "touch" ? "scrub" : "press";
    track.setPointerCapture(event.pointerId);
  });
  track.addEventListener("pointermove", perFrame((event) => {
    if (!slider.density) return;
    const place = placeOf(event);
    showHover(slider, hover, place, valueAt(place));
    if (start === null) return;
    if (mode === "press" && Math.abs(place - start) > 4) mode = "brush";
    if (mode === "brush") {
      brush.hidden = false;
      setStyle(brush, { left: Math.min(start, place), width: Math.abs(place - start) });
    } else if (mode === "scrub") {
      setStyle(handle, { left: place });
      setStyle(shade, { left: place });
      scrub(slider.numberAt(place));
    }
  }));
  track.addEventListener("pointerup", (event) => {
    if (start === null || !slider.density) return;
    const place = placeOf(event);
    if (mode === "brush") slider.zoomTo(valueAt(Math.min(start, place)), valueAt(Math.max(start, place)));
    else if (mode === "pan") slider.pan(valueAt(start) - valueAt(place));
    else if (mode === "press") steps.goTo(slider.numberAt(place), { replacing: false });
    start = null;
    brush.hidden = true;
  });
  track.addEventListener("pointerleave", () => { hover.hidden = true; });
  track.addEventListener("dblclick", () => go(changed({ zoom: null })));
  track.addEventListener("wheel", (event) => {
    if (!slider.density) return;
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) slider.pan(valueAt(event.deltaX) - valueAt(0));
    else slider.zoomBy(event.deltaY > 0 ? 1.25 : 0.8, valueAt(placeOf(event)));
  }, { passive: false });
}

/** Says what a bar holds: its dates, numbers and authors. */
function showHover(slider, hover, place, value) {
  const { density, width } = slider;
  const bucket = density.buckets.find((each) => each.from <= value && value < each.to);
  hover.hidden = !bucket || bucket.count === 0;
  if (hover.hidden) return;
  const range = bucket.first === bucket.last ? count(bucket.first) : `${count(bucket.first)}–${count(bucket.last)}`;
  const named = bucket.authors.map((each, index) => [each, density.authors[index]])
    .filter(([each]) => each > 0).sort(([first], [second]) => second - first).slice(0, 3);
  const date = slider.isByTime() ? `${minutes(new Date(bucket.from / 1000).toISOString())} · ` : "";
  hover.textContent = `${date}${range} · ${named.map(([each, name]) => `${name ?? "others"} ${count(each)}`).join(", ")}`;
  setStyle(hover, { left: Math.max(0, Math.min(place + 10, width - hover.offsetWidth - 4)) });
}
