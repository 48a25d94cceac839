// The page's data, as package cupelinspect writes it: wire.go says what each
// field is.

export interface Item {
  content: string;
  cut?: number;
  unmade?: boolean; // of a form
  tokens: number;
  kind: string;
  source: string;
  tags?: string[];
  pinned?: boolean;
  priority?: number;
  timestamp?: string;
  hint?: number;
  metadata?: Record<string, unknown>;
  group?: string;
  versionOf?: string;
}

export interface Form {
  content: string;
  cut?: number;
  tokens: number;
  unmade?: boolean;
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
  window: string; // packed
  codes: string; // packed: what differs from the stop before
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
  left?: string; // packed: candidate, tokens that were left, and so on
  survivor?: Record<number, number>;
  stages: Stage[];
  total: number;
  shortfalls?: string[];
  overflowed?: string;
  session?: string;
  sweep: { stops: SweepStop[] | null } | null;
  form?: Record<number, number>;
  forms?: Record<number, Record<number, Form>>;
  stale?: number[];
  pinned?: number;
  origin?: number[];
  full?: Record<number, number>;
}

export interface Source {
  title: string;
  items: Item[];
  selections: Selection[];
}

// fill sets what the data leaves out because it is usual, and lists that are
// written as null because they are empty.
export function fill(source: Source): void {
  for (const item of source.items as Partial<Item>[]) {
    item.kind ??= 'Message';
    item.source ??= 'Chat';
  }
  for (const selection of source.selections) {
    for (const list of ['scores', 'parts', 'window', 'codes', 'meanings', 'code', 'why', 'stages'] as const) (selection[list] as unknown) ??= [];
    (selection.candidates as unknown) ??= [...selection.code.keys()];
  }
}

const LAST = '0123456789abcdefghijklmnopqrstuvwxyz';
const MORE = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ!#$%()*+,-';
const DIGITS = new Int8Array(128);
for (let i = 0; i < LAST.length; i++) {
  DIGITS[LAST.charCodeAt(i)] = i;
  DIGITS[MORE.charCodeAt(i)] = -1 - i;
}

// unpack reads a list of numbers as package cupelinspect packs it.
export function unpack(text: string): number[] {
  const list: number[] = [];
  let n = 0;
  let unit = 1;
  for (let i = 0; i < text.length; i++) {
    const digit = DIGITS[text.charCodeAt(i)];
    if (digit < 0) {
      n += unit * (-1 - digit);
      unit *= LAST.length;
    } else {
      list.push(n + unit * digit);
      n = 0;
      unit = 1;
    }
  }
  return list;
}
