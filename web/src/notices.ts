// What the page says when something is under way, went wrong or is not there.

import { Failure, getHealth, type Kind } from "./api";
import { button, byId, el } from "./dom";

const TRY_AGAIN = 2000; // ms between looks for a server that was lost

let fading = 0;
let waiting = 0;

/** A line at the bottom that goes away by itself. */
export function toast(text: string): void {
  const place = byId("toast");
  place.textContent = text;
  place.hidden = false;
  clearTimeout(fading);
  fading = window.setTimeout(() => (place.hidden = true), 5000);
}

/** Covers the map with what there is to do, or uncovers it. */
export function cover(title: string | null, ...more: (HTMLElement | string)[]): void {
  const place = byId("cover");
  place.hidden = title === null;
  if (title === null) return;
  place.replaceChildren(el("h2", {}, title), ...more.map((part) => (typeof part === "string" ? el("p", {}, part) : part)));
}

/** A line at the top for as long as the server cannot be asked. */
export function reach(kind: Kind | null): void {
  const place = byId("banner");
  if (kind === null) {
    clearTimeout(waiting);
    waiting = 0;
    place.hidden = true;
    return;
  }
  if (kind === "token") {
    place.replaceChildren("The server no longer knows this browser. Open the whole link that graphrefine explore printed.");
  } else {
    place.replaceChildren(
      "The connection to graphrefine explore is lost. Is it still running in its terminal? ",
      button("Try again", () => void look()),
    );
    if (!waiting) waiting = window.setTimeout(() => void look(), TRY_AGAIN);
  }
  place.hidden = false;
}

async function look(): Promise<void> {
  waiting = 0;
  if (await getHealth()) {
    reach(null);
    toast("Connected again.");
  } else {
    reach("lost");
  }
}

/** What is being made in the background. */
export function work(names: string[]): void {
  const place = byId("work");
  place.hidden = names.length === 0;
  if (names.length) place.textContent = `Working on ${names.join(", ")}…`;
}

export const problemText = (error: unknown): string =>
  error instanceof Failure ? error.message : "The page met an error of its own. Reload it; if it stays, please report it.";

export const isAbort = (error: unknown): boolean => error instanceof DOMException && error.name === "AbortError";
