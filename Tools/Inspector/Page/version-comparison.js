// Two versions of an object compared. They are part of the address: versions=A,B.

import { changed, current, go } from "./address.js";
import { changeElement } from "./change.js";
import { button, h, replace } from "./dom.js";
import { ask, Loader } from "./server.js";
import { count } from "./values.js";

export function chosenVersions() {
  const texts = (current().query.versions ?? "").split(",");
  return texts.filter((each) => /^\d+$/.test(each)).map(Number);
}

/** Chooses a version, or gives it up; of three the first is given up. */
export function toggleVersion(number) {
  const chosen = chosenVersions();
  const next = chosen.includes(number) ? chosen.filter((each) => each !== number)
    : [...chosen, number].slice(-2);
  showVersions(next.join(",") || null);
}

function showVersions(versions) {
  go(changed({ versions }), { replacing: true });
}

/** Makes the comparison of the chosen versions; it is empty unless there are two. */
export function createComparison(element) {
  const loader = new Loader(element);
  return {
    show(object) {
      const [from, to] = chosenVersions().sort((first, second) => first - second);
      if (to === undefined) {
        loader.stop();
        replace(element);
        return;
      }
      loader.load(`${object} ${from},${to}`, async (signal) => {
        const { change } = await ask("version", { object, from, to, cut: 2000 }, signal);
        const close = button("close", () => showVersions(null), { class: "plain small" });
        replace(element, h("h3", {}, `${count(from)} → ${count(to)} `, close),
          change ? changeElement(change, null, { withObject: false })
            : h("p", { class: "soft" }, "Equal."));
      });
    },
    close: () => loader.stop(),
  };
}
