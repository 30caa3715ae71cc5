// Questions to the program that serves the page, and what went wrong with them.

import { changed, current } from "./address.js";
import { button, h, notice } from "./dom.js";

/** What the server refused, in its words. */
export class Failure extends Error {
  constructor(error, status) {
    super(error.message ?? "The server did not answer as expected.");
    this.code = error.code ?? "unknown";
    this.parameter = error.parameter;
    this.column = error.column;
    this.remedy = error.remedy;
    this.status = status;
  }
}

const kept = new Map();
const keptCount = 80;

/** Forgets every answer: the file was replaced, pruned or compacted. */
export function forget() {
  kept.clear();
}

function path(name, query) {
  const all = { store: current().query.store, ...query };
  const pairs = Object.entries(all)
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
  return `/api/${name}${pairs.length ? `?${pairs.join("&")}` : ""}`;
}

/** One document. Answers about a numbered moment are kept, since the past does not change. */
export async function ask(name, query = {}, signal, tries = 4) {
  const address = path(name, query);
  if (kept.has(address)) return kept.get(address);
  let response;
  try {
    response = await fetch(address, { signal, headers: { Accept: "application/json" } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure({ code: "unreachable", message: "annals serve does not answer. Is it still running?" }, 0);
  }
  if (response.status === 503 && tries > 1) {
    await new Promise((resolve) => setTimeout(resolve, 400));
    signal?.throwIfAborted();
    return ask(name, query, signal, tries - 1);
  }
  if (response.status === 414 || response.status === 431) {
    throw new Failure({ code: "tooLong", message: "This is too long to be asked by the page. The command takes it." }, response.status);
  }
  let answer;
  try {
    answer = await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure({ code: "unreadable", message: `The answer to ${name} cannot be read.` }, response.status);
  }
  if (!response.ok) throw new Failure(answer.error ?? {}, response.status);
  if (/^\d+$/.test(query.at ?? "") && (answer.progress ?? 1) >= 1) {
    kept.set(address, answer);
    if (kept.size > keptCount) kept.delete(kept.keys().next().value);
  }
  return answer;
}

/** A document whose answer grows: calls back with each, until nothing more is being computed. */
export async function askUntilWhole(name, query, signal, show) {
  for (let wait = 150; ; wait = Math.min(1000, wait * 1.5)) {
    const answer = await ask(name, query, signal);
    if (signal.aborted) return;
    show(answer);
    if ((answer.progress ?? 1) >= 1) return;
    await new Promise((resolve) => setTimeout(resolve, wait));
    signal.throwIfAborted();
  }
}

/** The address of one whole value, for reading or for a download. */
export function valueAddress(query) {
  return path("value", query);
}

/** A long text, whole, as far as 4 MiB. */
export async function askText(query, signal) {
  const response = await fetch(path("value", query), { signal });
  if (!response.ok) throw new Failure((await response.json()).error ?? {}, response.status);
  return response.text();
}

/** The stream of events of the store. */
export function events() {
  return new EventSource(path("events", {}));
}

/** Loads for one part of the page: a new load gives up the one before, and failures are shown. */
export class Loader {
  /** Called when an answer failed: what was said of the one before is not true any more. */
  static failed = () => {};

  #element;
  #controller = null;
  #key = null;

  constructor(element) {
    this.#element = element;
  }

  /** Runs the work unless it was run for the same key; the element shows waiting and failure. */
  async load(key, work, { quietly = false, failed = null } = {}) {
    if (key !== null && key === this.#key) return;
    this.stop();
    this.#key = key;
    const controller = new AbortController();
    this.#controller = controller;
    const element = this.#element;
    element.setAttribute("aria-busy", "true");
    const shownBefore = element.firstChild;
    const timer = setTimeout(() => {
      // Work in parts may have shown its first already.
      if (!quietly && element.firstChild === shownBefore) element.replaceChildren(notice("loading", null, "Reading…"));
    }, 250);
    try {
      await work(controller.signal);
    } catch (error) {
      if (controller.signal.aborted) return;
      this.#key = null;
      Loader.failed();
      if (failed?.(error)) return;
      element.replaceChildren(failure(error, () => this.load(key, work)));
    } finally {
      clearTimeout(timer);
      if (this.#controller === controller) element.removeAttribute("aria-busy");
    }
  }

  stop() {
    this.#controller?.abort();
    this.#controller = null;
    this.#key = null;
  }
}

const titles = {
  notFound: "Not there", tooLong: "Too long", pruned: "Pruned", unreachable: "No answer", busy: "Busy",
  invalidArgument: "That cannot be asked", damaged: "The file is damaged",
};

/** A failure as a notice, with its remedy and a way to ask again. */
export function failure(error, again) {
  if (!(error instanceof Failure)) console.error(error);
  return notice("bad", titles[error.code] ?? "That did not work", error.message,
    error.remedy && h("p", { class: "mono" }, error.remedy),
    error.code === "pruned" && h("p", {}, h("a", { href: changed({ at: "base" }) }, "The oldest state that can be read")),
    again && error.code !== "pruned" && h("div", {}, button("Ask again", again)));
}
