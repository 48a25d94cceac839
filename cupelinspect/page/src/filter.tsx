import { columnOf } from './columns';
import { counted, grouped, plain } from './format';
import { isIn, isOnlyHere, page, shownTokens, type Row, type Side } from './model';
import { scrollTable } from './open';
import { calm, changed, shownRow, table, view } from './state';

// Which rows the table shows, and in which order.

export function Filters() {
  const keys = (event: KeyboardEvent) => {
    if (event.key === 'Escape') clearFilters();
    if (event.key === 'ArrowDown') {
      event.preventDefault();
      table.grid?.focus();
    }
  };
  const hasParts = page.sides.some((side) => side.selection.parts.length > 0);
  return (
    // Enter would submit the form; there is no server.
    <form class="filters" role="search" aria-label="Filter the candidates" onSubmit={(event) => event.preventDefault()}>
      <label>
        <span>Filter</span>
        <input
          type="search" id="filter-text" placeholder="content, source, tag, kind" autocomplete="off" spellcheck={false} aria-keyshortcuts="/" value={view.text} onKeyDown={keys}
          onInput={(event) => show({ text: event.currentTarget.value })}
        />
      </label>
      <label>
        <span>Kind</span>
        <select id="filter-kind" autocomplete="off" value={`${view.kind}`} onChange={(event) => show({ kind: Number(event.currentTarget.value) })}>
          <option value="-1">All kinds</option>
          {page.kinds.map((kind) => <option value={`${kind.index}`}>{plain(kind.name, 40)}</option>)}
        </select>
      </label>
      <label>
        <span>Show</span>
        <select id="filter-state" autocomplete="off" value={view.state} onChange={(event) => show({ state: event.currentTarget.value })}>
          {stateOptions().map(([value, text]) => <option key={value} value={value}>{text}</option>)}
        </select>
      </label>
      <button type="button" class="quiet" id="filter-clear" onClick={clearFilters}>Clear</button>
      {hasParts && (
        <label class="parts-field">
          <input
            type="checkbox" id="show-parts" checked={table.parts} autocomplete="off"
            onChange={(event) => {
              table.parts = event.currentTarget.checked;
              changed();
            }}
          />
          {' Scores of parts'}
        </label>
      )}
      <output class="summary" for="filter-text filter-kind filter-state" aria-live="polite">{countText()}</output>
    </form>
  );
}

// show changes filters. It starts at the top: the old scroll position belongs to
// other rows.
function show(filters: Partial<typeof view>): void {
  Object.assign(view, filters);
  scrollTable(0);
  refilter();
  changed();
}

function clearFilters(): void {
  show({ text: '', kind: -1, state: 'all' });
}

export function filterByKind(kind: number): void {
  show({ kind });
}

export function filterByState(state: string): void {
  show({ state });
  document.getElementById('candidates')?.scrollIntoView({ behavior: calm.matches ? 'auto' : 'smooth' });
}

type Option = [value: string, text: string];

// stateOptions lists the states to filter by, with their counts at the current
// budgets. The chosen state stays in the list even if its count is 0.
function stateOptions(): Option[] {
  const options: Option[] = [['all', 'All candidates']];
  for (const side of page.sides) {
    const of = side.alone ? '' : `${side.letter}: `;
    const add = (name: string, text: string, count: number) => options.push([`${name}:${side.index}`, `${of}${text} (${grouped(count)})`]);
    add('in', 'In the window', side.stop.window.length);
    add('out', 'Left out', side.n - side.stop.window.length);
    for (const { code, name, items } of reasonCounts(side)) {
      if (items > 0 || view.state === `code:${side.index}:${code}`) options.push([`code:${side.index}:${code}`, `${of}${plain(name, 60)} (${grouped(items)})`]);
    }
    if (page.hasForms) add('smaller', 'In a smaller form', side.form.reduce((sum, form) => sum + (form > 0 ? 1 : 0), 0));
    if (side.stale.size > 0) add('stale', 'Have a newer version', side.stale.size);
    if (!side.stop.actual || [`came:${side.index}`, `went:${side.index}`, `reshaped:${side.index}`].includes(view.state)) {
      add('came', 'Came with this budget', side.came.length);
      add('went', 'Went with this budget', side.went.length);
      if (page.hasForms) add('reshaped', 'In another form with this budget', side.reshaped.length);
    }
  }
  return page.sides.length === 2 ? [...options, ...swingOptions()] : options;
}

function swingOptions(): Option[] {
  const [a, b] = page.sides;
  const counts = [0, 0, 0, 0]; // in neither, only in A, only in B, in both
  for (const row of page.rows) counts[(isIn(row, a) ? 1 : 0) + (isIn(row, b) ? 2 : 0)]++;
  const [neither, onlyA, onlyB, both] = counts;
  return [
    ['swing', `Differ: in only one (${grouped(onlyA + onlyB)})`],
    ['only:0', `Only in A (${grouped(onlyA)})`],
    ['only:1', `Only in B (${grouped(onlyB)})`],
    ['both', `In both (${grouped(both)})`],
    ['neither', `In neither (${grouped(neither)})`],
  ];
}

