// The picture of a timeline: bars in lanes and groups on an axis of dates, to pan and to zoom.

import { h, observeSize, perFrame, replace, s, setStyle } from "./dom.js";
import { session } from "./session.js";
import { extentOf, pack, widthOf } from "./timeline-lanes.js";
import { timeTicks } from "./ticks.js";

const laneHeight = 19;
const barHeight = 13;
const axisHeight = 22;
const groupHeight = 21;
/**
 * Makes the picture; `open` is called with the object of a bar, `hovered` with its index, `moved` with the dates that
 * are shown, or null if all are.
 */
export function createTimelinePicture(element, { open, hovered, moved }) {
  const axis = h("div", { class: "timeline-axis" });
  const body = h("div", { class: "timeline-body" });
  const label = h("div", { class: "hover timeline-hover", hidden: true });
  const scroller = h("div", {
    class: "timeline-scroll", tabindex: "0", role: "application", "data-first": true,
    "aria-label": "Timeline picture: arrow keys pan, plus and minus zoom; the rows beside say the same",
  }, axis, body, label);
  element.append(scroller);
  let answer = null;
  let from = 0;
  let to = 1;
  let width = 0;
  let lit = -1;
  let extent = "";
  let lanes = [];
  const stop = observeSize(scroller, (newWidth) => {
    width = newWidth;
    lanes = answer ? pack(answer, width) : [];
    draw();
  });

  /** Shows an answer: all of it, or the dates between two moments in microseconds. */
  function show(newAnswer, part) {
    answer = newAnswer;
    lanes = pack(answer, width);
    const newExtent = JSON.stringify(extentOf(answer));
    if (part) ({ from, to } = part);
    else if (newExtent !== extent) ({ from, to } = extentOf(answer));
    extent = newExtent;
    draw();
  }

  function reset() {
    if (!answer || answer.startUs === undefined) return;
    ({ from, to } = extentOf(answer));
    moved(null);
    draw();
  }

  function x(time) {
    return ((time - from) / (to - from)) * width;
  }

  const draw = perFrame(() => {
    if (!answer || width === 0 || answer.bars.length === 0) {
      replace(body);
      replace(axis);
      return;
    }
    const ticks = timeTicks(from, to, Math.max(3, Math.floor(width / 95)));
    replace(axis, s("svg", { width, height: axisHeight, "aria-hidden": "true" }, ticks.map((tick) =>
      s("text", { class: "tick-text", x: x(tick.place) + 3, y: 15 }, tick.text))));
    const tops = groupTops();
    const height = tops.height + 8;
    replace(body, s("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
      ticks.map((tick) => s("line", { class: "tick", x1: x(tick.place), x2: x(tick.place), y1: 0, y2: height })),
      tops.list.map((top, place) => answer.groups.length > 1 && [
        place > 0 && s("line", { class: "group-line", x1: 0, x2: width, y1: top - groupHeight + 1.5, y2: top - groupHeight + 1.5 }),
        s("text", { class: "group-title", x: 4, y: top - 6 }, answer.groups[place] || "none"),
      ]),
      nowLine(height), answer.bars.map((bar, index) => drawBar(bar, index, tops.list))));
  });

  /** Where the lanes of each group begin. */
  function groupTops() {
    const list = [];
    let y = 0;
    for (const count of lanes) {
      y += answer.groups.length > 1 ? groupHeight : 6;
      list.push(y);
      y += count * laneHeight + 3;
    }
    return { list, height: y };
  }

  function nowLine(height) {
    const moment = session.moment?.timestamp ? Date.parse(session.moment.timestamp) * 1000 : null;
    return [
      moment !== null && s("line", { class: "moment-line", x1: x(moment), x2: x(moment), y1: 0, y2: height }),
      answer.nowUs && s("line", { class: "now-line", x1: x(answer.nowUs), x2: x(answer.nowUs), y1: 0, y2: height }),
    ];
  }

  function drawBar(bar, index, tops) {
    const left = x(bar.startUs);
    const right = bar.kind === "single" ? left : x(bar.endUs);
    if (right < -400 || left > width + 20) return null;
    const y = (tops[bar.place] ?? 0) + bar.lane * laneHeight;
    const group = s("g", {
      class: `bar-${bar.kind} hue-${(bar.place % 8) + 1}${index === lit ? " lit" : ""}`, "data-index": index,
    });
    const start = Math.max(-10, left);
    const end = Math.min(width + 10, right);
    if (bar.kind === "single") group.append(s("circle", { class: "fill", cx: left, cy: y + barHeight / 2, r: 4 }));
    else if (bar.kind === "ongoing") {
      const tip = Math.max(start + 8, Math.min(width - 2, end));
      group.append(s("polygon", {
        class: "fill", points: `${start},${y} ${tip - 7},${y} ${tip},${y + barHeight / 2} ${tip - 7},${y + barHeight} ${start},${y + barHeight}`,
      }));
    } else group.append(s("rect", { class: "fill", x: start, y, width: Math.max(2, end - start), height: barHeight, rx: 2 }));
    const text = bar.label ?? "";
    const own = bar.kind === "single" ? 0 : end - Math.max(0, start) - 12;
    const beside = bar.kind === "single" ? left + 8 : Math.max(end + 4, 4);
    const room = nextStart(bar, index) - beside - 10;
    const inside = own > 0 && (widthOf(text) <= own || own > room);
    const labelX = inside ? Math.max(4, start + 5) : beside;
    const shown = fitted(text, inside ? own : room);
    if (shown) group.append(s("text", { class: inside ? "inside" : "beside", x: labelX, y: y + 10.5 }, shown));
    return group;
  }

  /** Where the next bar of the same lane begins. */
  function nextStart(bar, index) {
    for (let place = index + 1; place < answer.bars.length; place += 1) {
      const other = answer.bars[place];
      if (other.lane === bar.lane && other.place === bar.place) return x(other.startUs);
    }
    return width;
  }

  function fitted(text, room) {
    const width = widthOf(text);
    if (width <= room) return text;
    const most = Math.floor((room / width) * text.length) - 1;
    return most < 4 ? "" : `${text.slice(0, most).trimEnd()}…`;
  }

  function zoom(factor, around = (from + to) / 2) {
    const least = 3600e6;
    const span = Math.max(least, (to - from) * factor);
    const part = (around - from) / (to - from);
    from = around - span * part;
    to = from + span;
    moved({ from, to });
    draw();
  }

  function pan(distance) {
    from += distance;
    to += distance;
    moved({ from, to });
    draw();
  }

  function light(index) {
    if (index === lit) return;
    body.querySelector(".lit")?.classList.remove("lit");
    lit = index;
    body.querySelector(`[data-index="${index}"]`)?.classList.add("lit");
  }

  function listen() {
    let start = null;
    let isMoved = false;
    body.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || event.pointerType === "touch") return;
      start = event.clientX;
      isMoved = false;
    });
    addEventListener("pointerup", endDrag);
    scroller.addEventListener("pointermove", (event) => {
      const group = event.target.closest?.("[data-index]");
      showLabel(group, event);
      if (start === null) return;
      const distance = event.clientX - start;
      if (!isMoved && Math.abs(distance) < 4) return;
      isMoved = true;
      start = event.clientX;
      pan((-distance / width) * (to - from));
    });
    body.addEventListener("click", (event) => {
      const group = event.target.closest?.("[data-index]");
      if (group && !isMoved) open(answer.bars[Number(group.dataset.index)].object);
    });
    scroller.addEventListener("pointerleave", () => showLabel(null));
    scroller.addEventListener("wheel", (event) => {
      if (!answer || !(event.ctrlKey || event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)
        || scroller.scrollHeight <= scroller.clientHeight)) return;
      event.preventDefault();
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan((event.deltaX / width) * (to - from));
      else zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, from + ((event.clientX - scroller.getBoundingClientRect().left) / width) * (to - from));
    }, { passive: false });
    scroller.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const actions = {
        ArrowLeft: () => pan((from - to) / 8), ArrowRight: () => pan((to - from) / 8),
        "+": () => zoom(0.7), "=": () => zoom(0.7), "-": () => zoom(1.4), Home: reset,
      };
      if (!actions[event.key]) return;
      event.preventDefault();
      event.stopPropagation();
      actions[event.key]();
    });
    function endDrag() {
      start = null;
    }
    return () => removeEventListener("pointerup", endDrag);
  }

  function showLabel(group, event) {
    const index = group ? Number(group.dataset.index) : -1;
    if (index !== lit) hovered(index);
    light(index);
    label.hidden = index < 0;
    if (index < 0) return;
    const bar = answer.bars[index];
    const dates = bar.kind === "single" ? bar.start : `${bar.start} – ${bar.kind === "ongoing" ? "" : bar.end}`;
    label.textContent = `${bar.label}: ${dates}${bar.length ? `, ${bar.length}` : ""}${bar.remark ? ` (${bar.remark})` : ""}`;
    const box = scroller.getBoundingClientRect();
    const left = event.clientX - box.left + 12;
    setStyle(label, {
      left: Math.max(0, Math.min(left, width - label.offsetWidth - 6)),
      top: event.clientY - box.top + scroller.scrollTop + 16,
    });
  }

  const stopListening = listen();
  return {
    show, zoom, reset, light,
    focus: () => scroller.focus(),
    clear() {
      answer = null;
      extent = "";
      draw();
    },
    close() {
      stop();
      stopListening();
    },
  };
}
