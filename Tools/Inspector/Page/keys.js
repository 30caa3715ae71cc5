// Keys of the page, and the list of them.

import { changed, go } from "./address.js";
import { h, replace } from "./dom.js";
import * as frame from "./frame.js";
import { focusMoment } from "./moment-field.js";
import * as slider from "./slider.js";
import * as steps from "./steps.js";

let viewKeys = {};

/** Keys: name of the key, what it does in words, and the action. */
const keys = {
  "[": ["Transaction before", () => steps.byTransaction(-1)],
  "]": ["Next transaction", () => steps.byTransaction(1)],
  "{": ["Day before", () => steps.byDay(-1)],
  "}": ["Next day", () => steps.byDay(1)],
  "(": ["Transaction before, by the same author", () => steps.byAuthor(-1)],
  ")": ["Next transaction by the same author", () => steps.byAuthor(1)],
  "h": ["Newest state", () => go(changed({ at: null }))],
  "+": ["Zoom in on the moment", () => slider.zoomBy(0.5)],
  "-": ["Zoom out", () => slider.zoomBy(2)],
  "x": ["Slider by time or by number", slider.toggleAxis],
  "m": ["To the field for the moment: a date, a number or a token", focusMoment],
  "s": ["To the slider", () => document.querySelector(".track").focus()],
  "v": ["To the view", () => focusView()],
  "c": ["Copy the command", frame.copyCommand],
  "l": ["Pause, or go on, with what others write", frame.togglePause],
  "t": ["Dark or light", frame.switchTheme],
  "?": ["This list", () => showHelp()],
};

function focusView() {
  const view = document.getElementById("view");
  (view.querySelector("[data-first], [role=grid], a[href], button, input") ?? view).focus();
}

/** The keys of the view that is shown, in the same form. */
export function setViewKeys(newKeys) {
  viewKeys = newKeys;
}

export function install() {
  document.getElementById("skip").addEventListener("click", focusView);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const { target } = event;
    const isTyping = target.matches?.("input:not([type=checkbox]), textarea, select");
    if (event.key === "Escape" && isTyping) {
      target.blur();
      return;
    }
    if (isTyping || document.querySelector("dialog[open]")) return;
    const key = event.key === "Escape" ? "u" : event.key;
    const action = viewKeys[key]?.[1] ?? keys[key]?.[1];
    const digit = /^[1-8]$/.test(event.key) ? Number(event.key) : 0;
    if (!action && digit === 0) return;
    event.preventDefault();
    if (digit > 0) go(frame.addressOfView(digit - 1));
    else action();
  });
}

/** Shows the list of keys. */
export function showHelp() {
  const dialog = document.getElementById("help");
  const list = (title, entries) => h("section", {}, h("h2", {}, title),
    h("dl", {}, entries.map(([key, text]) => [h("dt", {}, h("span", { class: "key" }, key)), h("dd", {}, text)])));
  const own = Object.entries(viewKeys).map(([key, [text]]) => [key === "u" ? "u Esc" : key, text]);
  replace(dialog, h("div", { class: "help" },
    list("Everywhere", Object.entries(keys).map(([key, [text]]) => [key, text])),
    h("div", {},
      list("Views", frame.views.map(([, title], place) => [place + 1, title])),
      own.length > 0 && list("This view", own),
      list("On the slider", [["← →", "By transaction"], ["⇧← ⇧→", "By the same author"], ["⇞ ⇟", "By day"],
        ["⇱ ⇲", "Base, newest"], ["drag", "Zoom into a part"], ["wheel", "Zoom"]]))),
  h("form", { method: "dialog" }, h("button", { autofocus: true }, "Close")));
  dialog.showModal();
}
