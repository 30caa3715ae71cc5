// The frame of the page: file, views, live mark, theme, and the command that prints the same.

import { changed, current, format, link } from "./address.js";
import { button, h, plainButton, replace } from "./dom.js";
import { ask } from "./server.js";
import { lookAgain, observe, pause, session } from "./session.js";
import * as keys from "./keys.js";
import { bytes, counted } from "./values.js";

export const views = [
  ["state", "State"], ["transactions", "Transactions"], ["compare", "Compare"], ["since", "Since when"],
  ["timeline", "Timeline"], ["schema", "Schema"], ["space", "Space"], ["bytes", "Bytes"],
];

const byId = (name) => document.getElementById(name);
let stores = null;
let failureOfOpening = null;
let commandText = "";
let commandNote = "";

export function install() {
  byId("tools").append(
    plainButton(null, switchTheme, { id: "theme", title: "Dark or light (t)" }),
    plainButton("?", keys.showHelp, { "aria-label": "Keys (?)", title: "Keys (?)" }));
  const kept = localStorage.getItem("theme");
  if (kept) document.documentElement.dataset.theme = kept;
  showTheme();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);
  observe((what) => {
    if (what === "overview" || what === "live") showFile();
  });
  setCommand("");
}

/** Whether a folder was given, and what is in it. */
export async function findStores() {
  try {
    stores = await ask("stores", {});
  } catch {
    stores = null;
  }
}

export function isFolder() {
  return Boolean(stores?.folder);
}

export function setOpeningFailure(error) {
  failureOfOpening = error;
  showFile();
}

export function openingFailure() {
  return failureOfOpening;
}

/** Marks the view that is shown. */
export function showAddress(address, name) {
  replace(byId("views"), name === "stores" ? null : views.map(([view, title]) =>
    h("a", { href: link(view), "aria-current": view === name ? "page" : null }, title)));
  const title = views.find(([view]) => view === name)?.[1] ?? "Stores";
  const detail = address.parts[0] ? ` ${address.parts[0]}` : "";
  document.title = `${title}${detail} – ${session.overview?.file ?? address.query.store ?? "Annals"}`;
  showFile();
}

function showFile() {
  const { overview } = session;
  const isListing = current().view === "stores";
  const name = overview?.file ?? current().query.store ?? stores?.stores[0]?.name ?? "Annals";
  replace(byId("file"),
    isFolder() && h("a", { href: format({ view: "stores" }), class: "nowrap" }, "Stores"),
    isListing ? h("strong", { class: "cut" }, stores?.folder ?? "") : [
      h("strong", { class: "cut", title: overview?.path ?? name }, name),
      overview && h("span", { class: "soft nowrap" }, bytes(session.size)),
      overview && h("span", { class: "soft nowrap wide-only" }, counted(session.head - session.base, "transaction")),
      overview && h("span", { class: "soft nowrap wide-only", title: "All times are shown in this zone" }, zone()),
      overview && liveMark(),
    ]);
  showBanner();
}

/** "UTC+02:00": the zone of the command, in which all times are shown. */
function zone() {
  const minutes = Math.round(Math.abs(session.zoneOffset) / 60);
  if (minutes === 0) return "UTC";
  const two = (number) => String(number).padStart(2, "0");
  return `UTC${session.zoneOffset < 0 ? "−" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

const bannerTitles = { damaged: "The file is damaged", missing: "The file is gone" };

/** What is wrong with the file, above every view; the bytes have their findings. */
function showBanner() {
  const { damage, live, overview, problem } = session;
  const message = damage?.message ?? problem;
  const { view } = current();
  if (!overview || !message || view === "stores" || (damage && view === "bytes")) return replace(byId("banner"));
  return replace(byId("banner"), h("div", { class: "notice bad" },
    h("strong", {}, damage ? bannerTitles.damaged : bannerTitles[live] ?? "The file changed"),
    h("span", { class: "prose" }, message),
    damage?.remedy && h("code", { class: "mono" }, damage.remedy),
    h("span", { class: "banner-actions" }, h("a", { href: link("bytes") }, "Its bytes and findings"),
      damage && button("Ask again", lookAgain))));
}

const liveTexts = {
  live: ["live", "New transactions appear. Press to pause (l)"],
  paused: ["paused", "New transactions wait. Press to go on (l)"],
  connecting: ["…", "Connecting"],
  unreachable: ["no answer", "annals serve does not answer"],
};

function liveMark() {
  if (session.damage) {
    return h("a", { class: "live damaged nowrap", href: link("bytes"), title: session.damage.message },
      h("span", { class: "dot", "aria-hidden": "true" }), "damaged");
  }
  const [text, title] = liveTexts[session.live] ?? [session.live, session.problem ?? ""];
  const waiting = session.pausedAt === null ? 0 : session.head - session.pausedAt;
  return h("button", {
    type: "button", class: `plain live ${session.live}`, title, "aria-pressed": session.live === "paused" ? "true" : "false",
    onclick: togglePause, disabled: !["live", "paused"].includes(session.live),
  }, h("span", { class: "dot", "aria-hidden": "true" }), text, waiting > 0 ? `, ${waiting} new` : null);
}

export function togglePause() {
  if (["live", "paused"].includes(session.live)) pause(session.pausedAt === null);
}

/** Shows the command that prints what the view shows; the note says where it does not, or why there is none. */
export function setCommand(text, note = "") {
  if (text === commandText && note === commandNote && text) return;
  commandText = text ?? "";
  commandNote = note;
  const copy = plainButton("Copy", () => copyCommand(), { title: "Copy (c)" });
  replace(byId("command"), commandText && [h("code", { class: "mono" }, words(commandText)), copy],
    note && h("span", { class: "note" }, note));
}

/** The words of a command: an option does not break at its hyphens. */
function words(text) {
  return text.split(" ").map((word, place) => [place > 0 ? " " : null,
    word.startsWith("--") ? h("span", { class: "nowrap" }, word) : word]);
}

export async function copyCommand() {
  if (!commandText) return;
  const button = byId("command").querySelector("button");
  try {
    await navigator.clipboard.writeText(commandText);
    button.textContent = "Copied";
  } catch {
    const range = document.createRange();
    range.selectNodeContents(byId("command").querySelector("code"));
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    button.textContent = "Selected";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

export function switchTheme() {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  localStorage.setItem("theme", document.documentElement.dataset.theme);
  showTheme();
}

function showTheme() {
  const button = byId("theme");
  button.textContent = isDark() ? "Light" : "Dark";
  button.setAttribute("aria-label", `Show in ${isDark() ? "light" : "dark"} colours (t)`);
}

/** The address of a view, for a key. */
export function addressOfView(place) {
  return views[place] ? link(views[place][0]) : changed({});
}
