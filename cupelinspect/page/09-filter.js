'use strict';

// Which rows the table shows.

const filters = { text: '', kind: -1, state: 'all' };

function buildFilters() {
  const text = el('input', { type: 'search', id: 'filter-text', placeholder: 'content, source, tag, kind', autocomplete: 'off', spellcheck: 'false', 'aria-keyshortcuts': '/' });
  const kind = el('select', { id: 'filter-kind', autocomplete: 'off' }, el('option', { value: '-1' }, 'All kinds'),
    ...page.kinds.map((k) => el('option', { value: `${k.index}` }, plain(k.name, 40))));
  const state = el('select', { id: 'filter-state', autocomplete: 'off' });
  page.filter = { text, kind, state, count: el('output', { class: 'summary', for: 'filter-text filter-kind filter-state', 'aria-live': 'polite' }) };
  text.addEventListener('input', () => { filters.text = text.value; showFiltered(); });
  kind.addEventListener('change', () => { filterByKind(Number(kind.value)); });
  state.addEventListener('change', () => { filters.state = state.value; showFiltered(); });
  const field = (name, control) => el('label', {}, el('span', {}, name), control);
  const { parts } = page.table;
  const partsBox = el('input', { type: 'checkbox', id: 'show-parts', checked: parts, autocomplete: 'off' });
  partsBox.addEventListener('change', () => {
    page.table.parts = partsBox.checked;
    sizeGrid();
    drawRows(true);
  });
  const partsField = page.sides.some((side) => side.selection.parts.length > 0) ? el('label', { class: 'parts-field' }, partsBox, ' Scores of parts') : null;
  const clear = button('Clear', { class: 'quiet', id: 'filter-clear' }, clearFilters);
  text.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') clearFilters();
    if (event.key === 'ArrowDown') { event.preventDefault(); page.table.grid.focus(); }
  });
  const form = el('form', { class: 'filters', role: 'search', 'aria-label': 'Filter the candidates' },
    field('Filter', text), field('Kind', kind), field('Show', state), clear, ...(partsField ? [partsField] : []), page.filter.count);
  // Enter would submit the form; there is no server.
  form.addEventListener('submit', (event) => event.preventDefault());
  return form;
}

function clearFilters() {
  Object.assign(filters, { text: '', kind: -1, state: 'all' });
  page.filter.text.value = '';
  filtersChanged();
}

function filterByKind(kind) {
  filters.kind = kind;
  filtersChanged();
}

function filterByState(state) {
  filters.state = state;
  filtersChanged();
  byId('candidates').scrollIntoView({ behavior: calm.matches ? 'auto' : 'smooth' });
}

// filtersChanged updates the fields after a change made elsewhere.
function filtersChanged() {
  page.filter.kind.value = `${filters.kind}`;
  drawStates();
  for (const node of document.querySelectorAll('.legend [data-kind]')) {
    node.setAttribute('aria-pressed', `${node.dataset.kind === String(filters.kind)}`);
  }
  showFiltered();
}

// showFiltered starts at the top: the old scroll position belongs to other
// rows.
function showFiltered() {
  scrollTable(0);
  refilter();
}

// drawStates lists the states to filter by, with their counts at the current
// budgets. The chosen state stays in the list even if its count is 0.
function drawStates() {
  const { state } = page.filter;
  const option = (value, text) => el('option', { value }, text);
  const options = [option('all', 'All candidates')];
  for (const side of page.sides) {
    const of = side.alone ? '' : `${side.letter}: `;
    options.push(option(`in:${side.index}`, `${of}In the window (${grouped(side.stop.window.length)})`),
      option(`out:${side.index}`, `${of}Left out (${grouped(side.n - side.stop.window.length)})`));
    options.push(...reasonOptions(side, of, option));
    options.push(...unitOptions(side, of, option));
    if (!side.stop.actual || [`came:${side.index}`, `went:${side.index}`, `reshaped:${side.index}`].includes(filters.state)) {
      options.push(option(`came:${side.index}`, `${of}Came with this budget (${grouped(side.came.length)})`),
        option(`went:${side.index}`, `${of}Went with this budget (${grouped(side.went.length)})`));
      if (page.hasForms) options.push(option(`reshaped:${side.index}`, `${of}In another form with this budget (${grouped(side.reshaped.length)})`));
    }
  }
  if (page.sides.length === 2) options.push(...swingOptions(option));
  state.replaceChildren(...options);
  state.value = filters.state;
}

