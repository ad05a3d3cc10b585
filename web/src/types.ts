// What the server's API says; /api/openapi.json describes the same.

export type Name = string | number;
export type Progress = "ready" | "working" | "failed";

export interface Node {
  row: number;
  node: Name;
  side: "source" | "target" | null;
  degree: number | null;
  labels: Name[];
  values?: Record<string, string | number | null>;
}

export interface Layout {
  name: string;
  state: Progress;
  error: string | null;
}

export interface Category {
  name: Name;
  count: number;
}

export interface Column {
  name: string;
  kind: "category" | "number";
  state: Progress;
  error?: string | null;
  categories?: Category[];
  min?: number | null;
  max?: number | null;
  log?: boolean;
}

export interface Score {
  name: string;
  value: number | null;
  note: string | null;
  state: Progress;
}

export interface Info {
  name: string;
  nodes: number;
  dim: number;
  version: string;
  recipe: Record<string, unknown>;
  method: string | null;
  graph: { nodes: number; edges: number; directed: boolean; weighted: boolean; matched: number } | null;
  labels: { classes: number; labelled: number } | null;
  layouts: Layout[];
  layout: string | null;
  columns: Column[];
  scores: Score[];
  search: string;
  score_names: string[];
  limits: { k: number; batch: number; rows: number; body: number };
  sides: string | null;
}

export interface Neighbor {
  node: Name;
  row: number;
  score: number;
  degree: number | null;
  labels: Name[];
}

export interface Neighbors {
  results: { node: Name; row: number; neighbors: Neighbor[] }[];
  score: string;
  search: string;
}

export interface Ego {
  nodes: Node[];
  edges: [number, number][];
  of: number;
}
