// The search box: a combobox with a list of completions, by keyboard and mouse.

import { complete } from "./api";
import { byId, count, el, displayName } from "./dom";
import { isAbort, problemText } from "./notices";
import type { Node } from "./api_types";

const WAIT = 90; // ms without a key before the server is asked
const LIMIT = 12;

export class Search {
  private readonly input = byId<HTMLInputElement>("query");
  private readonly list = byId<HTMLUListElement>("completions");
  private matches: Node[] = [];
  private active = -1;
  private timer = 0;
  private request = new AbortController();

  constructor(private readonly go: (row: number) => void) {
    this.input.addEventListener("input", () => this.soon());
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.input.addEventListener("focus", () => this.input.value && this.soon());
    this.input.addEventListener("blur", () => this.close());
    this.list.addEventListener("mousedown", (event) => event.preventDefault()); // the input keeps the focus
    this.list.addEventListener("click", (event) => {
      const option = (event.target as Element).closest("[role=option]");
      if (option) this.choose([...this.list.children].indexOf(option));
    });
  }

  focus(): void {
    this.input.focus();
    this.input.select();
  }

  private soon(): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.ask(), WAIT);
  }

  private async ask(): Promise<void> {
    clearTimeout(this.timer);
    this.request.abort();
    this.request = new AbortController();
    const text = this.input.value.trim();
    if (!text) return this.close();
    try {
      this.matches = await complete(text, LIMIT, this.request.signal);
      this.show(this.matches.length ? null : `No node has “${text}” in its name`);
    } catch (error) {
      if (!isAbort(error)) this.show(problemText(error));
    }
  }

  private show(message: string | null): void {
    if (document.activeElement !== this.input) return;
    const options = message === null ? this.matches.map((node, i) => this.option(node, i)) : [];
    const note = message === null ? [] : [el("li", { class: "note", role: "option", "aria-disabled": "true" }, message)];
    this.list.replaceChildren(...options, ...note);
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    this.mark(message === null ? 0 : -1);
  }

  private option(node: Node, i: number): HTMLLIElement {
    const more = [node.side, ...node.labels.slice(0, 2).map(String)].filter((text): text is string => text !== null);
    if (node.degree !== null) more.push(`degree ${count(node.degree)}`);
    return el(
      "li",
      { id: `completion-${i}`, role: "option", "aria-selected": "false", "data-row": node.row },
      el("span", { class: "name" }, displayName(node.node)),
      el("span", { class: "muted" }, more.join(" · ")),
    );
  }

  private mark(active: number): void {
    this.active = active;
    [...this.list.children].forEach((option, i) => option.setAttribute("aria-selected", String(i === active)));
    if (active < 0) this.input.removeAttribute("aria-activedescendant");
    else {
      this.input.setAttribute("aria-activedescendant", `completion-${active}`);
      this.list.children[active]?.scrollIntoView({ block: "nearest" });
    }
  }

  private key(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && this.list.hidden) void this.ask();
    else if (step && this.matches.length) this.mark((this.active + step + this.matches.length) % this.matches.length);
    else if (event.key === "Enter") void this.enter();
    else if (event.key === "Escape" && !this.list.hidden) this.close();
    else if (event.key === "Escape") this.input.blur();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Enter takes what is marked; typed faster than the server answers, what comes first. */
  private async enter(): Promise<void> {
    if (this.list.hidden || this.timerRuns()) await this.ask();
    this.choose(Math.max(this.active, 0));
  }

  private timerRuns(): boolean {
    const marked = this.matches[this.active];
    return !marked || !String(marked.node).toLowerCase().includes(this.input.value.trim().toLowerCase());
  }

  private choose(i: number): void {
    const node = this.matches[i];
    if (!node || !this.input.value.trim()) return;
    this.input.value = String(node.node);
    this.close();
    this.input.blur();
    this.go(node.row);
  }

  private close(): void {
    clearTimeout(this.timer);
    this.list.hidden = true;
    this.active = -1;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }
}