// unitOptions are those of smaller forms and of versions, where there are any.
function unitOptions(side, of, option) {
  const smaller = side.form.reduce((sum, form) => sum + (form > 0 ? 1 : 0), 0);
  return [
    ...(page.hasForms ? [option(`smaller:${side.index}`, `${of}In a smaller form (${grouped(smaller)})`)] : []),
    ...(side.stale.size > 0 ? [option(`stale:${side.index}`, `${of}Have a newer version (${grouped(side.stale.size)})`)] : []),
  ];
}

function reasonOptions(side, of, option) {
  const valueOf = ({ code }) => `code:${side.index}:${code}`;
  return side.counts.filter((count) => count.items > 0 || valueOf(count) === filters.state)
    .map((count) => option(valueOf(count), `${of}${plain(count.name, 60)} (${grouped(count.items)})`));
}

function swingOptions(option) {
  const [a, b] = page.sides;
  const counts = [0, 0, 0, 0]; // in neither, only in A, only in B, in both
  for (const row of page.rows) counts[(isIn(row, a) ? 1 : 0) + (isIn(row, b) ? 2 : 0)]++;
  const [neither, onlyA, onlyB, both] = counts;
  return [
    option('swing', `Differ: in only one (${grouped(onlyA + onlyB)})`),
    option('only:0', `Only in A (${grouped(onlyA)})`),
    option('only:1', `Only in B (${grouped(onlyB)})`),
    option('both', `In both (${grouped(both)})`),
    option('neither', `In neither (${grouped(neither)})`),
  ];
}

// reasonCounts counts the reasons at the current budget, most frequent first.
function reasonCounts(side) {
  const counts = side.selection.codes.map((name, code) => ({ code, name, items: 0, tokens: 0, in: 0 }));
  for (let i = 0; i < side.n; i++) {
    const count = counts[side.code[i]];
    if (!count) continue;
    count.items++;
    count.tokens += shownTokens(side, i);
    if (side.place[i] > 0) count.in++;
  }
  return counts.sort((a, b) => b.items - a.items || a.code - b.code);
}

function isOnlyHere(row, side) {
  const other = page.sides[1 - side.index];
  return isIn(row, side) && !isIn(row, other);
}

// stateTest returns the test of the state filter.
function stateTest() {
  const [name, index, code] = filters.state.split(':');
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

function memberTest(side, candidates) {
  const members = new Set(candidates);
  return (row) => members.has(row.at[side.index]);
}

// The text filter searches the visible text of an item and ignores case. Texts
// are folded once, when the page is idle or on the first key press.
const haystacks = [];

function haystack(itemIndex) {
  if (haystacks[itemIndex] === undefined) {
    const item = page.items[itemIndex];
    haystacks[itemIndex] = [item.kind, item.source, ...(item.tags ?? []), item.group ?? '', item.versionOf ?? '', item.content].join('\n').toLowerCase();
  }
  return haystacks[itemIndex];
}

function foldWhenIdle(from = 0) {
  const idle = window.requestIdleCallback ?? ((work) => setTimeout(() => work({ timeRemaining: () => 8 }), 50));
  idle((deadline) => {
    let i = from;
    while (i < page.items.length && deadline.timeRemaining() > 2) haystack(i++);
    if (i < page.items.length) foldWhenIdle(i);
  });
}

// filtered returns the rows that pass all filters, in the given order.
function filtered(order) {
  const needle = filters.text.trim().toLowerCase();
  const ofState = stateTest();
  return order.filter((r) => {
    const row = page.rows[r];
    return (filters.kind < 0 || page.kindOf[row.item] === filters.kind)
      && (ofState === null || ofState(row))
      && (needle === '' || haystack(row.item).includes(needle));
  });
}

function drawCount() {
  const { shown } = page.table;
  let tokens = 0;
  for (const r of shown) tokens += page.items[page.rows[r].item].tokens;
  const all = page.rows.length;
  const text = `${shown.length === all ? '' : `${grouped(shown.length)} of `}${counted(all, 'candidate')}, ${counted(tokens, 'token')}`;
  // Screen readers would read a rewritten live region again.
  if (page.filter.count.textContent !== text) page.filter.count.textContent = text;
}