export interface ReasonCount {
  code: number;
  name: string;
  items: number;
  tokens: number;
  in: number;
}

// reasonCounts counts the reasons at the current budget, most frequent first.
export function reasonCounts(side: Side): ReasonCount[] {
  const counts = side.selection.codes.map((name, code): ReasonCount => ({ code, name, items: 0, tokens: 0, in: 0 }));
  for (let i = 0; i < side.n; i++) {
    const count = counts[side.code[i]] as ReasonCount | undefined;
    if (!count) continue;
    count.items++;
    count.tokens += shownTokens(side, i);
    if (side.place[i] > 0) count.in++;
  }
  return counts.sort((a, b) => b.items - a.items || a.code - b.code);
}

type Test = (row: Row) => boolean;

// stateTest returns the test of the state filter.
function stateTest(): Test | null {
  const [name, index, code] = view.state.split(':');
  const side = page.sides[Number(index)];
  const [a, b] = page.sides;
  switch (name) {
    case 'in': return (row) => isIn(row, side);
    case 'out': return (row) => row.at[side.index] >= 0 && !isIn(row, side);
    case 'code': return (row) => row.at[side.index] >= 0 && side.code[row.at[side.index]] === Number(code);
    case 'came': return memberTest(side, side.came);
    case 'went': return memberTest(side, side.went);
    case 'reshaped': return memberTest(side, side.reshaped);
    case 'smaller': return (row) => row.at[side.index] >= 0 && side.form[row.at[side.index]] > 0;
    case 'stale': return memberTest(side, side.stale);
    case 'only': return (row) => isOnlyHere(row, side);
    case 'swing': return (row) => isIn(row, a) !== isIn(row, b);
    case 'both': return (row) => isIn(row, a) && isIn(row, b);
    case 'neither': return (row) => !isIn(row, a) && !isIn(row, b);
    default: return null;
  }
}

function memberTest(side: Side, candidates: Iterable<number>): Test {
  const members = new Set(candidates);
  return (row) => members.has(row.at[side.index]);
}

// The text filter searches the visible text of an item and ignores case. Texts
// are folded once, when the page is idle or on the first key press.
const haystacks: (string | undefined)[] = [];

function haystack(index: number): string {
  const item = page.items[index];
  return haystacks[index] ??= [item.kind, item.source, ...(item.tags ?? []), item.group ?? '', item.versionOf ?? '', item.content].join('\n').toLowerCase();
}

export function foldWhenIdle(from = 0): void {
  const idle = (window as Partial<Window>).requestIdleCallback ?? ((work: IdleRequestCallback) => setTimeout(() => work({ didTimeout: false, timeRemaining: () => 8 }), 50));
  idle((deadline) => {
    let i = from;
    while (i < page.items.length && deadline.timeRemaining() > 2) haystack(i++);
    if (i < page.items.length) foldWhenIdle(i);
  });
}

// resort sorts and filters all rows. Rows that are equal or have no value are
// ordered by their best rank, then by candidate.
export function resort(): void {
  if (!view.advanced) return; // nothing shows it
  const { value } = columnOf(table.sort);
  const { rows, bestRanks: ranks } = page;
  const keys = rows.map(value);
  const missing = keys.map((key) => typeof key === 'number' && Number.isNaN(key));
  const sign = table.direction === 'descending' ? -1 : 1;
  table.order = rows.map((_, i) => i).sort((i, j) => {
    if (missing[i] !== missing[j]) return missing[i] ? 1 : -1;
    if (!missing[i] && keys[i] !== keys[j]) return keys[i] < keys[j] ? -sign : sign;
    return ranks[i] - ranks[j] || i - j;
  });
  refilter();
}

// refilter keeps the rows that pass all filters, in order. The active row stays
// active if it passes.
function refilter(): void {
  const needle = view.text.trim().toLowerCase();
  const ofState = stateTest();
  const active = table.shown[table.active];
  table.shown = table.order.filter((r) => {
    const row = page.rows[r];
    return (view.kind < 0 || page.kindOf[row.item] === view.kind)
      && (ofState === null || ofState(row))
      && (needle === '' || haystack(row.item).includes(needle));
  });
  table.active = Math.max(0, table.shown.indexOf(active));
}

function countText(): string {
  const { shown } = table;
  let tokens = 0;
  for (let i = 0; i < shown.length; i++) tokens += page.items[shownRow(i).item].tokens;
  const all = page.rows.length;
  return `${shown.length === all ? '' : `${grouped(shown.length)} of `}${counted(all, 'candidate')}, ${counted(tokens, 'token')}`;
}
