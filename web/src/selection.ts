// The selection: its nodes page by page, and all of it as a file.

import { getNodes } from "./api";
import { button, count, el, displayName } from "./dom";
import { isAbort, problemText, toast } from "./notices";
import { set, view } from "./state";
import type { Node } from "./api_types";

const PAGE = 50;

export interface Around {
  go: (row: number) => void;
  frame: () => void;
  colorOf: (row: number) => string;
  place: (row: number) => [number, number]; // on the map, as /api/coordinates has it
  batch: () => number;
  file: () => string; // the name of the embedding, for files
}

export class Selection {
  private page = 0;
  private request = new AbortController();
  private readonly list = el("ol", { class: "nodes", "aria-label": "Selected nodes" });
  private readonly where = el("span", { class: "muted", id: "selection-page" });

  constructor(private readonly around: Around) {}

  reset(): void {
    this.page = 0;
  }

  show(place: HTMLElement): void {
    const rows = view.selection;
    if (rows.length === 0) {
      const hint = "Nothing is selected. Hold Shift and drag on the map, or press L and drag, to draw around nodes.";
      const keys = "By keyboard: choose an entry of the legend, or “Select these” on a node's card.";
      place.replaceChildren(el("h2", {}, "Selection"), el("p", { class: "muted" }, hint), el("p", { class: "muted" }, keys));
      return;
    }
    place.replaceChildren(
      el("h2", { id: "selection-title" }, `${count(rows.length)} ${rows.length === 1 ? "node" : "nodes"} selected`),
      el(
        "p",
        { class: "actions" },
        button("CSV", () => void this.save("csv"), { class: "plain", "aria-label": "Export as CSV" }),
        button("JSON", () => void this.save("json"), { class: "plain", "aria-label": "Export as JSON" }),
        button("Zoom to", this.around.frame, { class: "plain" }),
        button("Clear", () => set({ selection: [], panel: view.row === null ? null : "node" }), { class: "plain" }),
      ),
      this.list,
      el(
        "p",
        { class: "pages" },
        button("Back", () => this.turn(-1), { class: "plain", "aria-label": "Page back" }),
        this.where,
        button("On", () => this.turn(1), { class: "plain", "aria-label": "Page on" }),
      ),
    );
    void this.fill();
  }

  private turn(by: number): void {
    const last = Math.ceil(view.selection.length / PAGE) - 1;
    this.page = Math.min(Math.max(this.page + by, 0), last);
    void this.fill();
  }

  private async fill(): Promise<void> {
    this.request.abort();
    const request = (this.request = new AbortController());
    const first = this.page * PAGE;
    const rows = view.selection.slice(first, first + PAGE);
    this.where.textContent = `${count(first + 1)}–${count(first + rows.length)} of ${count(view.selection.length)}`;
    this.list.setAttribute("aria-busy", "true");
    try {
      const nodes = await getNodes(rows, request.signal);
      this.list.replaceChildren(...nodes.map((node) => this.line(node)));
      this.list.removeAttribute("aria-busy");
    } catch (error) {
      if (!isAbort(error)) this.list.replaceChildren(el("li", { class: "problem" }, problemText(error)));
    }
  }

  private line(node: Node): HTMLElement {
    const go = button("", () => this.around.go(node.row), { class: "line", "data-row": node.row });
    const dot = el("span", { class: "dot", "aria-hidden": "true" });
    dot.style.setProperty("background", this.around.colorOf(node.row));
    const label = node.labels.slice(0, 1).map((name) => el("span", { class: "muted" }, displayName(name)));
    const degree = node.degree === null ? [] : [el("span", { class: "number" }, count(node.degree))];
    go.append(dot, el("span", { class: "name" }, displayName(node.node)), ...label, ...degree);
    return el("li", {}, go);
  }

  private async save(kind: "csv" | "json"): Promise<void> {
    try {
      const rows = view.selection;
      const nodes: Node[] = [];
      for (let i = 0; i < rows.length; i += this.around.batch()) {
        nodes.push(...(await getNodes(rows.slice(i, i + this.around.batch()))));
        if (rows.length > this.around.batch()) toast(`${count(nodes.length)} of ${count(rows.length)} fetched…`);
      }
      const name = `${this.around.file()}-selection.${kind}`;
      if (kind === "csv") download(name, "text/csv;charset=utf-8", this.csv(nodes));
      else download(name, "application/json", `${JSON.stringify(this.records(nodes), null, 1)}\n`);
      toast(`${count(nodes.length)} nodes written to ${name}.`);
    } catch (error) {
      toast(problemText(error));
    }
  }

  private records(nodes: Node[]): object[] {
    return nodes.map(({ row, node, side, degree, labels }) => {
      const [x, y] = this.around.place(row);
      return { node, side, row, degree, labels, x, y };
    });
  }

  private csv(nodes: Node[]): string {
    const lines = nodes.map(({ row, node, side, degree, labels }) => {
      const [x, y] = this.around.place(row);
      return [node, side ?? "", row, degree ?? "", labels.join(" "), x, y].map(cell).join(",");
    });
    return `${["node,side,row,degree,labels,x,y", ...lines].join("\n")}\n`;
  }
}

/** A value of a CSV file, in quotes where it needs them (RFC 4180). */
function cell(value: string | number): string {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function download(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = el("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
