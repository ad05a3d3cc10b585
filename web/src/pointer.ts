// The pointer on the map: rings and names under it, clicks on nodes.

import { getNode } from "./api";
import { isLassoing } from "./bar";
import { displayName } from "./dom";
import type { Marks } from "./marks";
import { open } from "./moving";
import { isAbort } from "./notices";
import type { Scatter } from "./scatter";
import { canvas } from "./world";

const NAME_WAIT = 60; // ms on a node before its name is asked for
const CLICK = 4; // pixels between press and release that are still a click

let moved = false;

/** Whether somebody has panned or zoomed. */
export const hasMoved = (): boolean => moved;

export function followPointer(map: Scatter, marks: Marks): void {
  let pressed: [number, number] | null = null;
  let hovered: number | null = null;
  let frame = 0;
  let naming = 0;
  let request = new AbortController();

  const name = async (row: number): Promise<void> => {
    request = new AbortController();
    try {
      const node = await getNode(row, request.signal);
      if (hovered === row) marks.showHover({ row, name: displayName(node.node), kind: "hover" });
    } catch (error) {
      if (!isAbort(error)) hover(null);
    }
  };
  const hover = (row: number | null): void => {
    if (row === hovered) return;
    hovered = row;
    request.abort();
    clearTimeout(naming);
    canvas.classList.toggle("pointing", row !== null && !isLassoing());
    marks.showHover(row === null ? null : { row, name: null, kind: "hover" });
    if (row !== null) naming = window.setTimeout(() => void name(row), NAME_WAIT);
  };

  canvas.addEventListener("mousedown", (event) => {
    pressed = [event.clientX, event.clientY];
  });
  const move = (): void => {
    moved = true;
    map.fitted = false;
  };
  canvas.addEventListener("wheel", move, { passive: true });
  canvas.addEventListener("mouseleave", () => {
    cancelAnimationFrame(frame);
    hover(null);
  });
  canvas.addEventListener("mousemove", (event) => {
    cancelAnimationFrame(frame);
    if (event.buttons) {
      if (!event.shiftKey && !isLassoing()) move();
      return hover(null);
    }
    frame = requestAnimationFrame(() => hover(map.at(event.offsetX, event.offsetY)));
  });
  canvas.addEventListener("click", (event) => {
    if (!pressed || isLassoing() || event.shiftKey) return;
    if (Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]) > CLICK) return;
    const row = map.at(event.offsetX, event.offsetY);
    if (row !== null) open(row);
  });
}
