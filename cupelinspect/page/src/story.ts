import { counted, grouped, plain, firstLine } from './format';
import { page, shownItem, shownTokens, type Row, type Side } from './model';
import type { Item } from './wire';

// A conversation is a list of messages: package cupelchat gives their items a
// role and a title as metadata.

export function roleOf(item: Item): string {
  const role = item.metadata?.role;
  return typeof role === 'string' ? role : '';
}

function textOf(item: Item, key: string): string {
  const text = item.metadata?.[key];
  return typeof text === 'string' ? text : '';
}

// isConversation reports whether most of the candidates are messages.
export function isConversation(): boolean {
  const messages = page.items.filter((item) => roleOf(item) !== '').length;
  return messages > 1 && 2 * messages > page.items.length;
}

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

export type State = 'in' | 'outline' | 'out' | 'none'; // none: no candidate

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

// inOrder returns the rows in the order of the run's candidates. Those that only
// the second side has stand where they stand there. It is the same at every budget.
const orders = new WeakMap<Row[], Map<string, Row[]>>(); // by the rows of the page and the sides

export function inOrder(sides: Side[]): Row[] {
  const name = sides.map((side) => side.index).join();
  const known = orders.get(page.rows) ?? new Map<string, Row[]>();
  orders.set(page.rows, known);
  const order = known.get(name) ?? orderOf(sides);
  known.set(name, order);
  return order;
}

function orderOf(sides: Side[]): Row[] {
  const position = (side: Side, row: Row) => {
    const candidate = row.at[side.index];
    const origin = side.selection.origin?.[candidate] ?? candidate;
    return origin < 0 ? Infinity : origin; // a summary is none of the candidates
  };
  const key = (row: Row) => Math.min(...sides.filter((side) => row.at[side.index] >= 0).map((side) => position(side, row)));
  return page.rows.filter((row) => sides.some((side) => row.at[side.index] >= 0))
    .map((row) => ({ row, at: key(row) })).sort((a, b) => (a.at === b.at ? 0 : a.at - b.at) || a.row.index - b.row.index).map(({ row }) => row);
}

// whyOut says in plain words why a candidate is out.
export function whyOut(side: Side, candidate: number): string {
  const { codes, meanings } = side.selection;
  const code = side.code[candidate];
  const why = meanings[code] || (codes.at(code) ?? '');
  const left = side.stop.actual ? side.left.get(candidate) : undefined;
  return left === undefined ? why : `${why}: ${counted(fullTokens(side, page.rows[side.rowOf[candidate]]), 'token')}, and ${grouped(left)} were left`;
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

// leadOf answers in a sentence what happened to the conversation.
export function leadOf(side: Side): string {
  if (side.stop.error !== '' && side.stop.window.length === 0) return 'Nothing was chosen: the run fails at this budget.';
  const rows = inOrder([side]).filter((row) => roleOf(page.items[row.item]) !== 'tools');
  const states = rows.map((row) => stateOf(side, row));
  const out = rows.filter((_, i) => states[i] === 'out');
  const outlines = states.filter((state) => state === 'outline').length;
  const results = out.filter((row) => speakerOf(page.items[row.item]) === 'Result').length;
  const parts: string[] = [];
  if (out.length === 0) parts.push(outlines === 0 ? `All ${counted(rows.length, 'message')} are in` : `None of ${counted(rows.length, 'message')} is out`);
  else {
    const tools = results === 0 ? '' : out.length === 1 ? ', a tool result' : `, ${results === out.length ? 'all' : grouped(results)} of them tool ${results === 1 ? 'result' : 'results'}`;
    parts.push(`${grouped(out.length)} of ${counted(rows.length, 'message')} ${out.length === 1 ? 'is' : 'are'} out${tools}`);
  }
  if (outlines > 0) parts.push(`${grouped(outlines)} ${outlines === 1 ? 'is in as an outline' : 'are in as outlines'}`);
  if (out.length + outlines > 0) parts.push(keptOf(side, rows));
  parts.push(usedOf(side));
  return `${parts.filter(Boolean).join('; ')}.`;
}

// keptOf says what became of the task, and how many of the last steps are in
// whole.
function keptOf(side: Side, rows: Row[]): string {
  const task = rows.find((row) => roleOf(page.items[row.item]) === 'user');
  const units = unitsOf(rows).reverse();
  const whole = (unit: Unit) => unit.rows.every((row) => stateOf(side, row) === 'in');
  const first = units.findIndex((unit) => !whole(unit));
  const last = first === 0 ? 'the last step is not in whole' : first === 1 ? 'the last step is in' : `the last ${grouped(first)} steps are in`;
  if (!task) return last;
  const state = stateOf(side, task);
  if (state === 'in' && first > 0) return `the task and ${first === 1 ? 'the last step' : `the last ${grouped(first)} steps`} are in`;
  return `the task is ${{ in: 'in', outline: 'in as an outline', out: 'OUT', none: 'not there' }[state]}; ${last}`;
}

function usedOf(side: Side): string {
  const { tokens, target } = side.stop;
  return target > 0 ? `${(100 * tokens / target).toFixed(0)}% of the target is used` : '';
}

// Sum counts what rows take, and who speaks in them.
export function sumOf(side: Side, rows: Row[]): { tokens: number; speakers: string } {
  const counts = new Map<string, number>();
  let tokens = 0;
  for (const row of rows) {
    const item = page.items[row.item];
    tokens += fullTokens(side, row);
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
  return stateOf(side, row) === 'outline' && shownItem(side, row.at[side.index]).tokens === 0;
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
