// The page's data, as package cupelinspect writes it: wire.go says what each
// field is.

export interface Item {
  content: string;
  cut?: number;
  tokens: number;
  kind: string;
  source: string;
  tags?: string[];
  pinned?: boolean;
  priority?: number;
  timestamp?: string;
  hint?: number;
  metadata?: Record<string, string>;
  group?: string;
  versionOf?: string;
}

export interface Form {
  edits: (number | string)[];
  tokens: number;
}

export interface Budget {
  max: number;
  target: number;
  outputReserve: number;
  reservedSlots?: Record<string, number>;
  margin: number;
  effective: number;
}

export interface Part {
  name: string;
  weight: number;
  scores: (number | null)[];
}

export interface Stage {
  name: string;
  start: number;
  duration: number;
  in: number;
  out: number;
}

export interface SweepStop {
  budget: number;
  target: number;
  effective: number;
  tokens: number;
  window: number[];
  codes: number[]; // what differs from the stop before: candidate, position in the legend, and so on
  error?: string;
  form?: Record<number, number>;
  pinned?: number;
}

export interface Selection {
  name: string;
  scorer: string;
  slicer: string;
  placer: string;
  deduplicate: boolean;
  overflow: string;
  budget: Budget;
  error?: string;
  candidates: number[];
  scores: (number | null)[];
  parts: Part[];
  window: number[];
  codes: string[];
  meanings: string[];
  code: number[];
  why: string[];
  survivor?: Record<number, number>;
  stages: Stage[];
  total: number;
  shortfalls?: string[];
  overflowed?: string;
  session?: string;
  sweep: { stops: SweepStop[] | null } | null;
  form?: Record<number, number>;
  forms?: Record<number, Form[]>;
  origin?: number[];
  rivals?: Record<number, number[]>;
  request?: string;
  stale?: number[];
  pinned?: number;
  full?: Record<number, number>;
}

export interface Source {
  title: string;
  items: Item[];
  selections: Selection[];
}

// load reads the data of the page, which are compressed.
export async function load(): Promise<Source> {
  const bytes = Uint8Array.from(atob(document.getElementById('data')?.textContent ?? ''), (letter) => letter.charCodeAt(0));
  const text = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return JSON.parse(await new Response(text).text()) as Source;
}
