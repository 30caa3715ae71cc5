// The picture of a timeline: bars in lanes and groups on an axis of dates, to pan and to zoom.

import { h, observeSize, perFrame, replace, s, setStyle } from "./dom.js";
import { session } from "./session.js";
import { barElement, groupTitle, groupTops } from "./timeline-bars.js";
import { extentOf, pack } from "./timeline-lanes.js";
import { listenToTimeline } from "./timeline-pointer.js";
import { tickTexts, timeTicks } from "./ticks.js";

const axisHeight = 22;
/** The least time that the picture shows: an hour, in microseconds. */
const leastSpan = 3600e6;

/** The part of a timeline between two moments. */
export class TimelinePicture {
  #options;
  #axis = h("div", { class: "timeline-axis" });
  #body = h("div", { class: "timeline-body" });
  #label = h("div", { class: "hover timeline-hover", hidden: true });
  #scroller = h("div", {
    class: "timeline-scroll", tabindex: "0", role: "application", "data-first": true, "aria-label":
      "Timeline picture: arrow keys pan, plus and minus zoom; the rows beside say the same",
  }, this.#axis, this.#body, this.#label);
  #stopObserving;
  #stopListening;
  #answer = null;
  #from = 0;
  #to = 1;
  #width = 0;
  #lanes = [];
  #lit = -1;
  #extent = "";

  /**
   * Options: open(object) of a bar, hovered(index), moved(part) with the dates that are shown, or
   * null if all are.
   */
  constructor(element, options) {
    this.#options = options;
    element.append(this.#scroller);
    this.#stopObserving = observeSize(this.#scroller, (width) => {
      this.#width = width;
      this.#pack();
      this.#draw();
    });
    this.#stopListening = listenToTimeline(this.#scroller, this.#body, {
      pan: (part) => this.#answer && this.#pan(part),
      zoom: (factor, place) => this.#answer && this.zoom(factor, place),
      reset: () => this.reset(),
      open: (index) => options.open(this.#answer.bars[index].object),
      hover: (index, event) => this.#hover(index, event),
    });
  }

  /** Shows an answer: all of it, or the dates between two moments in microseconds. */
  show(answer, part) {
    this.#answer = answer;
    this.#pack();
    const extent = JSON.stringify(extentOf(answer));
    if (part) this.#setPart(part);
    else if (extent !== this.#extent) this.#setPart(extentOf(answer));
    this.#extent = extent;
    this.#draw();
  }

  reset() {
    if (!this.#answer || this.#answer.startUs === undefined) return;
    this.#setPart(extentOf(this.#answer));
    this.#options.moved(null);
    this.#draw();
  }

  /** Zooms around a place, which is a part of the width; around the middle if none is given. */
  zoom(factor, place = 0.5) {
    const from = this.#from;
    const around = from + place * (this.#to - from);
    const span = Math.max(leastSpan, (this.#to - from) * factor);
    this.#move({ from: around - span * place, to: around + span * (1 - place) });
  }

  /** Lights the bar of an index; none for -1. */
  light(index) {
    if (index === this.#lit) return;
    this.#body.querySelector(".lit")?.classList.remove("lit");
    this.#lit = index;
    this.#body.querySelector(`[data-index="${index}"]`)?.classList.add("lit");
  }

  focus() {
    this.#scroller.focus();
  }

  clear() {
    this.#answer = null;
    this.#extent = "";
    this.#draw();
  }

  close() {
    this.#stopObserving();
    this.#stopListening();
  }

  #pack() {
    this.#lanes = this.#answer ? pack(this.#answer, this.#width) : [];
  }

  #setPart({ from, to }) {
    this.#from = from;
    this.#to = to;
  }

  #move(part) {
    this.#setPart(part);
    this.#options.moved(part);
    this.#draw();
  }

  #pan(part) {
    const distance = part * (this.#to - this.#from);
    this.#move({ from: this.#from + distance, to: this.#to + distance });
  }

  #x(time) {
    return ((time - this.#from) / (this.#to - this.#from)) * this.#width;
  }

  #draw = perFrame(() => {
    const width = this.#width;
    if (!this.#answer || width === 0 || this.#answer.bars.length === 0) {
      replace(this.#body);
      replace(this.#axis);
      return;
    }
    const { bars, groups } = this.#answer;
    const x = (time) => this.#x(time);
    const { tops, height } = groupTops(this.#lanes);
    const ticks = timeTicks(this.#from, this.#to, Math.max(3, Math.floor(width / 95)));
    replace(this.#axis, s("svg", { width, height: axisHeight, "aria-hidden": "true" },
      tickTexts(ticks, x, width, 15)));
    const line = (name, time) =>
      s("line", { class: name, x1: x(time), x2: x(time), y1: 0, y2: height });
    const moment = session.moment?.timestamp;
    replace(this.#body, s("svg", {
      width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true",
    },
    ticks.map(({ place }) => line("tick", place)),
    groups.length > 1 && tops.map((top, place) =>
      groupTitle(groups[place], top, place === 0, width)),
    moment && line("moment-line", Date.parse(moment) * 1000),
    this.#answer.nowUs && line("now-line", this.#answer.nowUs),
    bars.map((_, index) => barElement(bars, index, { x, width, tops, lit: this.#lit }))));
  });

  /** Shows what a bar is beside the pointer. */
  #hover(index, event) {
    if (index !== this.#lit) this.#options.hovered(index);
    this.light(index);
    const label = this.#label;
    label.hidden = index < 0;
    if (index < 0) return;
    const { kind, label: name, start, end, length, remark } = this.#answer.bars[index];
    const dates = kind === "single" ? start : `${start} – ${kind === "ongoing" ? "" : end}`;
    const more = `${length ? `, ${length}` : ""}${remark ? ` (${remark})` : ""}`;
    label.textContent = `${name}: ${dates}${more}`;
    const box = this.#scroller.getBoundingClientRect();
    const last = this.#width - label.offsetWidth - 6;
    setStyle(label, {
      left: Math.max(0, Math.min(event.clientX - box.left + 12, last)),
      top: event.clientY - box.top + this.#scroller.scrollTop + 16,
    });
  }
}
