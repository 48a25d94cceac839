import { asciiFolded } from './format';
import type { Form, Item, Selection, Source } from './wire';

// The page's model. A side is one selection and its current budget; a row is one
// candidate, in one or both sides. Of more than two selections, such as the turns
// of a session, two are sides at a time; the model is made again for other two.

export interface Kind {
  index: number;
  name: string;
  slot: number; // of the colour
  letter: string;
}

export interface Row {
  index: number;
  item: number;
  at: [number, number]; // the candidate in each side, or -1
}

// Stop is a budget that can be shown.
export interface Stop {
  actual: boolean;
  budget: number;
  target: number;
  effective: number;
  tokens: number;
  window: number[];
  form: Record<number, number>;
  pinned: number | undefined;
  codes: ArrayLike<number>; // by candidate
  error: string;
}

export interface Side {
  index: 0 | 1;
  selection: Selection;
  n: number;
  letter: string;
  alone: boolean;
  stops: Stop[];
  actual: number; // its stop
  at: number; // the stop that is shown
  stop: Stop;
  place: Int32Array; // position in the prompt from 1; 0 is left out
  code: Int32Array;
  byScore: number[];
  rank: Int32Array; // by score from 1; 0 is for those without one
  rowOf: Int32Array;
  form: Int32Array; // in the window; 0 is the full one
  changed: Uint8Array; // 1 came with the budget that is shown, 2 went
  stale: Set<number>;
  came: number[]; // compared with the actual budget
  went: number[];
  reshaped: number[];
  pinnedTokens: number;
}

export interface Model {
  title: string;
  all: Selection[];
  shown: number[]; // those that are sides
  items: Item[];
  kinds: Kind[];
  kindOf: Int32Array;
  sides: Side[];
  rows: Row[];
  hasGroups: boolean;
  hasForms: boolean;
  hasStale: boolean;
  bestRanks: number[]; // by row; the same at every budget
}

const LETTERS = ['A', 'B'];
const KNOWN_KINDS = ['systemprompt', 'message', 'document', 'tooloutput', 'memory'];
const KNOWN_LETTERS = 'SMDTE'; // M is Message, not Memory
const SLOTS = 16; // eight colours, plain and hatched

export let page: Model;

// read makes the model of the page from one or two of the selections.
export function read(source: Source, shown: number[]): void {
  const { items } = source;
  const selections = shown.map((i) => source.selections[i]);
  const kinds = kindsOf(items);
  const sweeps = selections.flatMap((selection) => [selection, ...(selection.sweep?.stops ?? [])]);
  page = {
    title: source.title, all: source.selections, shown, items, kinds: kinds.list, kindOf: kinds.of, rows: [], bestRanks: [],
    sides: selections.map((selection, index) => sideOf(items, selection, index as 0 | 1, selections.length === 1)),
    hasGroups: items.some((item) => item.group),
    hasForms: sweeps.some(({ form }) => form && Object.keys(form).length > 0),
    hasStale: selections.some(({ stale }) => (stale?.length ?? 0) > 0),
  };
  page.rows = rowsOf(page);
  page.bestRanks = page.rows.map((row) => bestRank(page.sides, row));
  for (const side of page.sides) moveTo(side, side.actual);
}

// Kinds are compared under ASCII folding, as in cupel. Well-known kinds come
// first, with the same colours and letters on every page; others follow in
// order of appearance.
function kindsOf(items: Item[]): { list: Kind[]; of: Int32Array } {
  const names = new Map<string, string>(); // by key
  for (const { kind } of items) {
    const key = asciiFolded(kind);
    if (!names.has(key)) names.set(key, kind);
  }
  const keys = [...KNOWN_KINDS.filter((key) => names.has(key)), ...[...names.keys()].filter((key) => !KNOWN_KINDS.includes(key))];
  const taken = new Set(KNOWN_LETTERS);
  let next = KNOWN_KINDS.length;
  const list = keys.map((key, index) => {
    const known = KNOWN_KINDS.indexOf(key);
    const slot = known >= 0 ? known : next++ % SLOTS;
    const name = names.get(key) ?? '';
    return { index, name, slot, letter: known >= 0 ? KNOWN_LETTERS.charAt(known) : letterFor(name, taken) };
  });
  const indexOf = new Map(keys.map((key, index) => [key, index]));
  return { list, of: Int32Array.from(items, (item) => indexOf.get(asciiFolded(item.kind)) ?? 0) };
}

// letterFor returns a letter that no kind uses yet, preferably the first of the
// name.
function letterFor(name: string, taken: Set<string>): string {
  const own = name.replace(/[^A-Za-z0-9]/g, '').slice(0, 100);
  for (const letter of own.toUpperCase() + own.toLowerCase() + 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789') {
    if (!taken.has(letter)) {
      taken.add(letter);
      return letter;
    }
  }
  return '·';
}

