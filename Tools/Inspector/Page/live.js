// The stream of events: one connection for all pages that show a store, held by one of those that can be seen.
// A browser opens six connections to a server at most, so that no page may hold one that it does not need.

import { events } from "./server.js";

const kinds = ["head", "changed"];

/** Makes the stream of a store; `heard` is called with the kind of each event and its data. */
export function createStream(store, heard) {
  const name = `annals ${store}`;
  let channel = null;
  let source = null;
  let waiting = null;
  let release = null;
  let latest = null;

  function open() {
    if (channel) return;
    channel = new BroadcastChannel(name);
    channel.onmessage = ({ data }) => {
      if (data.kind !== "ask") heard(data.kind, data.news);
      else if (source && latest) channel.postMessage(latest);
    };
    channel.postMessage({ kind: "ask" });
    if (!navigator.locks) return connect();
    waiting = new AbortController();
    navigator.locks.request(name, { signal: waiting.signal }, () => new Promise((done) => {
      release = done;
      connect();
    })).catch(() => {});
  }

  function connect() {
    if (!channel) return release?.();
    source = events();
    for (const kind of kinds) source.addEventListener(kind, (event) => tell(kind, JSON.parse(event.data)));
    source.addEventListener("error", () => tell("error", {}));
  }

  /** Tells this page and all others that wait. */
  function tell(kind, news) {
    latest = { kind, news };
    channel?.postMessage(latest);
    heard(kind, news);
  }

  function close() {
    waiting?.abort();
    source?.close();
    channel?.close();
    release?.();
    channel = source = waiting = release = latest = null;
  }

  return { store, open, close, isLost: () => source?.readyState === EventSource.CLOSED };
}
