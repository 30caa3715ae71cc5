// Two moments compared: what differs between them, by entity.

import { changed, current, go } from "./address.js";
import { changeElement, tally } from "./change.js";
import { h, notice, replace } from "./dom.js";
import { setCommand } from "./frame.js";
import { ask, Loader } from "./server.js";
import { at, momentKey, session } from "./session.js";
import { count, counted, minutes, who } from "./values.js";

const pageLength = 100;

export function create(element) {
  const moments = h("div", { class: "moments" });
  const entities = h("nav", { class: "column compare-entities", "aria-label": "Entities that differ" });
  const changes = h("section", { class: "column compare-changes", "aria-label": "Differences", tabindex: "-1" });
  element.append(moments, entities, changes);
  const loader = new Loader(changes);
  const first = field("from", "From");
  const second = field("to", "To");
  const ready = h("div", { class: "quick" }, h("span", {},
    h("button", { type: "button", class: "plain", onclick: exchange }, "Exchange"),
    h("button", { type: "button", class: "plain", onclick: () => back("before") }, "Last transaction"),
    h("button", { type: "button", class: "plain", onclick: () => back(1) }, "Last day"),
    h("button", { type: "button", class: "plain", onclick: () => back(30) }, "Last 30 days"),
    h("button", { type: "button", class: "plain", onclick: () => go(changed({ from: "base" })) }, "All")));
  moments.append(first.element, second.element, ready);

  function field(name, label) {
    const input = h("input", {
      type: "text", name, size: 18, spellcheck: "false", autocomplete: "off", placeholder: name === "to" ? "the moment" : "base",
      onchange: () => go(changed({ [name]: input.value.trim() || null })),
      "data-first": name === "from",
    });
    const said = h("span", { class: "said small" });
    return { input, said, element: h("div", {}, h("label", { class: "field" }, h("span", {}, label), input), said) };
  }

  function range() {
    const { from, to } = current().query;
    return { from: from ?? "base", to: to ?? at() ?? "head" };
  }

  function exchange() {
    const { from, to } = range();
    go(changed({ from: to, to: from }));
  }

  /** Sets the first moment some days before the second, or one transaction. */
  async function back(days) {
    const { to } = range();
    const { moment } = await ask("moment", { at: to });
    if (days === "before" || !moment.timestamp) {
      return go(changed({ from: Math.max(session.base, moment.number - 1), to: moment.number }));
    }
    const date = new Date(Date.parse(moment.timestamp) - days * 86400e3).toISOString();
    return go(changed({ from: date.replace(/\.\d+Z$/, "Z"), to: moment.number }));
  }

  function show() {
    const { from, to } = range();
    const { entity } = current().query;
    const { query } = current();
    for (const [one, name] of [[first, "from"], [second, "to"]]) {
      if (document.activeElement !== one.input) one.input.value = query[name] ?? "";
    }
    loader.load(JSON.stringify([from, to, entity, momentKey()]), async (signal) => {
      for (;;) {
        const answer = await ask("diff", { from, to, entity, limit: pageLength, cut: 2000 }, signal);
        draw(answer);
        if ((answer.progress ?? 1) >= 1) return;
        await new Promise((resolve) => setTimeout(resolve, 300));
        signal.throwIfAborted();
      }
    }, { quietly: changes.children.length > 0 });
  }

  function draw(answer) {
    setCommand(answer.command);
    said(first.said, answer.from);
    said(second.said, answer.to);
    const { entity } = current().query;
    const sum = { inserts: 0, updates: 0, deletes: 0 };
    for (const each of answer.entities) for (const name of Object.keys(sum)) sum[name] += each[name];
    const row = (name, label, counts) => h("a", {
      href: changed({ entity: name }), "aria-current": (entity ?? null) === name ? "true" : null,
    }, h("span", { class: "cut" }, label), h("span", { class: "nowrap" }, tally(counts)));
    replace(entities, answer.entities.length > 0 && [row(null, "All", sum),
      answer.entities.map((each) => row(each.entity, each.entity, each))]);
    replace(changes, answer.total === 0
      ? notice("", "No difference", "The two states are equal.")
      : list(answer));
  }

  function said(place, moment) {
    replace(place, h("span", { class: "nowrap" }, moment.number === 0 ? "empty" : `transaction ${count(moment.number)}`),
      moment.timestamp && h("span", { class: "soft nowrap" }, minutes(moment.timestamp)),
      moment.author && who(moment.author));
  }

  function list(answer) {
    const place = h("div", { class: "all-changes" });
    addTo(place, answer);
    return [h("h3", { class: "soft" }, counted(answer.total, "object")), place];
  }

  function addTo(place, answer) {
    place.append(...answer.changes.map((each) =>
      changeElement(each, null, { open: each.kind === "update" || answer.total <= 8 })));
    const rest = answer.total - answer.offset - answer.changes.length;
    if (rest <= 0 || answer.changes.length === 0) return;
    const button = h("button", {
      type: "button", onclick: async () => {
        button.disabled = true;
        const next = await ask("diff", {
          ...range(), entity: current().query.entity, limit: pageLength, cut: 2000,
          offset: answer.offset + answer.changes.length,
        });
        button.remove();
        addTo(place, next);
      },
    }, `${count(rest)} more`);
    place.append(button);
  }

  return { show, keys: { "/": ["To the moments", () => first.input.focus()] }, close: () => loader.stop() };
}
