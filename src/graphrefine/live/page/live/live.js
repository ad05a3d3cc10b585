// The page of graphrefine live serve: the map of the vectors as it moves, and the figures beside it.
// Names of nodes reach the document as text only.

const EVERY = 1000; // milliseconds between two looks at the server
const WAY = 900; // milliseconds that a node takes to its new place
const GLOW = 6000; // milliseconds that a node is shown as moved
const MOST = 20000; // nodes on the map
const AGAIN = 5000; // least milliseconds between two maps
const LISTED = 12; // nodes in the list of those that moved last
const REACH = 12; // pixels from the pointer to a node

const still = window.matchMedia("(prefers-reduced-motion: reduce)");
const dark = window.matchMedia("(prefers-color-scheme: dark)");

/** @param {string} id */
const part = (id) => /** @type {any} */ (document.getElementById(id));
const plane = part("plane");
const pen = plane.getContext("2d");

const nodes = new Map(); // by key: name, side, {x, y} now, {fromX, fromY, toX, toY, since} of its way, moved: when
let frame = 0; // of the animation, if one is asked for
let view = { x: 0, y: 0, scale: 1 };
let moment = { group: -1, generation: -1, axes: "" }; // of the map: when it was, and by which axes
let mapped = -Infinity; // when the last map came
let partial = false; // whether moves were left out since
let colors = { point: "", moved: "", line: "", accent: "" };

function readColors() {
  const style = getComputedStyle(document.documentElement);
  for (const name of Object.keys(colors)) {
    colors[name] = style.getPropertyValue(`--${name}`).trim();
  }
}

// ---- the server ------------------------------------------------------------------------------------------------------

async function ask(path, query = {}) {
  const answer = await fetch(`${path}?${new URLSearchParams(query)}`);
  if (answer.status === 401) {
    throw new Error("A token is needed: open the address that was printed.");
  }
  const content = await answer.json();
  if (!answer.ok) {
    throw new Error(content.error);
  }
  return content;
}

const axes = () => `${part("x").value},${part("y").value}`;

function axesQuery(text) {
  const [x, y] = text.split(",");
  return { x, y };
}

async function loadMap() {
  const chosen = axes();
  const map = await ask("/api/live/map", axesQuery(chosen));
  const before = new Map(nodes);
  nodes.clear();
  map.names.forEach((name, place) => {
    const key = keyOf(name, map.sides?.[place]);
    const old = before.get(key);
    put(key, name, map.sides?.[place], map.points[place], old, old !== undefined && old.moved);
  });
  moment = { group: map.group, generation: map.generation, axes: chosen };
  mapped = performance.now();
  partial = false;
  fit();
}

async function loadMoves() {
  const query = { ...axesQuery(moment.axes), after: moment.group, generation: moment.generation };
  const moves = await ask("/api/live/moved", query);
  moves.removed.forEach((name, place) => nodes.delete(keyOf(name, moves.removed_sides?.[place])));
  const keys = moves.names.map((name, place) => keyOf(name, moves.sides?.[place]));
  keys.forEach((key, place) => {
    const old = nodes.get(key);
    nodes.delete(key); // those that moved last are at the end, and stay
    put(key, moves.names[place], moves.sides?.[place], moves.points[place], old, performance.now());
  });
  for (const key of nodes.keys()) {
    if (nodes.size <= MOST) {
      break;
    }
    nodes.delete(key);
  }
  moment.group = moves.group;
  if (keys.length) {
    listMoved(keys.slice(-LISTED).map((key) => nodes.get(key)));
  }
  partial = partial || !moves.complete;
  if (partial && performance.now() - mapped > AGAIN) {
    await loadMap();
  }
}

/** The key of a node: its name, with its side in a bipartite graph, where a name may stand twice. */
const keyOf = (name, side) => (side === undefined ? name : `${side} ${name}`);

/** A node goes from where it is to its new place. */
function put(key, name, side, [x, y], old, moved) {
  const start = old === undefined || still.matches ? { x, y } : { x: old.x, y: old.y };
  const way = { fromX: start.x, fromY: start.y, toX: x, toY: y, since: performance.now() };
  nodes.set(key, { name, side, ...start, ...way, moved });
  animate();
}

// ---- the map ---------------------------------------------------------------------------------------------------------

