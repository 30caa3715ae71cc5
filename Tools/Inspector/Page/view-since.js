// Since when something holds: a condition over an object or a count, bisected over the history.

import { changed, current, go } from "./address.js";
import { changeElement, headerLine } from "./change.js";
import { createCondition } from "./condition.js";
import { h, notice, observeSize, replace, s } from "./dom.js";
import { setCommand } from "./frame.js";
import { entityOf } from "./object-panel.js";
import { ask, failure, Loader } from "./server.js";
import { at, isAtHead, momentKey, session } from "./session.js";
import { sinceWords } from "./since-words.js";
import * as steps from "./steps.js";
import { count, counted } from "./values.js";

export function create(element) {
  const result = h("section", { class: "since-result", "aria-label": "Answer", tabindex: "-1" });
  const loader = new Loader(result);
  const subject = h("select", { "aria-label": "Of what", onchange: () => chooseSubject() });
  const object = h("input", {
    type: "text", size: 16, placeholder: "Post/7", "aria-label": "Object", spellcheck: "false", autocomplete: "off",
    onchange: () => go(changed({ object: object.value.trim() || null, entity: null })),
  });
  const number = h("input", {
    type: "text", size: 8, placeholder: ">0", "aria-label": "How many", autocomplete: "off",
    onchange: () => go(changed({ count: number.value.trim() || null })),
  });
  const condition = createCondition(entity, { name: "Condition", example: "leave out: it exists" });
  const form = h("div", { class: "since-form" },
    h("h2", {}, "Since when"),
    h("label", { class: "field" }, "of", subject), object,
    h("label", { class: "field count-field" }, "there are", number),
    h("div", { class: "since-condition" }, h("label", { class: "soft" }, "that meet"), condition.element));
  element.append(form, result);
  let probes = null;
  const stop = observeSize(result, () => drawProbes());

  function entity() {
    const { query } = current();
    return query.object ? entityOf(query.object) : query.entity;
  }

  function chooseSubject() {
    const name = subject.value;
    if (name === "object") go(changed({ entity: null, object: object.value || null, count: null, subject: "object" }));
    else go(changed({ entity: name, object: null, subject: null }));
  }

  function show() {
    const { query } = current();
    const isObject = Boolean(query.object) || query.subject === "object";
    const entities = session.overview?.entities ?? [];
    if (!isObject && !query.entity && entities.length > 0) {
      const most = entities.reduce((greatest, each) => (each.count > greatest.count ? each : greatest));
      go(changed({ entity: most.name, count: query.count ?? `>=${Math.max(1, Math.ceil(most.count / 2))}` }), { replacing: true });
      return;
    }
    replace(subject, entities.map((each) => h("option", { value: each.name }, `all of ${each.name}`)),
      h("option", { value: "object" }, "one object"));
    subject.value = isObject ? "object" : query.entity;
    object.hidden = !isObject;
    if (document.activeElement !== object) object.value = query.object ?? "";
    number.closest("label").hidden = isObject;
    if (document.activeElement !== number) number.value = query.count ?? "";
    condition.set(query.where);
    if (isObject && !query.object) {
      loader.stop();
      replace(result, notice("", "Which object?", "Name it as Post/7 or Post#7, or come here from an object."));
      return;
    }
    const question = isObject ? { object: query.object, where: query.where }
      : { entity: query.entity, where: query.where, count: query.count };
    loader.load(JSON.stringify([question, momentKey()]), async (signal) => {
      const [answer, known] = await Promise.all([ask("since", { ...question, at: at() }, signal), knownOf(question, signal)]);
      draw(answer, question, known);
    }, {
      quietly: result.children.length > 0,
      failed: (error) => {
        if (error.parameter !== "where") return false;
        condition.showProblem(error);
        replace(result, failure(error));
        return true;
      },
    });
  }

  /** That the question is about a moment in the past, and the way to the newest. */
  function ofThePast({ to }) {
    if (isAtHead() || to.number >= session.head) return null;
    return h("p", { class: "warn", role: "status" }, `This is of transaction ${count(to.number)}; `,
      `${counted(session.head - to.number, "newer transaction")} not asked. `,
      h("button", { type: "button", onclick: () => go(changed({ at: null })) }, "Newest"));
  }

  /** Whether the object is there at the moment; an object that never was is refused by the question itself. */
  async function knownOf({ object: asked }, signal) {
    if (!asked) return null;
    return ask("object", { object: asked, at: at(), cut: 1 }, signal).catch(() => null);
  }

  function draw(answer, question, known) {
    setCommand(answer.command);
    ({ probes } = answer);
    probes = probes.map((each, order) => ({ ...each, order: order + 1 })).sort((first, second) => first.number - second.number);
    const picture = h("div", { class: "probes" });
    replace(result,
      h("div", { class: "since-answer" },
        h("p", { class: "since-words" }, sinceWords(answer, question, known)),
        answer.became && h("div", { class: "since-became" }, headerLine(answer.became), h("p", {}, h("button", {
          type: "button", onclick: () => steps.goTo(answer.became.number, { replacing: false }),
        }, "Show this moment"))),
        answer.note && h("p", { class: "soft" }, answer.note)),
      ofThePast(answer),
      h("h3", { class: "soft" }, `${counted(answer.states, "state")} asked, of ${count(answer.to.number - answer.from.number + 1)}`),
      picture, probeTable(),
      answer.changes?.length > 0 && [h("h3", { class: "soft" }, "What that transaction changed"),
        h("div", { class: "all-changes" }, answer.changes.map((each) => changeElement(each, answer.became?.number)))]);
    drawProbes();
  }

  function probeTable() {
    if (probes.length === 0) return null;
    return h("details", {}, h("summary", { class: "soft" }, "The states that were asked"),
      h("table", { class: "list" }, h("thead", {}, h("tr", {}, h("th", { class: "number" }, "transaction"),
        h("th", {}, "holds"), h("th", { class: "number" }, "count"))),
      h("tbody", {}, probes.map((each) => h("tr", {}, h("td", { class: "number" }, h("button", {
        type: "button", class: "plain", onclick: () => steps.goTo(each.number, { replacing: false }),
      }, count(each.number))), h("td", {}, each.holds ? "yes" : "no"),
      h("td", { class: "number" }, each.count === undefined ? "" : count(each.count)))))));
  }

  /** The states that were asked, on a line from base to the moment: full where it holds. */
  function drawProbes() {
    const place = result.querySelector(".probes");
    if (!place || !probes || probes.length === 0) return;
    const width = Math.min(place.clientWidth, 1400);
    const height = 64;
    const least = session.base;
    const most = Math.max(probes.at(-1).number, steps.number(), least + 1);
    const x = (each) => 10 + ((each - least) / (most - least)) * (width - 20);
    replace(place, s("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "The states that were asked" },
      s("line", { class: "axis", x1: 10, x2: width - 10, y1: 40.5, y2: 40.5 }),
      probes.map((each) => s("g", { class: each.holds ? "probe holds" : "probe" },
        s("line", { x1: x(each.number), x2: x(each.number), y1: 40, y2: 40 - Math.min(30, each.order * 3) }),
        s("circle", { cx: x(each.number), cy: 40.5, r: 4.5 },
          s("title", {}, `${count(each.number)}: ${each.holds ? "holds" : "does not hold"}${each.count === undefined ? "" : `, ${count(each.count)}`}`)))),
      s("text", { class: "tick-text", x: 6, y: 60 }, count(least)),
      s("text", { class: "tick-text", x: width - 6, y: 60, "text-anchor": "end" }, count(most))));
  }

  return {
    show,
    keys: { "/": ["To the condition", () => condition.input.focus()] },
    close() {
      stop();
      loader.stop();
    },
  };
}
