// What the server tells an open page: by a stream while there is one, else by asking now and then.

const SLOWEST = 240; // seconds between two questions when the server does not answer
const ASIDE = 60; // seconds between two questions of a page that nobody looks at
const SILENT = 60; // seconds without a word after which a stream is taken for dead; while it lives it says something
const SEEN = 300; // seconds after which a page in sight asks even if a stream tells: by that the server knows who is here

/**
 * Let a page hear of changes. `heard(beat)` is called with the numbers of server/beats.py when they may be new, and once
 * more with the last ones when somebody looks at the page again. `every()` is how many seconds to wait between two
 * questions while there is no stream. Return a function that asks at once.
 */
export function follow({ stream, pulse, every, heard }) {
  let source = null;
  let wait = every();
  let timer = 0;
  let silence = 0;
  let last = null;

  const open = () => source?.readyState === EventSource.OPEN;

  function hear(beat) {
    last = beat;
    return heard(beat);
  }

  /** Ask again after a while; out of sight only if no stream tells by itself. */
  function rest() {
    clearTimeout(timer);
    if (!open()) {
      timer = setTimeout(ask, 1000 * Math.max(wait, document.hidden ? ASIDE : 0));
    } else if (!document.hidden) {
      timer = setTimeout(ask, 1000 * SEEN);
    }
  }

  async function ask() {
    clearTimeout(timer);
    try {
      const address = document.hidden ? pulse : `${pulse}?seen=yes`;
      const answer = await fetch(address, { headers: { Accept: "application/json" } });
      if (!answer.ok) {
        throw new Error(answer.statusText);
      }
      await hear(await answer.json());
      wait = every();
    } catch {
      wait = Math.min(wait * 2, SLOWEST);
    }
    rest();
  }

  /** Wait for the next word of the stream; if none comes, ask, and for another stream. */
  function alive() {
    clearTimeout(silence);
    silence = setTimeout(() => {
      listen();
      ask();
    }, 1000 * SILENT);
  }

  function close() {
    clearTimeout(silence);
    source?.close();
    source = null;
  }

  function listen() {
    close();
    source = new EventSource(stream);
    source.addEventListener("open", () => {
      alive();
      rest();
    });
    source.addEventListener("message", ({ data }) => {
      alive();
      hear(JSON.parse(data));
    });
    source.addEventListener("still", alive);
    source.addEventListener("full", () => {
      close(); // a newer page of the same person has it now
      rest();
    });
    source.addEventListener("error", rest); // the browser tries again by itself, unless there is none to be had
    rest();
  }

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      rest();
      return;
    }
    if (!open()) {
      listen();
    } else if (last) {
      heard(last);
    }
    ask();
  });
  addEventListener("pagehide", close);
  addEventListener("pageshow", (event) => {
    if (event.persisted) {
      listen();
      ask();
    }
  });
  listen();
  return ask;
}
