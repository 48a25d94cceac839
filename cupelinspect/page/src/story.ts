import { grouped, plain, firstLine } from './format';
import { page, shownTokens, type Row, type Side, type Stop } from './model';
import type { Item } from './wire';

// A conversation is a list of messages: package cupelchat gives their items a
// role and a title as metadata.

export function roleOf(item: Item): string {
  return textOf(item, 'role');
}

function textOf(item: Item, key: string): string {
  return item.metadata?.[key] ?? '';
}

// isConversation reports whether most of the candidates are messages.
export function isConversation(): boolean {
  const { items } = page;
  const told = conversations.get(items);
  if (told !== undefined) return told;
  const messages = items.filter((item) => roleOf(item) !== '').length;
  conversations.set(items, messages > 1 && 2 * messages > items.length);
  return isConversation();
}

const conversations = new WeakMap<Item[], boolean>(); // by the items of the page

// speakerOf says who speaks, in a word or two.
export function speakerOf(item: Item): string {
  const role = roleOf(item);
  // In a report, the outline of an exchange stands for each of its messages, and has its tokens at the first.
  if (item.tokens === 0 && Number(item.metadata?.messages) > 1) return 'Result';
  switch (role) {
    case 'tools': return 'Tools';
    case 'tool': return 'Result';
    case '': return plain(item.kind, 20);
    case 'assistant':
    case 'model': return textOf(item, 'tool') === '' ? 'Assistant' : 'Call';
    default: return plain(role.charAt(0).toUpperCase() + role.slice(1), 20);
  }
}

export function titleOf(item: Item): string {
  return textOf(item, 'title') || firstLine(item.content);
}

export type State = 'in' | 'outline' | 'out' | 'none'; // in is whole; none: no candidate

export function stateOf(side: Side, row: Row): State {
  const candidate = row.at[side.index];
  if (candidate < 0) return 'none';
  if (side.place[candidate] === 0) return 'out';
  return side.form[candidate] > 0 ? 'outline' : 'in';
}

// fullTokens are those of a candidate as it was given.
export function fullTokens(side: Side, row: Row): number {
  const candidate = row.at[side.index];
  return side.selection.full?.[candidate] ?? page.items[side.selection.candidates[candidate]].tokens;
}

// inOrder returns the rows of a conversation in its order. Other lists begin with
// what is sent, in the order of the prompt, and what is out follows, best first.
export function inOrder(sides: Side[]): Row[] {
  const orders = known.get(page.rows) ?? new Map<string, Row[]>();
  known.set(page.rows, orders);
  const name = sides.map((side) => `${side.index}:${isConversation() ? '' : side.at}`).join();
  const order = orders.get(name) ?? orderOf(sides);
  orders.set(name, order);
  return order;
}

const known = new WeakMap<Row[], Map<string, Row[]>>(); // orders, by the rows of the page

function orderOf(sides: Side[]): Row[] {
  if (isConversation()) {
    const first = (row: Row) => Math.min(...sides.filter((side) => row.at[side.index] >= 0).map((side) => originOf(side, row)));
    return sortedBy(page.rows.filter((row) => sides.some((side) => row.at[side.index] >= 0)), first);
  }
  const place = (row: Row) => Math.min(...sides.map((side) => side.place[row.at[side.index]] || Infinity));
  const isIn = new Set(sides.flatMap((side) => side.stop.window.map((candidate) => page.rows[side.rowOf[candidate]])));
  const sent = sides.length === 1 ? [...isIn] : sortedBy([...isIn], place);
  const ranked = known.get(page.rows)?.get('ranked') ?? sortedBy(page.rows, (row) => page.bestRanks[row.index]);
  known.get(page.rows)?.set('ranked', ranked);
  return [...sent, ...ranked.filter((row) => !isIn.has(row) && sides.some((side) => row.at[side.index] >= 0))];
}

function sortedBy(rows: Row[], key: (row: Row) => number): Row[] {
  return rows.map((row) => ({ row, at: key(row) })).sort((a, b) => (a.at === b.at ? 0 : a.at - b.at) || a.row.index - b.row.index).map(({ row }) => row);
}

// newestOf are the rows whose texts a page begins with: the newest steps of a
// conversation, unless two are compared.
const NEWEST = 2; // steps

export function newestOf(): Set<number> {
  const units = isConversation() && page.sides.length === 1 ? unitsOf(inOrder(page.sides)).slice(-NEWEST) : [];
  return new Set(units.flatMap((unit) => unit.rows.map((row) => row.index)));
}

// originOf is the place of a message among the candidates of the run. A summary is none
// of them.
function originOf(side: Side, row: Row): number {
  const candidate = row.at[side.index];
  const origin = side.selection.origin?.[candidate] ?? candidate;
  return origin < 0 ? Infinity : origin;
}

// numberOf is the number of a message: its place, from 1.
export function numberOf(row: Row): number {
  const side = page.sides.find(({ index }) => row.at[index] >= 0) ?? page.sides[0];
  return 1 + originOf(side, row);
}

// whyOut says in plain words why a candidate is out.
export function whyOut(side: Side, candidate: number): string {
  const { codes, meanings } = side.selection;
  const code = side.code[candidate];
  return meanings[code] || (codes.at(code) ?? '');
}

// Unit is what is in or out together: a message, or an exchange of a call and its
// results.
export interface Unit {
  rows: Row[];
  group: string;
}