/** Sets the canvas to its size on the screen, and the view to all nodes. */
function fit() {
  const ratio = window.devicePixelRatio || 1;
  plane.width = Math.max(1, Math.round(plane.clientWidth * ratio));
  plane.height = Math.max(1, Math.round(plane.clientHeight * ratio));
  let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const node of nodes.values()) {
    left = Math.min(left, node.toX);
    right = Math.max(right, node.toX);
    low = Math.min(low, node.toY);
    high = Math.max(high, node.toY);
  }
  if (left > right) {
    [left, right, low, high] = [-1, 1, -1, 1];
  }
  const width = Math.max(right - left, 1e-3) * 1.1;
  const height = Math.max(high - low, 1e-3) * 1.1;
  view = {
    x: (left + right) / 2,
    y: (low + high) / 2,
    scale: Math.min(plane.width / width, plane.height / height),
  };
  animate();
}

const toScreen = (node) => [
  plane.width / 2 + (node.x - view.x) * view.scale,
  plane.height / 2 - (node.y - view.y) * view.scale,
];

function animate() {
  if (!frame) {
    frame = requestAnimationFrame(draw);
  }
}

function draw(now) {
  frame = 0;
  let lively = false;
  const size = (window.devicePixelRatio || 1) * (nodes.size > 5000 ? 2 : 4);
  const bright = [];
  pen.clearRect(0, 0, plane.width, plane.height);
  pen.fillStyle = colors.point;
  pen.globalAlpha = 0.75;
  for (const node of nodes.values()) {
    const share = still.matches ? 1 : Math.min(1, Math.max(0, (now - node.since) / WAY));
    const eased = share * share * (3 - 2 * share);
    node.x = node.fromX + (node.toX - node.fromX) * eased;
    node.y = node.fromY + (node.toY - node.fromY) * eased;
    lively = lively || share < 1;
    if (node.moved && now - node.moved < GLOW) {
      bright.push(node);
    } else {
      const [x, y] = toScreen(node);
      pen.fillRect(x - size / 2, y - size / 2, size, size);
    }
  }
  pen.fillStyle = colors.moved;
  for (const node of bright) {
    const [x, y] = toScreen(node);
    pen.globalAlpha = still.matches ? 1 : 1 - 0.7 * Math.min(1, Math.max(0, (now - node.moved) / GLOW));
    pen.beginPath();
    pen.arc(x, y, size * 0.9, 0, 2 * Math.PI);
    pen.fill();
  }
  pen.globalAlpha = 1;
  if (lively || (bright.length && !still.matches)) {
    animate();
  }
}

function nearest(event) {
  const box = plane.getBoundingClientRect();
  const ratio = plane.width / box.width;
  const [x, y] = [(event.clientX - box.left) * ratio, (event.clientY - box.top) * ratio];
  let best = REACH * ratio;
  let found = null;
  for (const node of nodes.values()) {
    const [nodeX, nodeY] = toScreen(node);
    const away = Math.hypot(nodeX - x, nodeY - y);
    if (away < best) {
      best = away;
      found = node;
    }
  }
  return found;
}

plane.addEventListener("pointermove", (event) => {
  const node = nearest(event);
  const tip = part("tip");
  tip.hidden = node === null;
  if (node !== null) {
    tip.textContent = titleOf(node);
    tip.style.left = `${event.offsetX + 14}px`;
    tip.style.top = `${event.offsetY + 14}px`;
  }
});
plane.addEventListener("pointerleave", () => {
  part("tip").hidden = true;
});
plane.addEventListener("click", (event) => {
  const node = nearest(event);
  if (node !== null) {
    openCard(node);
  }
});

// ---- figures ---------------------------------------------------------------------------------------------------------

const count = new Intl.NumberFormat("en");
const short = (number) => (number === null || number === undefined ? "none" : Number(number).toPrecision(3));
const percent = (share) => `${(100 * share).toFixed(1)} %`;

/** A stretch of time in words. */
function ago(seconds) {
  const units = [["s", 60], ["min", 60], ["h", 24], ["days", Infinity]];
  let value = Math.max(0, seconds);
  for (const [unit, next] of units) {
    if (value < next) {
      return `${Math.floor(value)} ${unit} ago`;
    }
    value /= next;
  }
  return "";
}

