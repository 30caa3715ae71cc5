// The page: starts the frame, and shows the view that the address names.

import { current, link, observe as observeAddress } from "./address.js";
import { h, notice, replace } from "./dom.js";
import * as frame from "./frame.js";
import * as keys from "./keys.js";
import { failure, Failure, Loader } from "./server.js";
import { follow, isAtHead, observe, open, session } from "./session.js";
import * as slider from "./slider.js";

const modules = {
  state: () => import("./view-state.js"),
  transactions: () => import("./view-transactions.js"),
  compare: () => import("./view-compare.js"),
  since: () => import("./view-since.js"),
  timeline: () => import("./view-timeline.js"),
  schema: () => import("./view-schema.js"),
  space: () => import("./view-space.js"),
  bytes: () => import("./view-bytes.js"),
  stores: () => import("./view-stores.js"),
};

const place = document.getElementById("view");
let shown = { name: null, view: null, element: null };
let openedStore = null;
Loader.failed = () => frame.setCommand("");

async function show(address) {
  if (!modules[address.view]) {
    history.replaceState(null, "", link("state"));
    return show(current());
  }
  const name = address.view;
  if (name !== "stores" && (address.query.store ?? "") !== openedStore) await openStore(address);
  frame.showAddress(address, name);
  document.body.classList.toggle("without-time", name === "stores" || !session.overview);
  if (session.overview) slider.show();
  if (shown.name !== name) {
    shown.view?.close?.();
    shown = { name: null, view: null, element: null };
    place.setAttribute("aria-busy", "true");
    const module = await modules[name]();
    place.removeAttribute("aria-busy");
    if (current().view !== address.view || shown.name === name) return;
    const element = document.createElement("div");
    element.className = `view ${name}-view`;
    replace(place, element);
    shown = { name, element, view: module.create(element) };
    keys.setViewKeys(shown.view.keys ?? {});
    frame.setCommand("");
  }
  if (!session.overview && !["bytes", "stores"].includes(name)) {
    const problem = frame.openingFailure();
    frame.setCommand("");
    replace(shown.element, failure(problem, () => location.reload()), problem.status === 422 && h("p", { class: "notice" },
      h("a", { href: link("bytes") }, "See its bytes and what is wrong with them")));
    shown.name = null;
    return;
  }
  shown.view.show(current());
}

/** Opens the store that the address names, or the folder if there are several and none is named. */
async function openStore(address) {
  const store = address.query.store ?? "";
  // What was wrong with another store is not wrong with this one.
  if (store !== openedStore) [session.damage, session.problem] = [null, null];
  openedStore = store;
  session.overview = null;
  frame.setOpeningFailure(null);
  try {
    await open();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    frame.setOpeningFailure(error);
  }
  if (frame.openingFailure()?.code === "unreachable") openedStore = null;
  else follow();
}

/** The file is another one: everything that is shown is read again. */
function showAnew() {
  shown.view?.close?.();
  shown = { name: null, view: null, element: null };
  openedStore = null;
  show(current());
}

async function start() {
  frame.install();
  keys.install();
  slider.install(document.getElementById("slider"));
  observe((what) => {
    if (what === "file" && !["damaged", "missing"].includes(session.live)) showAnew();
    else if (what === "head" && session.overview && shown.view && (isAtHead() || shown.name !== "state")) {
      slider.show();
      shown.view.show(current());
    }
  });
  observeAddress((address) => show(address));
  replace(place, notice("loading", null, "Opening…"));
  await frame.findStores();
  if (frame.isFolder() && !current().query.store && current().view !== "stores") {
    history.replaceState(null, "", "#/stores");
  } else if (!location.hash) {
    await openStore(current());
    const isUnreadable = frame.openingFailure()?.status === 422;
    if (!location.hash) history.replaceState(null, "", isUnreadable ? "#/bytes" : "#/state");
  }
  await show(current());
}

start();