function sideOf(items: Item[], selection: Selection, index: 0 | 1, alone: boolean): Side {
  const n = selection.candidates.length;
  const stops = stopsOf(selection, items);
  const actual = stops.findIndex((stop) => stop.actual);
  const side: Side = {
    index, selection, n,
    letter: LETTERS[index],
    alone, stops, actual, at: -1, stop: stops[actual],
    place: new Int32Array(n),
    code: new Int32Array(n),
    byScore: byScore(selection.scores),
    rank: new Int32Array(n),
    rowOf: new Int32Array(n),
    form: new Int32Array(n),
    changed: new Uint8Array(n),
    stale: new Set(selection.stale),
    came: [], went: [], reshaped: [], pinnedTokens: 0,
  };
  side.byScore.forEach((candidate, i) => { side.rank[candidate] = i + 1; });
  for (const i of selection.candidates) {
    if (items[i].pinned) side.pinnedTokens += Math.max(0, items[i].tokens);
  }
  return side;
}

// byScore lists the candidates with a score, best first; ties keep the order of
// the candidates.
function byScore(scores: (number | null)[]): number[] {
  const order: number[] = [];
  scores.forEach((score, i) => { if (score !== null) order.push(i); });
  return order.sort((i, j) => (scores[j] ?? 0) - (scores[i] ?? 0) || i - j);
}

// stopsOf returns the budgets that can be shown: those of the sweep, and the
// run's own in its place among them.
function stopsOf(selection: Selection, items: Item[]): Stop[] {
  const { budget } = selection;
  const actual: Stop = {
    actual: true, budget: budget.max, target: budget.target, effective: budget.effective, tokens: tokensOf(selection, items), window: selection.window,
    form: selection.form ?? {}, pinned: selection.pinned, codes: selection.code, error: selection.error ?? '',
  };
  const codes = new Int16Array(selection.candidates.length).fill(-1);
  const others = (selection.sweep?.stops ?? []).map((stop): Stop => {
    const changes = stop.codes; // since the stop before
    for (let i = 0; i < changes.length; i += 2) codes[changes[i]] = changes[i + 1];
    return {
      actual: false, budget: stop.budget, target: stop.target, effective: stop.effective, tokens: stop.tokens, window: stop.window,
      form: stop.form ?? {}, pinned: stop.pinned, codes: codes.slice(), error: stop.error ?? '',
    };
  });
  return [...others.filter((stop) => stop.budget !== actual.budget), actual].sort((a, b) => a.budget - b.budget);
}

export function tokensOf(selection: Selection, items: Item[]): number {
  let sum = 0;
  for (const candidate of selection.window) {
    sum += (formOf(selection, candidate, selection.form?.[candidate] ?? 0) ?? items[selection.candidates[candidate]]).tokens;
  }
  return sum;
}

// moveTo changes the budget of a side.
export function moveTo(side: Side, at: number): void {
  if (side.at === at) return;
  const stop = side.stops[at];
  side.at = at;
  side.stop = stop;
  side.place.fill(0);
  stop.window.forEach((candidate, i) => { side.place[candidate] = i + 1; });
  side.form.fill(0);
  for (const [candidate, form] of Object.entries(stop.form)) side.form[Number(candidate)] = form;
  side.code.set(stop.codes);
  compareWithActual(side);
}

function compareWithActual(side: Side): void {
  side.came = [];
  side.went = [];
  side.reshaped = [];
  side.changed.fill(0);
  if (side.stop.actual) return;
  const { form, window } = side.stops[side.actual];
  const before = new Uint8Array(side.n);
  for (const candidate of window) before[candidate] = 1;
  for (let i = 0; i < side.n; i++) {
    if (side.place[i] > 0 && !before[i]) side.came.push(i);
    if (side.place[i] === 0 && before[i]) side.went.push(i);
    if (side.place[i] > 0 && before[i] && side.form[i] !== (form[i] ?? 0)) side.reshaped.push(i);
  }
  for (const i of side.came) side.changed[i] = 1;
  for (const i of side.went) side.changed[i] = 2;
}

// isInAt reports whether a candidate is in the window of a stop.
const windows = new WeakMap<Stop, Set<number>>();

export function isInAt(stop: Stop, candidate: number): boolean {
  const known = windows.get(stop) ?? new Set(stop.window);
  windows.set(stop, known);
  return known.has(candidate);
}

// firstWhole is the first stop after the current one at which a candidate is whole, or
// -1.
export function firstWhole(side: Side, candidate: number): number {
  return side.stops.findIndex((stop, at) => at > side.at && isInAt(stop, candidate) && !stop.form[candidate]);
}

// nearestStop returns the computed budget nearest to the requested one.
export function nearestStop(side: Side, budget: number): number {
  let best = 0;
  side.stops.forEach((stop, i) => {
    if (Math.abs(stop.budget - budget) < Math.abs(side.stops[best].budget - budget)) best = i;
  });
  return best;
}

// rowsOf pairs the candidates of two sides, first by item and then by content,
// since two reports read from files share no items.
function rowsOf({ items, sides }: Model): Row[] {
  const [a, b] = sides as [Side, Side?];
  const rows = Array.from(a.selection.candidates, (item, candidate) => rowOf(item, candidate, -1));
  if (b) pairRows(items, rows, b);
  for (const side of sides) {
    rows.forEach((row, i) => { if (row.at[side.index] >= 0) side.rowOf[row.at[side.index]] = i; });
  }
  rows.forEach((row, i) => { row.index = i; });
  return rows;
}