function write(id, text) {
  const element = part(id);
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

function show(state) {
  write("name", state.name);
  document.title = `${state.name}: graphrefine live`;
  write("rate", state.rate.toFixed(1));
  write("group", count.format(state.group));
  write("last", state.last_commit === null ? "none yet" : ago(state.time - state.last_commit));
  write("nodes", count.format(state.nodes));
  write("edges", count.format(state.edges));
  part("within").value = state.within_tolerance;
  write("share", `${percent(state.within_tolerance)} (${state.tolerance})`);
  write("quantiles", ["p50", "p90", "p99"].map((key) => short(state.bounds[key])).join(", "));
  write("without", count.format(state.without_bound));
  write("refreshing", state.refreshing ? "under way" : "none under way");
  const last = state.refreshes[state.refreshes.length - 1];
  write("refreshed", last === undefined ? "none yet" : ago(state.time - last.time));
  part("refreshed").title = last === undefined ? "" : last.reason;
  write("drift", last === undefined ? "–" : short(last.drift));
  write("energy", percent(state.captured_energy));
  part("problem").hidden = state.problem === null;
  write("problem", state.problem ?? "");
  write("shown", `${count.format(nodes.size)} of ${count.format(state.nodes)} nodes are drawn`);
  drawRates(state.rates);
}

function drawRates({ seconds, values }) {
  const canvas = part("rates");
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(canvas.clientWidth * ratio));
  canvas.height = Math.max(1, Math.round(canvas.clientHeight * ratio));
  const line = canvas.getContext("2d");
  const most = Math.max(...values, 1e-9);
  line.strokeStyle = colors.line;
  line.strokeRect(0.5, 0.5, canvas.width - 1, canvas.height - 1);
  line.strokeStyle = colors.accent;
  line.lineWidth = 1.5 * ratio;
  line.beginPath();
  values.forEach((value, place) => {
    line.lineTo((place / (values.length - 1)) * canvas.width, (1 - (0.9 * value) / most) * canvas.height - ratio);
  });
  line.stroke();
  const peak = `the most were ${Math.max(...values).toFixed(1)} a second`;
  canvas.setAttribute("aria-label", `Changes a second over the last ${(seconds * values.length) / 60} minutes: ${peak}`);
}

// ---- nodes that moved, and one of them -------------------------------------------------------------------------------

const titleOf = (node) => (node.side === undefined ? String(node.name) : `${node.name} (${node.side})`);

function listMoved(moved) {
  const list = part("moved");
  if (list.contains(document.activeElement)) {
    return; // the list stays while somebody walks through it by keys
  }
  list.replaceChildren(
    ...moved.map((node) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = titleOf(node);
      button.addEventListener("click", () => openCard(node));
      const item = document.createElement("li");
      item.append(button);
      return item;
    }),
  );
}

async function openCard(chosen) {
  const query = { node: chosen.name, ...(chosen.side === undefined ? {} : { side: chosen.side }) };
  write("card-name", titleOf(chosen));
  try {
    const [node, near] = await Promise.all([
      ask("/api/live/node", query),
      ask("/api/live/neighbors", { ...query, k: 8 }),
    ]);
    write("card-facts", `Degree ${count.format(node.degree)}, bound ${short(node.bound)}. The nearest nodes:`);
    part("card-near").replaceChildren(
      ...near.neighbors.map((each) => {
        const item = document.createElement("li");
        const texts = [String(each.node), each.score.toFixed(3)];
        item.append(...texts.map((text) => Object.assign(document.createElement("span"), { textContent: text })));
        return item;
      }),
    );
  } catch (error) {
    write("card-facts", error.message);
    part("card-near").replaceChildren();
  }
  part("card").hidden = false;
}

// ---- once a second ---------------------------------------------------------------------------------------------------

function offerAxes(dim) {
  for (const [id, chosen] of [["x", 0], ["y", Math.min(1, dim - 1)]]) {
    part(id).replaceChildren(
      ...Array.from({ length: dim }, (_, axis) => new Option(String(axis + 1), String(axis), false, axis === chosen)),
    );
    part(id).addEventListener("change", look);
  }
}

let looking = null;

function look() {
  looking ??= lookOnce().finally(() => {
    looking = null;
  });
  return looking;
}

async function lookOnce() {
  try {
    const state = await ask("/api/live");
    if (!part("x").options.length) {
      offerAxes(state.dim);
    }
    await (moment.axes === axes() ? loadMoves() : loadMap());
    show(state);
    write("status", "Up to date once a second.");
  } catch (error) {
    write("status", error instanceof TypeError ? "The server does not answer; trying again." : error.message);
  }
}

readColors();
dark.addEventListener("change", () => {
  readColors();
  animate();
});
still.addEventListener("change", animate);
part("axes").addEventListener("submit", (event) => event.preventDefault());
new ResizeObserver(fit).observe(plane);
look();
setInterval(() => {
  if (!document.hidden) {
    look();
  }
}, EVERY);
