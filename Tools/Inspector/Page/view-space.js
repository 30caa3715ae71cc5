// Where the bytes of the file go: areas by property, author, month or use, and the same as a list.

import { changed, current, go, link } from "./address.js";
import { h, observeSize, plainButton, replace, setStyle } from "./dom.js";
import { setCommand } from "./frame.js";
import { askUntilWhole, Loader } from "./server.js";
import { hue, session } from "./session.js";
import { drawTreemap, itemKey, itemTitle } from "./treemap.js";
import { bytes, count, counted } from "./values.js";

const kinds = [
  ["property", "Properties"], ["author", "Authors"], ["month", "Months"], ["use", "Uses"],
];
const mostRows = 400;

export function create(element) {
  const choice = h("div", { class: "space-bar", role: "group", "aria-label": "By" });
  const map = h("div", {
    class: "treemap", role: "img", "aria-label": "Areas by bytes; the list beside says the same",
  });
  const list = h("section", { class: "column space-list", "aria-label": "Bytes", tabindex: "-1" });
  element.append(h("section", { class: "space-map" }, choice, map), list);
  const loader = new Loader(list);
  let answer = null;
  const stop = observeSize(map, () => answer && drawMap());

  function show() {
    const choose = (name) => go(changed({ by: name === "property" ? null : name }));
    replace(choice, h("h2", {}, "Space"), kinds.map(([name, title]) =>
      plainButton(title, () => choose(name), { "aria-pressed": String(name === kind()) })));
    if (answer) draw();
    loader.load(`${session.size} ${session.head}`, (signal) =>
      askUntilWhole("space", {}, signal, (newAnswer) => {
        answer = newAnswer;
        draw();
      }), { quietly: answer !== null });
  }

  function draw() {
    showCommand(answer);
    drawMap();
    drawList();
  }

  function drawMap() {
    drawTreemap(map, itemsOf[kind()](answer), {
      isWhole: (answer.progress ?? 1) >= 1, inOrder: kind() === "month",
    });
  }

  function drawList() {
    const items = itemsOf[kind()](answer);
    if (kind() !== "month") items.sort((first, second) => second.size - first.size);
    const sum = Math.max(1, answer.size);
    const greatest = Math.max(1, ...items.map((each) => each.size));
    const rows = items.slice(0, mostRows).map((each) => h("tr", {
      "data-name": itemKey(each), title: each.remark,
      onpointerenter: () => light(each, true), onpointerleave: () => light(each, false),
    }, cells(each, { sum, greatest })));
    replace(list, summary(answer),
      h("table", { class: "list space-table" }, h("tbody", {}, rows)), items.length > mostRows
        && h("p", { class: "soft" }, `and ${count(items.length - mostRows)} more`));
  }

  function light(item, isOn) {
    for (const each of map.querySelectorAll(".box")) {
      if (each.dataset.name === itemKey(item)) each.classList.toggle("lit", isOn);
    }
  }

  return {
    show,
    close() {
      stop();
      loader.stop();
    },
  };
}

function kind() {
  const { by } = current().query;
  return Object.hasOwn(itemsOf, by) ? by : "property";
}

/** The items of each kind: name, bytes, group, colour, and what there is to say. */
const itemsOf = {
  property({ properties }) {
    const entities = [...new Set(properties.map((each) => each.entity))];
    const parts = ["history", "state", "large"];
    return properties.map(({ entity, property, bytes: size, ...own }) => ({
      name: property ?? entity, group: entity, isWhole: !property, size,
      hue: (entities.indexOf(entity) % 8) + 1,
      remark: parts.map((each) => `${bytes(own[each] ?? 0)} ${each}`).join(", "),
      href: property && link("transactions", [], { entity, property }),
    }));
  },
  author({ authors }) {
    return authors.map(({ author, bytes: size, transactions }) => ({
      name: author ?? "no author", size, hue: hue(author),
      remark: counted(transactions, "transaction"),
      href: author && link("transactions", [], { author }),
    }));
  },
  month({ months }) {
    const inOrder = [...months].sort((first, second) => (first.month < second.month ? -1 : 1));
    return inOrder.map(({ month, bytes: size, transactions }) => ({
      name: month, size, hue: 1, remark: counted(transactions, "transaction"),
      href: link("transactions", [], { since: month, until: month }),
    }));
  },
  use({ uses }) {
    return uses.map(({ use, bytes: size }, place) => ({
      name: use, size, hue: (place % 8) + 1, remark: "",
    }));
  },
};

/** The command prints properties and uses, but neither authors nor months. */
function showCommand({ command }) {
  if (kind() === "property" || kind() === "use") setCommand(command);
  else setCommand("", `No command prints the bytes by ${kind()}.`);
}

function summary({ size, progress = 1, isSound }) {
  return h("p", { class: "soft" }, `${bytes(size)} in all`,
    progress < 1 && ` – counted so far: ${Math.floor(progress * 100)} %`,
    isSound === false && ". Not all of the file can be read");
}

/** The cells of an item: its name, a bar to scale, its bytes and their share. */
function cells(item, { sum, greatest }) {
  const { size, href } = item;
  const bar = h("span", { class: "bar" });
  setStyle(bar, { width: `${(size / greatest) * 100}%` });
  const title = itemTitle(item);
  return [
    h("td", { class: "space-name" },
      h("span", { class: `swatch hue-${item.hue}`, "aria-hidden": "true" }),
      h("span", { class: "cut" }, href ? h("a", { href }, title) : title)),
    h("td", { class: "bar-cell" }, bar),
    h("td", { class: "number" }, bytes(size)),
    h("td", { class: "number soft" }, `${((size / sum) * 100).toFixed(1)} %`),
  ];
}