export function unitsOf(rows: Row[]): Unit[] {
  const units: Unit[] = [];
  for (const row of rows) {
    const group = page.items[row.item].group ?? '';
    const last = units.at(-1);
    if (last && group !== '' && last.group === group) last.rows.push(row);
    else units.push({ rows: [row], group });
  }
  return units;
}

// runsOf splits a list where the key changes.
export function runsOf<T>(list: T[], keyOf: (value: T) => string): T[][] {
  const runs: T[][] = [];
  let key = '';
  list.forEach((value, i) => {
    const own = keyOf(value);
    if (i > 0 && own === key) runs[runs.length - 1].push(value);
    else runs.push([value]);
    key = own;
  });
  return runs;
}

// Counts of what became of the candidates of a side.
export interface Counts {
  in: number;
  outline: number;
  out: number;
  before: number; // tokens
}

export function countsOf(side: Side): Counts {
  const counts = { in: 0, outline: 0, out: 0, before: 0 };
  for (let i = 0; i < side.n; i++) {
    counts[side.place[i] === 0 ? 'out' : side.form[i] > 0 ? 'outline' : 'in']++;
    counts.before += Math.max(0, side.selection.full?.[i] ?? page.items[side.selection.candidates[i]].tokens);
  }
  return counts;
}

// keptOf says what became of the task, and how many of the last steps are in
// whole.
export function keptOf(side: Side): string {
  const rows = inOrder([side]).filter((row) => roleOf(page.items[row.item]) !== 'tools');
  const task = rows.find((row) => roleOf(page.items[row.item]) === 'user');
  const units = unitsOf(rows).reverse();
  const whole = (unit: Unit) => unit.rows.every((row) => stateOf(side, row) === 'in');
  const first = units.findIndex((unit) => !whole(unit));
  const last = first < 0 ? 'every step is whole' : first === 0 ? 'the last step is not whole' : first === 1 ? 'the last step is whole' : `the last ${grouped(first)} steps are whole`;
  if (!task) return last;
  const state = stateOf(side, task);
  if (state === 'in' && first > 0) return `the task and ${first === 1 ? 'the last step' : `the last ${grouped(first)} steps`} are whole`;
  return `the task is ${{ in: 'whole', outline: 'cut', out: 'OUT', none: 'not there' }[state]}; ${last}`;
}

// Sum counts what rows take, and who speaks in them.
export function sumOf(side: Side, rows: Row[]): { tokens: number; speakers: string } {
  const counts = new Map<string, number>();
  let tokens = 0;
  for (const row of rows) {
    const item = page.items[row.item];
    tokens += Math.max(0, fullTokens(side, row));
    const tool = speakerOf(item) === 'Result' ? textOf(item, 'tool') : '';
    const name = tool === '' ? speakerOf(item).toLowerCase() : `result of ${plain(tool, 40)}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const most = [...counts].sort((a, b) => b[1] - a[1]);
  const named = most.slice(0, 4).map(([name, n]) => (n === 1 ? name : `${grouped(n)} × ${name}`));
  if (most.length > 4) named.push('others');
  return { tokens, speakers: named.join(', ') };
}

// isTold reports whether an outline of the whole exchange, which stands at its
// beginning, includes this message.
export function isTold(side: Side, row: Row): boolean {
  return stateOf(side, row) === 'outline' && shownTokens(side, row.at[side.index]) === 0;
}

// cutOf is what was sent of a message that is cut, and all of it, in tokens. Of an
// exchange that has one outline, these are those of the exchange.
export function cutOf(side: Side, row: Row): { sent: number; of: number } {
  const group = page.items[row.item].group ?? '';
  return outlinesOf(side).get(group) ?? { sent: shownTokens(side, row.at[side.index]), of: fullTokens(side, row) };
}

const outlines = new WeakMap<Stop, Map<string, { sent: number; of: number }>>();

function outlinesOf(side: Side): Map<string, { sent: number; of: number }> {
  const made = outlines.get(side.stop);
  if (made) return made;
  const told = new Set<string>();
  const sums = new Map<string, { sent: number; of: number }>();
  for (const candidate of side.selection.full ? [] : side.stop.window) { // a report has the sums
    const { group, tokens } = page.items[side.selection.candidates[candidate]];
    if (!group || side.form[candidate] === 0) continue;
    const sum = sums.get(group) ?? { sent: 0, of: 0 };
    sums.set(group, { sent: sum.sent + shownTokens(side, candidate), of: sum.of + tokens });
    if (shownTokens(side, candidate) === 0) told.add(group);
  }
  for (const group of sums.keys()) if (!told.has(group)) sums.delete(group);
  outlines.set(side.stop, sums);
  return sums;
}

// tokensText gives the tokens of a message in a window, and in full; of an outline
// of an exchange, those of the exchange.
export function tokensText(side: Side, row: Row, unit: Unit): string {
  if (isTold(side, row)) return '';
  const whole = stateOf(side, row) === 'outline' && unit.rows.some((other) => isTold(side, other));
  const rows = whole ? unit.rows.filter((other) => other.at[side.index] >= 0) : [row];
  // A report has the tokens of the whole exchange.
  const full = whole && side.selection.full ? fullTokens(side, row) : rows.reduce((sum, row) => sum + fullTokens(side, row), 0);
  const shown = rows.reduce((sum, row) => sum + shownTokens(side, row.at[side.index]), 0);
  return stateOf(side, row) === 'outline' ? `${grouped(shown)} of ${grouped(full)}` : grouped(full);
}
