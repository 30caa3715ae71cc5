// Since when something holds: a condition over an object or a count, bisected over the history.

import { changed, current, go } from "./address.js";
import { changeElement, headerLine } from "./change.js";
import { createCondition } from "./condition.js";
import { button, followAddress, h, notice, observeSize, plainButton, replace, s } from "./dom.js";
import { setCommand } from "./frame.js";
import { entityOf } from "./object-panel.js";
import { ask, failure, Loader } from "./server.js";
import { at, isAtHead, momentKey, session } from "./session.js";
import { sinceWords } from "./since-words.js";
import * as steps from "./steps.js";
import { count, counted } from "./values.js";

/** Of the picture of the states that were asked, in pixels. */
const height = 64;
const middle = 40.5;
const widest = 1400;

export function create(element) {
  const form = createForm();
  const result = h("section", { class: "since-result", "aria-label": "Answer", tabindex: "-1" });
  element.append(form.element, result);
  const loader = new Loader(result);
  let probes = [];
  const stop = observeSize(result, () => draw());

  function draw() {
    const place = result.querySelector(".probes");
    if (place) drawProbes(place, probes);
  }

  function show() {
    const { query } = current();
    const entities = session.overview?.entities ?? [];
    if (!isOfObject() && !query.entity && entities.length > 0) return chooseFirst(entities);
    form.show(entities);
    const question = isOfObject() ? { object: query.object, where: query.where }
      : { entity: query.entity, where: query.where, count: query.count };
    if (isOfObject() && !query.object) {
      loader.stop();
      return replace(result, notice("", "Which object?",
        "Name it as Post/7 or Post#7, or come here from an object."));
    }
    return loader.load(JSON.stringify([question, momentKey()]), async (signal) => {
      const [answer, known] = await Promise.all([
        ask("since", { ...question, at: at() }, signal), knownOf(question, signal),
      ]);
      ({ probes } = answer);
      setCommand(answer.command);
      replace(result, answerElements(answer, sinceWords(answer, question, known)));
      draw();
    }, {
      quietly: result.children.length > 0,
      failed: (error) => {
        if (error.parameter !== "where") return false;
        form.condition.showProblem(error);
        replace(result, failure(error));
        return true;
      },
    });
  }

  return {
    show,
    keys: { "/": ["To the condition", () => form.condition.input.focus()] },
    close() {
      stop();
      loader.stop();
    },
  };
}

function isOfObject() {
  const { query } = current();
  return Boolean(query.object) || query.subject === "object";
}

/** Asks at first since when there are half as many as now, of the entity with the most. */
function chooseFirst(entities) {
  const most = entities.reduce((best, each) => (each.count > best.count ? each : best));
  const half = `>=${Math.max(1, Math.ceil(most.count / 2))}`;
  go(changed({ entity: most.name, count: current().query.count ?? half }), { replacing: true });
}

function createForm() {
  const subject = h("select", { "aria-label": "Of what", onchange: () => chooseSubject() });
  const object = h("input", {
    type: "text", size: 16, placeholder: "Post/7", "aria-label": "Object", spellcheck: "false",
    autocomplete: "off",
    onchange: () => go(changed({ object: object.value.trim() || null, entity: null })),
  });
  const number = h("input", {
    type: "text", size: 8, placeholder: ">0", "aria-label": "How many", autocomplete: "off",
    onchange: () => go(changed({ count: number.value.trim() || null })),
  });
  const condition = createCondition(() => {
    const { query } = current();
    return query.object ? entityOf(query.object) : query.entity;
  }, { name: "Condition", example: "leave out: it exists" });
  const amount = h("label", { class: "field count-field" }, "there are", number);

  function chooseSubject() {
    const entity = subject.value;
    go(changed(entity === "object"
      ? { entity: null, object: object.value || null, count: null, subject: "object" }
      : { entity, object: null, subject: null }));
  }

  function show(entities) {
    const { query } = current();
    replace(subject,
      entities.map((each) => h("option", { value: each.name }, `all of ${each.name}`)),
      h("option", { value: "object" }, "one object"));
    subject.value = isOfObject() ? "object" : query.entity;
    object.hidden = !isOfObject();
    amount.hidden = isOfObject();
    followAddress(object, query.object);
    followAddress(number, query.count);
    condition.set(query.where);
  }

  const element = h("div", { class: "since-form" },
    h("h2", {}, "Since when"), h("label", { class: "field" }, "of", subject), object, amount,
    h("div", { class: "since-condition" },
      h("label", { class: "soft" }, "that meet"), condition.element));
  return { element, condition, show };
}

