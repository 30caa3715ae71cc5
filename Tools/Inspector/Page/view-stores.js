// The stores of a folder, with what `annals stat` says of each.

import { format } from "./address.js";
import { h, notice, replace } from "./dom.js";
import { setCommand } from "./frame.js";
import { ask, Loader } from "./server.js";
import { bytes, count, day } from "./values.js";

export function create(element) {
  const loader = new Loader(element);
  return {
    show() {
      loader.load(null, async (signal) => {
        const answer = await ask("stores", {}, signal);
        setCommand(answer.command);
        draw(element, answer);
      }, { quietly: element.children.length > 0 });
    },
    close: () => loader.stop(),
  };
}

function draw(element, answer) {
  if (answer.stores.length === 0) {
    replace(element, notice("", "No store", "There is no .annals file in this folder."));
    return;
  }
  replace(element, h("div", { class: "stores" }, h("table", { class: "list stores-table" },
    h("thead", {}, h("tr", {}, h("th", {}, "Store"), h("th", { class: "number" }, "Size"),
      h("th", { class: "number" }, "Transactions"), h("th", {}, "From"), h("th", {}, "To"), h("th", {}, "Objects"))),
    h("tbody", {}, answer.stores.map(row))),
  answer.more > 0 && h("p", { class: "soft" }, `and ${count(answer.more)} more stores`),
  h("p", { class: "soft small prose" }, "Each as opening finds it. Whether all its bytes are sound is checked under Bytes.")));
}

function row(store) {
  const name = h("td", {}, h("a", {
    href: format({ view: store.problem ? "bytes" : "state", query: { store: store.name } }), "data-first": true,
  }, store.name));
  const size = h("td", { class: "number" }, bytes(store.size));
  if (store.problem) {
    return h("tr", {}, name, size, h("td", { colspan: "4" }, h("p", { class: "bad" }, store.problem.message),
      store.problem.remedy && h("code", { class: "mono soft" }, store.problem.remedy)));
  }
  const objects = (store.objects ?? []).slice(0, 6).map((each) => `${each.entity} ${count(each.count)}`).join(" · ");
  return h("tr", {}, name, size,
    h("td", { class: "number" }, store.head === undefined ? "" : count(store.head - (store.base ?? 0)),
      h("span", { class: "narrow-only" }, " transactions")),
    h("td", { class: "nowrap" }, store.first && [h("span", { class: "narrow-only" }, "from "), day(store.first)]),
    h("td", { class: "nowrap" }, store.last && [h("span", { class: "narrow-only" }, "to "), day(store.last)]),
    h("td", { class: "soft" }, h("span", { class: "prose" }, objects)));
}
