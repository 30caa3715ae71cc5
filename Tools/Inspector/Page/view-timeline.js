// What happened when, drawn: the timeline of an entity's dates, or the lives of its objects as they were written down.

import { changed, current, go, link } from "./address.js";
import { debounced, h, notice, replace } from "./dom.js";
import { setCommand } from "./frame.js";
import { ask, failure, Loader } from "./server.js";
import { at, momentKey, session } from "./session.js";
import { createTimelinePicture } from "./timeline-picture.js";
import { count, counted } from "./values.js";

const mostBars = 2000;
const names = ["entity", "start", "end", "open", "group", "label", "from", "to", "hideEnds", "hideOngoing", "lifetimes", "offset"];

export function create(element) {
  const bar = h("div", { class: "timeline-bar", role: "group", "aria-label": "What is drawn" });
  const place = h("section", { class: "timeline-place", "aria-label": "Timeline" });
  const rows = h("section", { class: "column timeline-rows", "aria-label": "Rows", tabindex: "-1" });
  const fold = h("details", { class: "timeline-fold" }, h("summary", {}, "What is drawn"), bar);
  fold.open = innerWidth > 800;
  element.append(fold, place, rows);
  const loader = new Loader(rows);
  const picture = createTimelinePicture(place, {
    open: (object) => go(link("state", [object.id])),
    hovered: (index) => markRows(index),
    moved: debounced(300, (part) => {
      if (current().view !== "timeline") return;
      const window = part ? `${Math.round(part.from)}..${Math.round(part.to)}` : null;
      go(changed({ window }), { replacing: true });
    }),
  });
  let suggestions = null;

  function show() {
    const { query } = current();
    if (!query.start && !query.lifetimes) {
      loader.load(`suggestions ${momentKey()} ${query.entity}`, (signal) => suggest(query, signal));
      return;
    }
    const asked = Object.fromEntries(names.map((name) => [name, query[name]]));
    loader.load(JSON.stringify([asked, momentKey()]), async (signal) => {
      const answer = await ask("timeline", { ...asked, at: at(), limit: mostBars }, signal);
      suggestions ??= answer.suggestions;
      setCommand(answer.command);
      answer.bars ??= [];
      answer.rows ??= [];
      drawBar(answer);
      picture.show(answer, partOfAddress());
      drawRows(answer);
    }, {
      quietly: rows.children.length > 0,
      failed: (error) => {
        drawBar(null);
        picture.clear();
        replace(rows, failure(error));
        return true;
      },
    });
  }

  /** The dates that the address shows: window=A..B. */
  function partOfAddress() {
    const found = /^(-?\d+)\.\.(-?\d+)$/.exec(current().query.window ?? "");
    return found && Number(found[2]) > Number(found[1]) ? { from: Number(found[1]), to: Number(found[2]) } : null;
  }

  /** Chooses what to draw at first: the first entity that has dates, otherwise the lives of objects. */
  async function suggest(query, signal) {
    ({ suggestions } = await ask("timeline", { at: at() }, signal));
    if (current().view !== "timeline") return;
    const found = suggestions?.entities.find((each) => !query.entity || each.entity === query.entity);
    if (found) {
      const group = await grouping(found, signal);
      if (current().view === "timeline") go(changed({ ...suggested(found), group }), { replacing: true });
    }
    else {
      const entity = query.entity ?? session.overview?.entities[0]?.name;
      if (entity) go(changed({ entity, lifetimes: 1 }), { replacing: true });
      else replace(rows, notice("", "Nothing to draw", "There is no entity at this moment."));
    }
  }

  /** A property with few values, to group by at first. */
  async function grouping(found, signal) {
    const likely = (found.groups ?? []).filter((each) => !/(^|\.)id($|\.|_)|_id$|name|url|phone|address|title|date|start|end/i.test(each));
    for (const by of likely.slice(0, 4)) {
      const answer = await ask("groups", { entity: found.entity, by, at: at(), limit: 12 }, signal);
      const unset = answer.groups.find((each) => each.key?.kind === "null")?.count ?? 0;
      if (answer.groupCount > 1 && answer.groupCount <= 12 && unset * 2 < answer.total) return by;
    }
    return null;
  }

  function suggested(found) {
    const end = found.starts.find((each) => /end|until|to$|close/i.test(each) && each !== found.starts[0]);
    const flag = found.flags?.find((each) => /ongoing|open|current|active/i.test(each));
    return {
      entity: found.entity, start: found.starts[0], end: end ?? null, open: flag ? `flag:${flag}` : null,
      group: null, label: null, lifetimes: null,
    };
  }

  function drawBar(answer) {
    const { query } = current();
    const entities = query.lifetimes ? session.overview?.entities.map((each) => ({ entity: each.name }))
      : suggestions?.entities;
    const own = suggestions?.entities.find((each) => each.entity === query.entity);
    const choice = (name, label, values, none) => {
      const all = query[name] && !values.includes(query[name]) ? [...values, query[name]] : values;
      const select = h("select", {
        "aria-label": label, onchange: () => go(changed(name === "entity" && !query.lifetimes && suggestions
          ? suggested(suggestions.entities.find((each) => each.entity === select.value)) : { [name]: select.value || null })),
      }, none !== undefined && h("option", { value: "" }, none), all.map((each) => h("option", { value: each }, each)));
      select.value = query[name] ?? "";
      return h("label", { class: "field" }, label, select);
    };
    const toggle = (name, label) => h("label", {}, h("input", {
      type: "checkbox", checked: Boolean(query[name]), onchange: (event) => go(changed({ [name]: event.target.checked ? 1 : null })),
    }), label);
    const date = (name, label) => h("label", { class: "field" }, label, h("input", {
      type: "text", size: 8, value: query[name] ?? "", placeholder: "2019-10", autocomplete: "off",
      onchange: (event) => go(changed({ [name]: event.target.value.trim() || null })),
    }));
    const axis = h("select", {
      "aria-label": "Axis", onchange: () => go(changed(axis.value ? { lifetimes: 1, start: null, end: null, open: null }
        : { lifetimes: null, start: null })),
    }, h("option", { value: "" }, "when it happened"), h("option", { value: "1" }, "when it was written down"));
    axis.value = query.lifetimes ? "1" : "";
    const opens = ["never", "nil", ...(own?.flags ?? []).map((each) => `flag:${each}`)];
    replace(bar, choice("entity", "Entity", (entities ?? []).map((each) => each.entity)), axis,
      !query.lifetimes && [choice("start", "start", own?.starts ?? []), choice("end", "end", own?.starts ?? [], "none"),
        choice("open", "ongoing", opens, "–")],
      choice("group", "groups", own?.groups ?? [], "none"), choice("label", "labels", own?.labels ?? [], "–"), date("from", "from"), date("to", "to"),
      h("span", { class: "toggles" }, toggle("hideEnds", "hide ends"), toggle("hideOngoing", "hide ongoing")),
      answer && h("span", { class: "soft nowrap" }, counted(answer.total, "object"),
        answer.bars.length < answer.total && part(answer)),
      h("span", { class: "zooms" },
        h("button", { type: "button", class: "plain", onclick: () => picture.zoom(0.6), "aria-label": "Zoom in" }, "+"),
        h("button", { type: "button", class: "plain", onclick: () => picture.zoom(1.6), "aria-label": "Zoom out" }, "−"),
        h("button", { type: "button", class: "plain", onclick: () => picture.reset() }, "All")));
  }

  /** Which of many objects are drawn, and the way to the others. */
  function part(answer) {
    const first = answer.offset ?? 0;
    const last = first + answer.bars.length;
    return [`, ${count(first + 1)} to ${count(last)} drawn `,
      first > 0 && h("a", { href: changed({ offset: Math.max(0, first - mostBars) || null }) }, "‹ before"), " ",
      last < answer.total && h("a", { href: changed({ offset: last }) }, "next ›")];
  }

  function drawRows(answer) {
    if (answer.bars.length === 0) {
      replace(rows, notice("", "Nothing to draw", "No object has such dates at this moment."));
      return;
    }
    const lines = answer.rows.slice(0, 1000);
    replace(rows, h("ol", { class: "time-rows" }, lines.map((row) => {
      const bar = answer.bars[row.bar] ?? {};
      const object = row.object ?? bar.object;
      return h("li", {
        "data-bar": row.bar, onpointerenter: () => picture.light(row.bar), onpointerleave: () => picture.light(-1),
      },
      h("span", { class: "nowrap" }, row.date.slice(0, answer.hasDays ? 10 : 16).replace("T", " ")),
      h("span", { class: "soft" }, row.role === "single" ? "" : row.role),
      h("span", {}, h("a", { href: link("state", [object.id]) }, row.label ?? bar.label),
        bar.length && row.role !== "single" ? h("span", { class: "soft" }, ` for ${bar.length}`) : null,
        bar.remark && h("span", { class: "soft" }, ` (${bar.remark})`)),
      h("span", { class: "soft number" }, row.gap ? `+${row.gap}` : ""));
    })),
    (answer.rowTotal ?? answer.rows.length) > lines.length && h("p", { class: "soft" },
      `and ${count((answer.rowTotal ?? answer.rows.length) - lines.length)} more`),
    answer.unplacedCount > 0 && h("details", { class: "unplaced" },
      h("summary", { class: "soft" }, `${counted(answer.unplacedCount, "object")} without a place`),
      h("ul", {}, answer.unplaced.map((each) => h("li", {}, h("a", { href: link("state", [each.object.id]) },
        each.object.label ?? each.object.name), h("span", { class: "soft" }, ` ${each.reason}`))))));
  }

  function markRows(index) {
    for (const row of rows.querySelectorAll("[data-bar]")) {
      const isLit = Number(row.dataset.bar) === index;
      if (isLit && !row.classList.contains("lit")) row.scrollIntoView({ block: "nearest" });
      row.classList.toggle("lit", isLit);
    }
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
