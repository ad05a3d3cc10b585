// The keyboard: one table of shortcuts, which is also what the page shows under "?".

import { button, byId, el } from "./dom";

export interface Shortcut {
  keys: string[]; // values of KeyboardEvent.key
  label: string;
  does: string;
  run: () => void;
  onMap?: boolean; // only while the map has the focus
}

export function listen(shortcuts: Shortcut[]): void {
  const map = byId("map");
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const typing = event.target instanceof Element && event.target.matches("input[type=text], select, textarea");
    if (typing && event.key !== "Escape") return;
    const open = byId<HTMLDialogElement>("keys").open;
    const meant = shortcuts.find((shortcut) => shortcut.keys.includes(event.key));
    if (!meant || open || (meant.onMap && document.activeElement !== map && document.activeElement !== document.body)) return;
    event.preventDefault();
    meant.run();
  });
}

export function showKeys(shortcuts: Shortcut[]): void {
  const dialog = byId<HTMLDialogElement>("keys");
  const mouse: [string, string][] = [
    ["Drag, wheel", "pan, zoom"],
    ["Shift + drag", "draw around nodes to select them"],
    ["Click", "open the card of a node"],
  ];
  const rows = [...shortcuts.map(({ label, does }): [string, string] => [label, does]), ...mouse];
  dialog.replaceChildren(
    el("h2", { id: "keys-title" }, "Keyboard and mouse"),
    el("table", {}, el("tbody", {}, ...rows.map(([key, does]) => el("tr", {}, el("th", { scope: "row" }, el("kbd", {}, key)), el("td", {}, does))))),
    button("Close", () => dialog.close(), { class: "plain" }),
  );
  dialog.showModal();
}
