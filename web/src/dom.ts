// Small helpers for the document. Text reaches it through text nodes only: names of nodes are not trusted.

type Child = globalThis.Node | string | null;
type Attributes = Record<string, string | number | boolean | null>;

const SVG = "http://www.w3.org/2000/svg";

function fill<E extends Element>(element: E, attributes: Attributes, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== null && value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child): child is globalThis.Node | string => child !== null));
  return element;
}

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

export function button(label: string, pressed: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const control = el("button", { type: "button", ...attributes }, label);
  control.addEventListener("click", pressed);
  return control;
}

/** The element of index.html with this id. */
export function byId<E extends Element = HTMLElement>(id: string): E {
  const element = document.getElementById(id);
  if (!element) throw new Error(`index.html has no #${id}`);
  return element as unknown as E;
}

const whole = new Intl.NumberFormat("en-US");

export const count = (value: number): string => whole.format(value);

export function number(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return whole.format(value);
  const size = Math.abs(value);
  return size >= 1e6 || size < 1e-3 ? value.toExponential(2) : Number(value.toPrecision(4)).toString();
}

/** A name as the page shows it; one that is empty or blank would otherwise be invisible. */
export function displayName(name: string | number): string {
  const text = String(name);
  return text.trim() === "" ? `“${text}”` : text;
}