/** The object at the moment; one that never was is refused by the question itself. */
async function knownOf({ object }, signal) {
  if (!object) return null;
  return ask("object", { object, at: at(), cut: 1 }, signal).catch(() => null);
}

function answerElements(answer, words) {
  const { became, changes, from, to, note, earlier } = answer;
  return [
    h("div", { class: "since-answer" },
      h("div", {}, h("p", { class: "since-words" }, words), note && h("p", { class: "soft" }, note),
        earlier && h("p", { class: "soft" }, "The key was another object's before: ", earlier.map((object, place) =>
          [place ? ", " : "", h("a", { href: changed({ object }) }, object)]))),
      became && h("div", { class: "since-became" }, headerLine(became), h("p", {},
        button("Show this moment", () => showMoment(became))))),
    ofThePast(to),
    h("h3", { class: "soft" },
      `${counted(answer.states, "state")} asked, of ${count(to.number - from.number + 1)}`),
    h("div", { class: "probes" }), probeTable(answer.probes),
    changes?.length > 0 && [h("h3", { class: "soft" }, "What that transaction changed"),
      h("div", { class: "all-changes" }, changes.map((each) =>
        changeElement(each, became?.number)))],
  ];
}

function showMoment({ number }) {
  steps.goTo(number, { replacing: false });
}

/** That the question is about a moment in the past, and the way to the newest. */
function ofThePast({ number }) {
  if (isAtHead() || number >= session.head) return null;
  return h("p", { class: "warn", role: "status" }, `This is of transaction ${count(number)}; `,
    `${counted(session.head - number, "newer transaction")} not asked. `, steps.newestButton());
}

/** Draws the states on a line from base to the moment: full where the condition holds. */
function drawProbes(element, probes) {
  if (probes.length === 0) return;
  const width = Math.min(element.clientWidth, widest);
  const least = session.base;
  const most = Math.max(...probes.map((each) => each.number), steps.number(), least + 1);
  const x = (number) => 10 + ((number - least) / (most - least)) * (width - 20);
  replace(element, s("svg", {
    width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": "The states that were asked",
  },
  s("line", { class: "axis", x1: 10, x2: width - 10, y1: middle, y2: middle }),
  inOrder(probes).map((each) => probe(each, x(each.number), probes.indexOf(each) + 1)),
  s("text", { class: "tick-text", x: 6, y: 60 }, count(least)),
  s("text", { class: "tick-text", x: width - 6, y: 60, "text-anchor": "end" }, count(most))));
}

function inOrder(probes) {
  return [...probes].sort((first, second) => first.number - second.number);
}

/** A state with a line as long as it was asked late. */
function probe(each, x, order) {
  const holds = each.holds ? "holds" : "does not hold";
  const amount = each.count === undefined ? "" : `, ${count(each.count)}`;
  return s("g", { class: each.holds ? "probe holds" : "probe" },
    s("line", { x1: x, x2: x, y1: 40, y2: 40 - Math.min(30, order * 3) }),
    s("circle", { cx: x, cy: middle, r: 4.5 },
      s("title", {}, `${count(each.number)}: ${holds}${amount}`)));
}

/** The same as a table, closed at first. */
function probeTable(probes) {
  const cell = (name, content) => h(name, { class: "number" }, content);
  return probes.length > 0 && h("details", {},
    h("summary", { class: "soft" }, "The states that were asked"),
    h("table", { class: "list" },
      h("thead", {}, h("tr", {},
        cell("th", "transaction"), h("th", {}, "holds"), cell("th", "count"))),
      h("tbody", {}, inOrder(probes).map((each) => h("tr", {},
        cell("td", plainButton(count(each.number), () => showMoment(each))),
        h("td", {}, each.holds ? "yes" : "no"),
        cell("td", each.count === undefined ? "" : count(each.count)))))));
}
