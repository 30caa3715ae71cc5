// Where the bytes of the file go: areas by property, author, month or use, and the same as a list.

import { changed, current, go, link } from "./address.js";
import { h, notice, observeSize, replace, s, setStyle } from "./dom.js";
import { setCommand } from "./frame.js";
import { askUntilWhole, Loader } from "./server.js";
import { hue, session } from "./session.js";
import { squarify } from "./treemap.js";
import { bytes, count, counted } from "./values.js";

const kinds = [["property", "Properties"], ["author", "Authors"], ["month", "Months"], ["use", "Uses"]];

export function create(element) {
  const choice = h("div", { class: "space-bar", role: "group", "aria-label": "By" });
  const map = h("div", { class: "treemap", role: "img", "aria-label": "Areas by bytes; the list beside says the same" });
  const list = h("section", { class: "column space-list", "aria-label": "Bytes", tabindex: "-1" });
  const left = h("section", { class: "space-map" }, choice, map);
  element.append(left, list);
  const loader = new Loader(list);
  let answer = null;
  const stop = observeSize(map, () => drawMap());

  function kind() {
    return kinds.some(([name]) => name === current().query.by) ? current().query.by : "property";
  }

  function show() {
    replace(choice, h("h2", {}, "Space"), kinds.map(([name, title]) => h("button", {
      type: "button", class: "plain", "aria-pressed": name === kind() ? "true" : "false",
      onclick: () => go(changed({ by: name === "property" ? null : name })),
    }, title)));
    if (answer) {
      showCommand();
      draw();
    }
    loader.load(`${session.size} ${session.head}`, (signal) => askUntilWhole("space", {}, signal, (newAnswer) => {
      answer = newAnswer;
      showCommand();
      draw();
    }), { quietly: answer !== null });
  }

  /** The command prints properties and uses, but neither authors nor months. */
  function showCommand() {
    const isPrinted = kind() === "property" || kind() === "use";
    if (isPrinted) setCommand(answer.command);
    else setCommand("", `No command prints the bytes by ${kind()}.`);
  }

  /** The items of the chosen kind: name, bytes, group, colour, and what there is to say. */
  function items() {
    switch (kind()) {
      case "author":
        return answer.authors.map((each) => ({
          name: each.author ?? "no author", size: each.bytes, hue: hue(each.author), remark: counted(each.transactions, "transaction"),
          href: each.author && link("transactions", [], { author: each.author }),
        }));
      case "month":
        return answer.months.map((each) => ({
          name: each.month, size: each.bytes, hue: 1, remark: counted(each.transactions, "transaction"),
          href: link("transactions", [], { since: each.month, until: each.month }),
        }));
      case "use":
        return answer.uses.map((each, place) => ({ name: each.use, size: each.bytes, hue: (place % 8) + 1, remark: "" }));
      default: {
        const entities = [...new Set(answer.properties.map((each) => each.entity))];
        return answer.properties.map((each) => ({
          name: each.property ?? each.entity, group: each.entity, isWhole: !each.property, size: each.bytes, hue: (entities.indexOf(each.entity) % 8) + 1,
          remark: `${bytes(each.history ?? 0)} history, ${bytes(each.state ?? 0)} state, ${bytes(each.large ?? 0)} large`,
          href: each.property && link("transactions", [], { entity: each.entity, property: each.property }),
        }));
      }
    }
  }

  function draw() {
    drawMap();
    drawList();
  }

  function drawMap() {
    const { clientWidth: width, clientHeight: height } = map;
    if (!answer || width === 0 || height === 0) return;
    const all = items();
    if (all.every((each) => each.size === 0)) {
      replace(map, (answer.progress ?? 1) < 1 ? notice("loading", null, "Counting…")
        : notice("", "Nothing here", "No bytes are counted for this."));
      return;
    }
    const groups = [...new Set(all.map((each) => each.group))];
    const isGrouped = groups.length > 1 || groups[0] !== undefined;
    const top = isGrouped ? groups.map((name) => ({
      name, members: all.filter((each) => each.group === name),
      size: all.reduce((sum, each) => sum + (each.group === name ? each.size : 0), 0),
    })) : all;
    const placed = squarify(top, 0, 0, width, height);
    const boxes = isGrouped ? placed.flatMap((group) => {
      const hasTitle = group.height > 40 && group.width > 50;
      const space = hasTitle ? 18 : 0;
      return [
        hasTitle && s("text", { class: "group-title", x: group.x + 5, y: group.y + 13 },
          fitted(`${group.name} ${bytes(group.size)}`, group.width - 8)),
        squarify(group.members, group.x, group.y + space, group.width, group.height - space).map(box),
        s("rect", { class: "group-border", x: group.x, y: group.y, width: group.width, height: group.height }),
      ];
    }) : placed.map(box);
    replace(map, s("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, boxes));
  }

  function box(each) {
    const hasName = each.width > 44 && each.height > 18;
    const hasSize = hasName && each.height > 34;
    return s("g", { class: `box hue-${each.hue}`, "data-name": key(each) },
      s("rect", { x: each.x + 0.5, y: each.y + 0.5, width: Math.max(0.5, each.width - 1), height: Math.max(0.5, each.height - 1) }),
      s("title", {}, `${nameOf(each)}: ${bytes(each.size)}${each.remark ? `, ${each.remark}` : ""}`),
      hasName && s("text", { x: each.x + 6, y: each.y + 15 }, fitted(each.name, each.width - 10)),
      hasSize && s("text", { class: "size", x: each.x + 6, y: each.y + 30 }, fitted(bytes(each.size), each.width - 10)));
  }

  function drawList() {
    const all = items();
    const order = kind() === "month" ? all : [...all].sort((first, second) => second.size - first.size);
    const sum = Math.max(1, answer.size);
    const greatest = Math.max(1, ...all.map((each) => each.size));
    replace(list,
      h("p", { class: "soft" }, `${bytes(answer.size)} in all`, (answer.progress ?? 1) < 1
        && ` – counted so far: ${Math.floor(answer.progress * 100)} %`, answer.isSound === false && ". Not all of the file can be read"),
      h("table", { class: "list space-table" }, h("tbody", {}, order.slice(0, 400).map((each) => {
        const bar = h("span", { class: "bar" });
        setStyle(bar, { width: `${(each.size / greatest) * 100}%` });
        return h("tr", { "data-name": key(each), title: each.remark, onpointerenter: () => light(each, true), onpointerleave: () => light(each, false) },
          h("td", { class: "space-name" }, h("span", { class: `swatch hue-${each.hue}`, "aria-hidden": "true" }),
            h("span", { class: "cut" }, each.href ? h("a", { href: each.href }, nameOf(each))
              : nameOf(each))),
          h("td", { class: "bar-cell" }, bar),
          h("td", { class: "number" }, bytes(each.size)),
          h("td", { class: "number soft" }, `${((each.size / sum) * 100).toFixed(1)} %`));
      }))), order.length > 400 && h("p", { class: "soft" }, `and ${count(order.length - 400)} more`));
  }

  function key(each) {
    return `${each.group ?? ""}.${each.name}`;
  }

  function light(each, isOn) {
    for (const one of map.querySelectorAll(".box")) {
      if (one.dataset.name === key(each)) one.classList.toggle("lit", isOn);
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

/** "Post.title", or the entity alone for what its objects take beside their properties. */
function nameOf({ group, name, isWhole }) {
  return group && !isWhole ? `${group}.${name}` : name;
}

/** As much of a text as fits into some pixels at 12 px. */
function fitted(text, width) {
  const most = Math.floor(width / 7);
  return text.length <= most ? text : most < 2 ? "" : `${text.slice(0, most - 1)}…`;
}
