// What the whole page knows of its store: name, head, authors, and the moment that is shown.

import { current } from "./address.js";
import { createStream } from "./live.js";
import { ask, forget } from "./server.js";

const listeners = new Set();

export const session = {
  overview: null,
  /** The newest transaction that was heard of. */
  head: 0,
  base: 0,
  size: 0,
  /** Those with a colour, and up to 500 by name; the most active first. */
  authors: [],
  active: [],
  /** Zone of the command, in seconds east of UTC. */
  zoneOffset: 0,
  moment: null,
  /** live, paused, unreachable, or the reason why the file cannot be followed. */
  live: "off",
  pausedAt: null,
  problem: null,
  /** What is wrong with the file, if something is: its message, and the command that helps. */
  damage: null,
};

/** Calls back with "overview", "moment", "head", "live" or "file" when that changed. */
export function observe(listener) {
  listeners.add(listener);
}

export function tell(what) {
  for (const listener of listeners) listener(what);
}

/** The moment to ask for: of the address, or where a pause holds the page; nothing is head. */
export function at() {
  const asked = current().query.at;
  if (asked) return asked;
  return session.pausedAt === null ? undefined : String(session.pausedAt);
}

/** The transaction of a moment in the past; undefined at head. */
export function momentNumber() {
  if (at() === undefined) return undefined;
  return /^\d+$/.test(at()) ? Number(at()) : session.moment?.number;
}

/** A key for what is shown at head: it changes with each commit that is followed. */
export function momentKey() {
  return at() ?? `head ${session.head}`;
}

/** Whether the page shows the newest state, and moves on with it. */
export function isAtHead() {
  return at() === undefined;
}

/** Reads what the frame shows. */
export async function open() {
  const overview = await ask("overview", {});
  session.authors = [];
  session.overview = overview;
  session.head = overview.head;
  session.base = overview.base;
  session.size = overview.size;
  session.zoneOffset = overview.zoneOffset ?? 0;
  session.moment = overview.moment;
  await countAuthors();
  tell("overview");
}

/** The most active authors, whose colours last as long as the page; counted on while there is more to read. */
async function countAuthors() {
  const density = await ask("density", { by: "number", buckets: 1 });
  // A colour that was shown stays with its author; those who are counted later take what is left.
  session.authors = [...new Set([...session.authors, ...density.authors])].filter((each) => each !== null);
  session.active = density.active;
  if ((density.progress ?? 1) >= 1) return;
  setTimeout(async () => {
    await countAuthors();
    tell("authors");
  }, 500);
}

/** The moment of the address, resolved. */
export async function resolveMoment(signal) {
  const answer = await ask("moment", { at: at() }, signal);
  session.moment = answer.moment;
  session.head = Math.max(session.head, answer.moment.head);
  tell("moment");
}

/** The place of an author's colour: 1 to 8 for the most active, 0 for others. */
export function hue(author) {
  const place = session.authors.indexOf(author ?? null);
  return place >= 0 && place < 8 && author ? place + 1 : 0;
}

let stream = null;

/** Follows what other processes write to the store that is shown, while the page can be seen. */
export function follow() {
  const store = current().query.store ?? "";
  if (stream?.store === store && !stream.isLost()) return;
  stream?.close();
  stream = createStream(store, heard);
  session.live = "connecting";
  if (!document.hidden) stream.open();
}

function heard(kind, news) {
  if (kind === "head") heardHead(news);
  else if (kind === "changed") heardChange(news);
  else {
    session.live = "unreachable";
    tell("live");
  }
}

/** Notes that the file is damaged, for every view. */
export function foundDamage({ message, remedy }) {
  if (session.damage?.message === message && session.damage.remedy === remedy) return;
  session.damage = { message, remedy };
  tell("live");
}

/** Forgets what was found, and reads the file again. */
export function lookAgain() {
  forget();
  session.damage = null;
  tell("live");
  tell("file");
}

function heardHead(news) {
  const isNew = news.head > session.head;
  session.live = session.pausedAt === null ? "live" : "paused";
  session.problem = null;
  session.head = Math.max(session.head, news.head);
  session.size = news.size ?? session.size;
  tell("live");
  if (isNew) tell("head");
}

function heardChange(news) {
  forget();
  session.base = news.base ?? session.base;
  session.head = news.head ?? session.head;
  const isGone = news.reason === "damaged" || news.reason === "missing";
  session.problem = isGone ? news.message ?? `The file is ${news.reason}.` : null;
  session.live = isGone ? news.reason : "live";
  session.damage = null;
  if (news.reason === "damaged") askForRemedy(session.problem);
  tell("live");
  tell("file");
}

/** The command that helps is in the refusal of what cannot be read any more. */
async function askForRemedy(message) {
  try {
    await ask("overview", {});
  } catch (error) {
    if (session.problem === message && error.status === 422) foundDamage({ message, remedy: error.remedy });
  }
}

/** A page that is left or hidden gives up its connection; shown again, it catches up with what happened meanwhile. */
async function showOrHide(isShown) {
  if (!isShown) return stream?.close();
  const shown = stream;
  shown?.open();
  const { overview } = session;
  if (!shown || !overview) return;
  try {
    const now = await ask("overview", {});
    const isOther = now.uuid !== overview.uuid || now.base !== session.base || now.size < session.size;
    if (isOther && stream === shown) heardChange({ reason: "replaced", base: now.base, head: now.head });
  } catch (error) {
    if (error.status === 409) heardChange({ reason: "replaced" });
    else if (error.status === 422) heardChange({ reason: "damaged", message: error.message });
  }
}

document.addEventListener("visibilitychange", () => showOrHide(!document.hidden));
addEventListener("pagehide", () => showOrHide(false));
addEventListener("pageshow", (event) => event.persisted && showOrHide(true));

/** Holds the page where it is, or lets it go on with the newest state. */
export function pause(isPaused) {
  session.pausedAt = isPaused ? session.head : null;
  session.live = isPaused ? "paused" : "live";
  tell("live");
  tell("head");
}
