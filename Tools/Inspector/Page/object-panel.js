// One object at the moment: its values, who set each and when, and what refers to it.

import { changed, current, link } from "./address.js";
import { button, h, replace } from "./dom.js";
import { ask, Loader } from "./server.js";
import { at, momentKey } from "./session.js";
import { count, day, reference, transactionLink, value, who } from "./values.js";

/** Makes the panel; it shows the object that is asked for. */
export function createObjectPanel(element, { answered }) {
  const loader = new Loader(element);
  let shownObject = null;

  function show(object) {
    const isSame = object === shownObject;
    shownObject = object;
    loader.load(`${object} ${momentKey()}`, async (signal) => {
      const answer = await ask("object", { object, at: at(), cut: 2000 }, signal);
      answered(answer);
      draw(answer);
      mark();
    }, { quietly: isSame });
    mark();
  }

  /** Marks the property whose versions the life shows alone. */
  function mark() {
    for (const each of element.querySelectorAll("[data-property]")) {
      const isChosen = current().query.property === each.dataset.property;
      each.classList.toggle("chosen", isChosen);
      each.href = changed({ property: isChosen ? null : each.dataset.property });
    }
  }

  function draw(answer) {
    const { object } = answer;
    replace(element,
      h("div", { class: "object-title" },
        h("h2", {}, object.label ?? object.name),
        h("div", { class: "soft small" }, object.label ? object.name : object.id, actions(answer))),
      state(answer),
      properties(answer),
      referrers(answer));
  }

  /** Every property with its blame; those that never had a value share a line. */
  function properties(answer) {
    const isUnset = (each) => each.value.kind === "null" && !each.setBy && !each.isOfBase;
    const shown = answer.properties.filter((each) => !isUnset(each));
    const unset = answer.properties.filter(isUnset);
    if (answer.properties.length === 0) return null;
    return [h("dl", { class: "properties" }, shown.map((each) => property(answer, each))), unset.length > 0 && h("p", { class: "unset soft" }, "Never set: ", unset.map((each) => each.name).join(", "))];
  }

  /** Name, value and blame; a long value lies below the other two, over the whole width. */
  function property(answer, each) {
    const name = h("dt", {}, h("a", {
      href: changed({ property: current().query.property === each.name ? null : each.name }), "data-property": each.name,
      title: `${each.type}. Press for its versions alone`,
    }, each.name));
    const shown = value(each.value, { object: answer.object.id, property: each.name, at: answer.moment.number });
    if (!isLong(each.value)) return [name, h("dd", {}, shown), h("dd", { class: "blame small" }, blame(each))];
    return [name, h("dd", { class: "blame small beside-long" }, blame(each)), h("dd", { class: "long" }, shown)];
  }

  return { show, close: () => loader.stop() };
}

function isLong({ kind, text }) {
  return (kind === "string" || kind === "json") && text.length > 160;
}

function actions({ object }) {
  const hasName = object.name && object.name !== object.id;
  return [
    " · ", h("a", { href: link("transactions", [], { object: object.id }) }, "transactions"),
    hasName && [" (", h("a", {
      href: link("transactions", [], { object: object.name }),
      title: `Also of others that were ${object.name} before or after`,
    }, "all of this name"), ")"],
    " · ", h("a", { href: link("since", [], { object: object.id }) }, "since when"),
  ];
}

/** Whether the object is there at the moment, and if not, why. */
function state(answer) {
  if (answer.exists) return null;
  if (answer.deleted) {
    return h("p", { class: "state bad" }, "Deleted in ", transactionLink(answer.deleted.number),
      answer.deleted.timestamp ? `, ${day(answer.deleted.timestamp)}, by ` : " by ", who(answer.deleted.author),
      ". These were its last values.");
  }
  return h("p", { class: "state soft" }, "Not there at this moment. Its life shows when it is.");
}

/** Who set a value: the link to the transaction is the date. */
function blame(property) {
  const set = property.setBy;
  if (!set) return property.isOfBase ? h("span", { class: "soft" }, "at the base") : null;
  return h("a", {
    href: link("transactions", [], { show: set.number }), class: "blame-link",
    title: `Transaction ${set.number}${set.message ? `: ${set.message}` : ""}`,
  }, who(set.author), h("span", { class: "nowrap" }, set.timestamp ? day(set.timestamp) : count(set.number)));
}

/** What refers to the object, by entity and property; each group opens to a list. */
function referrers(answer) {
  const all = answer.referrers ?? [];
  if (all.length === 0) return null;
  return h("section", { class: "referrers" }, h("h3", { class: "soft" }, "Referred to by"), all.map((group) => {
    const list = h("ul", {});
    const details = h("details", {
      async ontoggle() {
        if (!details.open || list.children.length > 0) return;
        await more(answer, group, list, 0);
      },
    }, h("summary", {}, `${group.entity}.${group.property} `, h("span", { class: "soft" }, count(group.count))), list);
    if (group.count <= 8) details.open = true;
    return details;
  }));
}

async function more(answer, group, list, offset) {
  const limit = 50;
  try {
    const page = await ask("referrers", {
      object: answer.object.id, property: `${group.entity}.${group.property}`, at: answer.moment.number, offset, limit,
    });
    list.append(...page.objects.map((each) => h("li", {}, reference(each))));
    const rest = page.total - offset - page.objects.length;
    if (rest > 0 && page.objects.length > 0) {
      const item = h("li", {}, button(`${count(rest)} more`, () => {
        item.remove();
        more(answer, group, list, offset + limit);
      }, { class: "plain small" }));
      list.append(item);
    }
  } catch (error) {
    list.append(h("li", { class: "soft" }, error.message));
  }
}

/** The object that the address names: its id, or entity and key. */
export function objectOfAddress(parts = current().parts) {
  if (parts.length >= 2) return parts.join("/");
  return /#\d+$/.test(parts[0] ?? "") ? parts[0] : null;
}

/** The entity of an object's id or name. */
export function entityOf(object) {
  const mark = /#\d+$/.test(object) ? object.lastIndexOf("#") : object.indexOf("/");
  return object.slice(0, mark);
}
