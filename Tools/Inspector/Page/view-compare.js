// Two moments compared: what differs between them, by entity.

import { changed, current, go } from "./address.js";
import { appendChanges, tally } from "./change.js";
import { followAddress, h, notice, plainButton, replace } from "./dom.js";
import { setCommand } from "./frame.js";
import { ask, askUntilWhole, Loader } from "./server.js";
import { at, momentKey, session } from "./session.js";
import { count, counted, minutes, who } from "./values.js";

const pageLength = 100;

export function create(element) {
  const first = momentField("from", "From", "base");
  const second = momentField("to", "To", "the moment");
  const moments = h("div", { class: "moments" }, first.element, second.element, quickChoices());
  const entities = h("nav", {
    class: "column compare-entities", "aria-label": "Entities that differ",
  });
  const changes = h("section", {
    class: "column compare-changes", "aria-label": "Differences", tabindex: "-1",
  });
  element.append(moments, entities, changes);
  const loader = new Loader(changes);

  function show() {
    const { from, to, entity } = current().query;
    first.set(from);
    second.set(to);
    const question = { ...range(), entity, limit: pageLength, cut: 2000 };
    loader.load(JSON.stringify([question, momentKey()]), (signal) =>
      askUntilWhole("diff", question, signal, (answer) => draw(answer, question)), {
      quietly: changes.children.length > 0,
      failed() {
        for (const field of [first, second]) field.forget();
        replace(entities);
        return false;
      },
    });
  }

  function draw(answer, question) {
    setCommand(answer.command);
    first.tell(answer.from);
    second.tell(answer.to);
    replace(entities, answer.entities.length > 0 && entityLinks(answer.entities));
    if (answer.total === 0) {
      replace(changes, notice("", "No difference", "The two states are equal."));
      return;
    }
    const place = h("div", { class: "all-changes" });
    appendChanges(place, answer, {
      openUpTo: 8, next: (offset) => ask("diff", { ...question, offset }),
    });
    replace(changes, h("h3", { class: "soft" }, counted(answer.total, "object")), place);
  }

  return {
    show,
    keys: { "/": ["To the moments", () => first.input.focus()] },
    close: () => loader.stop(),
  };
}

function range() {
  const { from, to } = current().query;
  return { from: from ?? "base", to: to ?? at() ?? "head" };
}

function momentField(name, label, placeholder) {
  const input = h("input", {
    type: "text", name, size: 18, spellcheck: "false", autocomplete: "off", placeholder,
    onchange: () => go(changed({ [name]: input.value.trim() || null })),
    "data-first": name === "from",
  });
  const said = h("span", { class: "said small" });
  return {
    input,
    element: h("div", {}, h("label", { class: "field" }, h("span", {}, label), input), said),
    set: (text) => followAddress(input, text),
    forget: () => replace(said),
    tell({ number, timestamp, author }) {
      replace(said,
        h("span", { class: "nowrap" }, number === 0 ? "empty" : `transaction ${count(number)}`),
        timestamp && h("span", { class: "soft nowrap" }, minutes(timestamp)),
        author && who(author));
    },
  };
}

function quickChoices() {
  return h("div", { class: "quick" }, h("span", {},
    plainButton("Exchange", () => go(changed({ from: range().to, to: range().from }))),
    plainButton("Last transaction", () => goBack("before")),
    plainButton("Last day", () => goBack(1)),
    plainButton("Last 30 days", () => goBack(30)),
    plainButton("All", () => go(changed({ from: "base" })))));
}

/** Sets the first moment some days before the second, or one transaction. */
async function goBack(days) {
  const { moment } = await ask("moment", { at: range().to });
  if (days === "before" || !moment.timestamp) {
    return go(changed({ from: Math.max(session.base, moment.number - 1), to: moment.number }));
  }
  const date = new Date(Date.parse(moment.timestamp) - days * 86400e3).toISOString();
  return go(changed({ from: date.replace(/\.\d+Z$/, "Z"), to: moment.number }));
}

/** The entities that differ, and all of them together. */
function entityLinks(entities) {
  const { entity: chosen = null } = current().query;
  const all = { inserts: 0, updates: 0, deletes: 0, replaces: 0 };
  for (const each of entities) for (const name of Object.keys(all)) all[name] += each[name] ?? 0;
  const row = (entity, counts) => h("a", {
    href: changed({ entity }), "aria-current": chosen === entity ? "true" : null,
  }, h("span", { class: "cut" }, entity ?? "All"), h("span", { class: "nowrap" }, tally(counts)));
  return [row(null, all), entities.map((each) => row(each.entity, each))];
}
