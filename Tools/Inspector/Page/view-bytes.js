// The bytes of the file: all of it to scale, its frames, and one of them explained byte by byte.

import { current, format, go } from "./address.js";
import { h, observeSize, replace } from "./dom.js";
import { createFindings } from "./findings.js";
import { FrameList, numbersOf } from "./frame-list.js";
import { setCommand } from "./frame.js";
import { createHex } from "./hex.js";
import { ask, askUntilWhole, failure, Loader } from "./server.js";
import { session } from "./session.js";
import { drawStrip, kindHue } from "./strip.js";
import { bytes, count, transactionLink } from "./values.js";

/** At most so many bytes are shown at once. */
const windowLength = 4096;

export function create(element) {
  const strip = h("section", { class: "strip", "aria-label": "The file to scale" });
  const findings = h("section", { class: "findings", "aria-label": "Findings" });
  const list = h("section", { class: "column frame-list", "aria-label": "Frames" });
  const region = h("section", { class: "column region", "aria-label": "One frame", tabindex: "-1" });
  element.append(h("div", { class: "bytes-top" }, strip, findings), list, region);
  const stripLoader = new Loader(strip);
  const regionLoader = new Loader(region);
  const choose = (offset) => go(addressOf(offset));
  const frames = new FrameList(list, { choose });
  const findingList = createFindings(findings, { addressOf });
  let stripWidth = 0;
  let shownRegion = null;
  const stop = observeSize(strip, (width) => {
    if (Math.abs(width - stripWidth) < 4) return;
    stripWidth = width;
    loadStrip();
  });

  function show() {
    const offset = offsetOfAddress();
    loadStrip();
    findingList.show();
    frames.show(offset);
    const skip = Number(current().query.skip ?? 0);
    regionLoader.load(`${offset} ${skip} ${session.size}`, async (signal) => {
      const answer = await ask("bytes", { offset, skip, length: windowLength }, signal);
      setCommand(answer.command);
      shownRegion = answer;
      strip.mark?.(answer.offset, answer.length);
      frames.mark(answer.offset);
      showRegion(region, answer, addressOf);
    }, { quietly: true, failed: (error) => replace(region, failure(error)) });
  }

  function loadStrip() {
    if (stripWidth === 0) return;
    const pieces = Math.max(60, Math.min(2000, Math.floor(stripWidth / 3)));
    stripLoader.load(`${pieces} ${session.size}`, (signal) =>
      askUntilWhole("strip", { pieces }, signal, (answer) => {
        drawStrip(strip, answer, stripWidth, { choose, marked: markedRange });
      }), { quietly: strip.children.length > 0 });
  }

  function markedRange() {
    return shownRegion ? [shownRegion.offset, shownRegion.length] : [offsetOfAddress(), 0];
  }

  function step(name) {
    if (shownRegion?.[name] !== undefined) go(addressOf(shownRegion[name]), { replacing: true });
  }

  return {
    show,
    keys: {
      "j": ["Next frame", () => step("next")],
      "k": ["Frame before", () => step("previous")],
      "o": ["To the fields", () => region.querySelector(".field-row")?.focus()],
    },
    close() {
      stop();
      stripLoader.stop();
      regionLoader.stop();
      frames.close();
      findingList.close();
    },
  };
}

function addressOf(offset, query = {}) {
  const { store, at } = current().query;
  return format({ view: "bytes", parts: [String(offset)], query: { store, at, ...query } });
}

function offsetOfAddress() {
  const { parts } = current();
  return /^\d+$/.test(parts[0] ?? "") ? Number(parts[0]) : 0;
}

/** Shows a region; `addressOf(offset, query)` is the address of another, or of other bytes. */
function showRegion(element, answer, addressOf) {
  const { message, details = [] } = answer;
  replace(element, head(answer, addressOf),
    message && h("p", { class: "bad" }, message),
    details.length > 0 && h("dl", { class: "details" }, details.map(({ name, value }) =>
      h("div", {}, h("dt", {}, name), h("dd", { class: "cut", title: value }, value)))),
    createHex(answer),
    answer.length > windowLength && windowSteps(answer, addressOf));
}

function head(answer, addressOf) {
  const { kind, offset, length, previous, next } = answer;
  const { first, last } = numbersOf(answer);
  return h("div", { class: "region-head" },
    h("h2", {},
      h("span", { class: `swatch hue-${kindHue(kind)}`, "aria-hidden": "true" }), ` ${kind}`),
    h("span", { class: "nowrap" }, `${count(offset)} – ${count(offset + length)}`),
    h("span", { class: "soft nowrap" }, bytes(length)),
    checks(answer),
    first !== undefined && session.overview && h("span", {}, "transaction ", transactionLink(first),
      last !== first && [" to ", transactionLink(last)]),
    h("span", { class: "region-steps" },
      previous !== undefined && h("a", { href: addressOf(previous) }, "‹ before"), " ",
      next !== undefined && h("a", { href: addressOf(next) }, "next ›")));
}

/** Whether checksum and chain hold, in words and colour. */
function checks({ checksum, chain, isOk }) {
  const one = (name, state) => {
    if (!state || state === "unknown") return null;
    const isGood = state === "ok" || state === "holds";
    const text = isGood ? `${name} holds` : state.includes(" ") ? state : `${name} ${state}`;
    return h("span", { class: `check nowrap ${isGood ? "good" : "bad"}` }, text);
  };
  return [one("checksum", checksum), one("chain", chain),
    isOk === false && !checksum && h("span", { class: "check bad" }, "not in order")];
}

/** Which bytes of a long region are shown, and the ways to the others. */
function windowSteps(answer, addressOf) {
  const { offset, skip, length } = answer;
  const end = skip + windowSize(answer);
  const before = Math.max(0, skip - windowLength) || null;
  return h("p", { class: "window-steps" },
    skip > 0 && h("a", { href: addressOf(offset, { skip: before }) }, "‹ bytes before"), " ",
    h("span", { class: "soft" }, `${count(skip)} – ${count(end)} of ${count(length)}`), " ",
    end < length && h("a", { href: addressOf(offset, { skip: end }) }, "next bytes ›"));
}

function windowSize({ bytes: text }) {
  return Math.floor((text.length * 3) / 4) - (text.match(/=+$/)?.[0].length ?? 0);
}