function rowOf(item: number, a: number, b: number): Row {
  return { index: 0, item, at: [a, b] };
}

function pairRows(items: Item[], rows: Row[], b: Side): void {
  let left = [...b.selection.candidates.keys()];
  const itemOf = (candidate: number) => b.selection.candidates[candidate];
  const keys: ((item: number) => number | string)[] = [(item) => item, (item) => `${asciiFolded(items[item].kind)}\n${items[item].content}`];
  for (const keyOf of keys) {
    const free = new Map<number | string, Row[]>();
    for (const row of rows) {
      if (row.at[1] >= 0) continue;
      const key = keyOf(row.item);
      const list = free.get(key);
      if (list) list.push(row);
      else free.set(key, [row]);
    }
    for (const list of free.values()) list.reverse();
    left = left.filter((candidate) => {
      const row = free.get(keyOf(itemOf(candidate)))?.pop();
      if (row) row.at[1] = candidate;
      return !row;
    });
  }
  for (const candidate of left) rows.push(rowOf(itemOf(candidate), -1, candidate));
}

function bestRank(sides: Side[], row: Row): number {
  let best = Number.MAX_SAFE_INTEGER;
  for (const side of sides) {
    const rank = row.at[side.index] < 0 ? 0 : side.rank[row.at[side.index]];
    if (rank > 0) best = Math.min(best, rank);
  }
  return best;
}

// tokensDiffer reports whether the sides have different token counts for the
// same contents, because of different tokenizers.
export function tokensDiffer(rows: Row[]): boolean {
  const { items, sides } = page;
  const tokensIn = (row: Row, side: Side) => items[side.selection.candidates[row.at[side.index]]].tokens;
  return sides.length === 2 && rows.some((row) => row.at[0] >= 0 && row.at[1] >= 0 && tokensIn(row, sides[0]) !== tokensIn(row, sides[1]));
}

export function itemOfCandidate(side: Side, candidate: number): Item {
  return page.items[side.selection.candidates[candidate]];
}

function formOf(selection: Selection, candidate: number, form: number): Form | undefined {
  return selection.forms?.[candidate]?.[form - 1];
}

export function shownTokens(side: Side, candidate: number, form = side.form[candidate]): number {
  return (formOf(side.selection, candidate, form) ?? itemOfCandidate(side, candidate)).tokens;
}

// Piece is a part of what is shown of a message: kept of it, lost, or added by what
// made the outline.
export interface Piece {
  text: string;
  is: 'kept' | 'lost' | 'added';
}

// piecesOf divides the content of a candidate. What is kept and added is exactly what
// was sent; what is kept and lost is the content.
export function piecesOf(items: Item[], selection: Selection, candidate: number, form: number): Piece[] {
  const { content } = items[selection.candidates[candidate]];
  const edits = formOf(selection, candidate, form)?.edits;
  if (!edits) return [{ text: content, is: 'kept' }];
  const pieces: Piece[] = [];
  let at = 0;
  for (const edit of edits) {
    if (typeof edit === 'string') pieces.push({ text: edit, is: 'added' });
    else {
      const to = at + Math.abs(edit);
      pieces.push({ text: content.slice(at, to), is: edit > 0 ? 'kept' : 'lost' });
      at = to;
    }
  }
  if (at < content.length) pieces.push({ text: content.slice(at), is: 'lost' });
  return pieces;
}

// sentOf is the text that a window has of a candidate in a form.
export function sentOf(items: Item[], selection: Selection, candidate: number, form: number): string {
  return piecesOf(items, selection, candidate, form).map(({ text, is }) => (is === 'lost' ? '' : text)).join('');
}

export function kindOfCandidate(side: Side, candidate: number): Kind {
  return page.kinds[page.kindOf[side.selection.candidates[candidate]]];
}

export function isIn(row: Row, side: Side): boolean {
  return row.at[side.index] >= 0 && side.place[row.at[side.index]] > 0;
}

export function isOnlyHere(row: Row, side: Side): boolean {
  return isIn(row, side) && !isIn(row, page.sides[1 - side.index]);
}

// reasonOf returns the name of a candidate's reason at the current budget.
export function reasonOf(side: Side, candidate: number): string {
  return side.selection.codes[side.code[candidate]] ?? '';
}

// whyOf returns the whole sentence. Only the run itself has one: at other
// budgets its numbers would be wrong.
export function whyOf(side: Side, candidate: number): string {
  return side.stop.actual ? side.selection.why[candidate] : reasonOf(side, candidate);
}

// spendableOf returns the tokens of the pinned items plus the effective budget,
// which does not include them: the largest window the slicer aims for.
export function spendableOf(side: Side, stop = side.stop): number {
  return (stop.pinned ?? side.pinnedTokens) + stop.effective;
}
