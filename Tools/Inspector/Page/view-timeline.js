// What happened when, drawn: an entity's dates, or when its objects were written down.

import { changed, current, go, link, rangeOf } from "./address.js";
import { debounced, h, markIn, notice, plainButton, replace } from "./dom.js";
import { setCommand } from "./frame.js";
import { ask, failure, Loader } from "./server.js";
import { at, momentKey } from "./session.js";
import { firstChoice, timelineFields } from "./timeline-choices.js";
import { TimelinePicture } from "./timeline-picture.js";
import { count, counted } from "./values.js";

const mostBars = 2000;
const mostRows = 1000;
const names = [
  "entity", "start", "end", "open", "group", "label", "from", "to", "hideEnds", "hideOngoing",
  "lifetimes", "offset",
];

export function create(element) {
  const bar = h("div", { class: "timeline-bar", role: "group", "aria-label": "What is drawn" });
  const fold = h("details", { class: "timeline-fold" }, h("summary", {}, "What is drawn"), bar);
  fold.open = innerWidth > 800;
  const place = h("section", { class: "timeline-place", "aria-label": "Timeline" });
  const rows = h("section", {
    class: "column timeline-rows", "aria-label": "Rows", tabindex: "-1",
  });
  element.append(fold, place, rows);
  const loader = new Loader(rows);
  const picture = new TimelinePicture(place, {
    open: (object) => go(link("state", [object.id])),
    hovered: (index) => markIn(rows.querySelectorAll("[data-bar]"), "lit", (each) =>
      Number(each.dataset.bar) === index),
    moved: debounced(300, showPart),
  });
  let suggestions = null;

  function show() {
    const { query } = current();
    if (!query.start && !query.lifetimes) {
      loader.load(`suggestions ${momentKey()} ${query.entity}`, chooseFirst);
      return;
    }
    const asked = Object.fromEntries(names.map((name) => [name, query[name]]));
    loader.load(JSON.stringify([asked, momentKey()]), async (signal) => {
      const answer = await ask("timeline", { ...asked, at: at(), limit: mostBars }, signal);
      suggestions ??= answer.suggestions;
      setCommand(answer.command);
      answer.bars ??= [];
      answer.rows ??= [];
      replace(bar, timelineFields(suggestions), amount(answer), zoomButtons(picture));
      picture.show(answer, partOfAddress());
      showRows(rows, answer, (index) => picture.light(index));
    }, {
      quietly: rows.children.length > 0,
      failed: (error) => {
        replace(bar, timelineFields(suggestions), zoomButtons(picture));
        picture.clear();
        replace(rows, failure(error));
        return true;
      },
    });
  }

  async function chooseFirst(signal) {
    ({ suggestions } = await ask("timeline", { at: at() }, signal));
    const choice = await firstChoice(suggestions, signal);
    if (current().view !== "timeline") return;
    if (choice) go(changed(choice), { replacing: true });
    else replace(rows, notice("", "Nothing to draw", "There is no entity at this moment."));
  }

  return {
    show,
    keys: {
      "p": ["To the picture", () => picture.focus()],
      "0": ["The whole picture", () => picture.reset()],
      "i": ["Zoom into the picture", () => picture.zoom(0.6)],
      "o": ["Zoom out of the picture", () => picture.zoom(1.6)],
    },
    close() {
      picture.close();
      loader.stop();
    },
  };
}

/** The dates that the address shows: window=A..B. */
function partOfAddress() {
  const part = rangeOf(current().query.window);
  return part && part.to > part.from ? part : null;
}

function showPart(part) {
  if (current().view !== "timeline") return;
  const window = part ? `${Math.round(part.from)}..${Math.round(part.to)}` : null;
  go(changed({ window }), { replacing: true });
}

/** How many objects there are; of many, which are drawn, and the ways to the others. */
function amount({ total, bars, offset: first = 0 }) {
  const last = first + bars.length;
  return h("span", { class: "soft nowrap" }, counted(total, "object"), bars.length < total && [
    `, ${count(first + 1)} to ${count(last)} drawn `, first > 0
      && h("a", { href: changed({ offset: Math.max(0, first - mostBars) || null }) }, "‹ before"),
    " ", last < total && h("a", { href: changed({ offset: last }) }, "next ›"),
  ]);
}

function zoomButtons(picture) {
  return h("span", { class: "zooms" },
    plainButton("+", () => picture.zoom(0.6), { "aria-label": "Zoom in" }),
    plainButton("−", () => picture.zoom(1.6), { "aria-label": "Zoom out" }),
    plainButton("All", () => picture.reset()));
}

/** Shows the rows of an answer; `light` is called with the bar of the row at the pointer. */
function showRows(element, answer, light) {
  if (answer.bars.length === 0) {
    replace(element, notice("", "Nothing to draw", "No object has such dates at this moment."));
    return;
  }
  const shown = answer.rows.slice(0, mostRows);
  const left = (answer.rowTotal ?? answer.rows.length) - shown.length;
  replace(element,
    h("ol", { class: "time-rows" }, shown.map((row) => h("li", {
      "data-bar": row.bar,
      onpointerenter: () => light(row.bar), onpointerleave: () => light(-1),
    }, cells(row, answer.bars[row.bar] ?? {}, answer.hasDays)))),
    left > 0 && h("p", { class: "soft" }, `and ${count(left)} more`),
    answer.unplacedCount > 0 && unplaced(answer));
}

function cells(row, bar, hasDays) {
  const isSingle = row.role === "single";
  return [
    h("span", { class: "nowrap" }, row.date.slice(0, hasDays ? 10 : 16).replace("T", " ")),
    h("span", { class: "soft" }, isSingle ? "" : row.role),
    h("span", {}, objectLink(row.object ?? bar.object, row.label ?? bar.label),
      bar.length && !isSingle && h("span", { class: "soft" }, ` for ${bar.length}`),
      bar.remark && h("span", { class: "soft" }, ` (${bar.remark})`)),
    h("span", { class: "soft number" }, row.gap ? `+${row.gap}` : ""),
  ];
}

function unplaced({ unplacedCount, unplaced: objects }) {
  return h("details", { class: "unplaced" },
    h("summary", { class: "soft" }, `${counted(unplacedCount, "object")} without a place`),
    h("ul", {}, objects.map(({ object, reason }) => h("li", {},
      objectLink(object, object.label ?? object.name),
      h("span", { class: "soft" }, ` ${reason}`)))));
}

function objectLink({ id }, text) {
  return h("a", { href: link("state", [id]) }, text);
}
