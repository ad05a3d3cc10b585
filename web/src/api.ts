// The only module that talks to the server. Every failure becomes a Failure that says what to do.

import type { EgoNetwork, Info, Neighbors, Node, NodeBatch, Nodes } from "./api_types";

export type Kind = "lost" | "token" | "busy" | "refused";

export class Failure extends Error {
  constructor(
    readonly kind: Kind,
    message: string,
  ) {
    super(message);
  }
}

const LOST = "The server does not answer. Is graphrefine explore still running in its terminal?";
const TOKEN = "This address needs a token. Open the whole link that graphrefine explore printed, with its ?token=… part.";
const BUSY = "The server is busy. Wait a moment, then try again.";
const BUSY_WAITS = [300, 1200]; // ms before a request that met a busy server is sent again

type Listener = (kind: Kind | null) => void;
let listener: Listener = () => {};

/** Calls a listener after each request: with null, or with the problem if the server could not be reached. */
export function onReach(heard: Listener): void {
  listener = heard;
}

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

async function send(path: string, init: RequestInit): Promise<Response> {
  for (let attempt = 0; ; attempt++) {
    let response: Response;
    try {
      response = await fetch(path, { credentials: "same-origin", ...init });
    } catch (error) {
      if (init.signal?.aborted) throw error;
      listener("lost");
      throw new Failure("lost", LOST);
    }
    if (response.status === 503 && attempt < BUSY_WAITS.length) {
      await pause(BUSY_WAITS[attempt]);
      continue;
    }
    if (response.ok) {
      listener(null);
      return response;
    }
    throw await failure(response);
  }
}

async function failure(response: Response): Promise<Failure> {
  if (response.status === 401 || response.status === 403) {
    listener("token");
    return new Failure("token", TOKEN);
  }
  listener(null);
  if (response.status === 503) return new Failure("busy", BUSY);
  let message = `The server answered ${response.status}.`;
  try {
    const body = (await response.json()) as { error?: unknown };
    if (typeof body.error === "string") message = body.error;
  } catch {
    // an answer that is not JSON says no more than its number
  }
  return new Failure("refused", message);
}

function query(path: string, values: Record<string, string | number | boolean | null>): string {
  const parts = new URLSearchParams();
  for (const [key, value] of Object.entries(values)) if (value !== null) parts.set(key, String(value));
  return `${path}?${parts.toString()}`;
}

async function json<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await send(path, signal ? { signal } : {});
  return (await response.json()) as T;
}

async function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const init: RequestInit = {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  const response = await send(path, signal ? { ...init, signal } : init);
  return (await response.json()) as T;
}

async function raw(path: string): Promise<ArrayBuffer> {
  return (await send(path, {})).arrayBuffer();
}

export const getInfo = (): Promise<Info> => json<Info>("api/info");

export async function getHealth(): Promise<boolean> {
  try {
    return (await fetch("healthz")).ok;
  } catch {
    return false;
  }
}

export async function getCoordinates(layout: string): Promise<Float32Array> {
  return new Float32Array(await raw(query("api/coordinates", { layout })));
}

export const getColumn = (name: string): Promise<ArrayBuffer> => raw(`api/columns/${encodeURIComponent(name)}`);

export async function complete(prefix: string, limit: number, signal: AbortSignal): Promise<Node[]> {
  const { nodes } = await json<Nodes>(query("api/nodes", { prefix, limit }), signal);
  return nodes;
}

export async function getNode(row: number, signal?: AbortSignal): Promise<Node> {
  const { nodes } = await json<Nodes>(query("api/nodes", { row }), signal);
  return nodes[0];
}

export async function getNodes(rows: number[], signal?: AbortSignal): Promise<Node[]> {
  const { nodes } = await post<Nodes>("api/nodes", { rows } satisfies NodeBatch, signal);
  return nodes;
}

export interface NeighborQuery {
  row: number;
  k: number;
  score: string;
  label: string | null;
  exclude_linked: boolean;
}

export const getNeighbors = (options: NeighborQuery, signal: AbortSignal): Promise<Neighbors> =>
  json<Neighbors>(query("api/neighbors", { ...options }), signal);

export const getEgo = (row: number, limit: number, signal: AbortSignal): Promise<EgoNetwork> =>
  json<EgoNetwork>(query("api/ego", { row, limit }), signal);
