'use strict';

// The table of all candidates. Only visible rows are elements, so ten thousand
// of them sort and filter within a frame or two. The grid itself has the focus
// and names the active row, so scrolling a row away does not lose the focus.

const TABLE_ROW = 26; // as in the style sheet
const SPARE_ROWS = 10;
const PRINTED_ROWS = 400;
const narrow = matchMedia('(max-width: 640px)'); // as in the style sheet, which then hides minor columns

function buildTable() {
  const columns = columnsOf();
  const head = el('tr', { 'aria-rowindex': '1' }, ...columns.map(headOf));
  const body = el('tbody', {});
  const grid = el('table', { id: 'grid', class: 'grid', role: 'grid', tabindex: '0', 'aria-labelledby': 'candidates-title' },
    el('colgroup', {}, ...columns.map(columnOf)), el('thead', {}, head), body);
  const scroller = el('div', { class: 'scroller' }, grid);
  page.table = { columns, grid, body, scroller, order: [], shown: [], active: 0, cells: columns, sort: columns[0].id, direction: 'ascending', from: -1, top: 0, room: 0, printing: false, parts: partsFit(columns) };
  scroller.addEventListener('scroll', oncePerFrame(() => {
    page.table.top = scroller.scrollTop;
    drawRows(false);
  }));
  onWidth(scroller, measureTable);
  addEventListener('resize', oncePerFrame(measureTable));
  grid.addEventListener('keydown', gridKey);
  body.addEventListener('click', (event) => {
    const at = Number(event.target.closest('tr')?.dataset.at ?? -1);
    if (at < 0) return;
    page.table.active = at;
    drawRows(true);
    openDetails(page.table.shown[at]);
  });
  addEventListener('beforeprint', () => printRows(true));
  addEventListener('afterprint', () => printRows(false));
  sizeGrid();
  byId('candidates').append(el('h2', { id: 'candidates-title' }, 'Candidates'), buildFilters(), scroller);
}

// partsFit reports whether the score columns leave the first lines of contents
// in view, which identify the items.
function partsFit(columns) {
  const sum = columns.reduce((total, column) => total + column.width, 0);
  return page.sides.length === 1 && sum <= Math.max(innerWidth, 1200);
}

function columnOf(column) {
  const node = el('col', { class: cellClass(column) });
  if (!column.grows) node.style.width = `${column.width}px`;
  return node;
}

// sizeGrid makes columns as wide as they need; the table scrolls sideways if
// they do not fit.
function sizeGrid() {
  const { columns, grid, parts } = page.table;
  page.table.cells = columns.filter((column) => parts || !column.part);
  const sum = (list) => list.reduce((total, column) => total + column.width, 0);
  grid.classList.toggle('without-parts', !parts);
  grid.style.setProperty('--wide', `${sum(columns.filter((column) => parts || !column.part))}px`);
  grid.style.setProperty('--narrow', `${sum(columns.filter((column) => !column.minor))}px`);
}

function headOf(column) {
  const press = button('', { title: column.label ?? column.name, 'aria-label': column.label }, () => sortBy(column));
  press.append(el('span', {}, column.name), el('span', { class: 'arrow', 'aria-hidden': 'true' }));
  return el('th', { scope: 'col', class: cellClass(column), 'data-column': column.id }, press);
}

function cellClass(column) {
  return [column.number ? 'number' : '', column.minor ? 'minor' : '', column.part ? 'part' : ''].filter(Boolean).join(' ') || null;
}

function sortBy(column) {
  const { table } = page;
  const first = column.first ?? 'ascending';
  const opposite = { ascending: 'descending', descending: 'ascending' };
  table.direction = table.sort === column.id ? opposite[table.direction] : first;
  table.sort = column.id;
  scrollTable(0);
  resort();
}

function resort() {
  const { table } = page;
  table.order = sortedBy(table.columns.find((column) => column.id === table.sort), table.direction);
  for (const th of table.grid.querySelectorAll('th')) {
    if (th.dataset.column === table.sort) th.setAttribute('aria-sort', table.direction);
    else th.removeAttribute('aria-sort');
  }
  refilter();
}

// refilter shows the rows that pass the filters. The active row stays active if
// it passes.
function refilter() {
  const { table } = page;
  const active = table.shown[table.active];
  table.shown = filtered(table.order);
  table.active = Math.max(0, table.shown.indexOf(active));
  table.grid.setAttribute('aria-rowcount', `${table.shown.length + 1}`);
  drawRows(true);
  drawCount();
}

// drawRows draws the visible rows and a few more. Two empty rows stand in for
// the others, so that the scroll bar is right.
function drawRows(always) {
  const { table } = page;
  const { shown, body } = table;
  const inView = Math.ceil((table.room || 600) / TABLE_ROW);
  const first = Math.floor(table.top / TABLE_ROW);
  const from = table.printing ? 0 : Math.max(0, Math.min(first - SPARE_ROWS, shown.length - inView - 2 * SPARE_ROWS));
  const to = table.printing ? Math.min(shown.length, PRINTED_ROWS) : Math.min(shown.length, from + inView + 2 * SPARE_ROWS);
  if (!always && from === table.from) return;
  table.from = from;
  const rows = [];
  for (let at = from; at < to; at++) rows.push(rowElement(at));
  if (shown.length === 0) rows.push(wholeRow(page.rows.length === 0 ? 'There were no candidates.' : 'No candidate passes these filters.'));
  if (table.printing && to < shown.length) rows.push(wholeRow(`and ${counted(shown.length - to, 'more candidate')}`));
  update(body, [spacer(from), ...rows, spacer(table.printing ? 0 : shown.length - to)]);
  markActive();
}

// measureTable stores the maximum height for rows; with few rows the box is
// smaller.
function measureTable() {
  const { table } = page;
  table.room = Math.max(table.scroller.clientHeight, parseFloat(getComputedStyle(table.scroller).maxHeight) || 0);
  drawRows(true);
}

// scrollTable scrolls to a place in the table.
function scrollTable(top) {
  if (page.table.top === top) return;
  page.table.top = top;
  page.table.scroller.scrollTop = top;
}

// wholeRow spans only the visible columns: a cell that spans more adds columns,
// which take space from the others.
function wholeRow(text) {
  const columns = page.table.cells.filter((column) => !column.minor || !narrow.matches).length;
  return el('tr', { class: 'no-rows' }, el('td', { colspan: `${columns}` }, text));
}

function spacer(rows) {
  const node = el('tr', { class: 'spacer', 'aria-hidden': 'true' }, el('td', {}));
  node.firstChild.style.height = `${rows * TABLE_ROW}px`;
  node.hidden = rows === 0;
  return node;
}

function rowElement(at) {
  const { table } = page;
  const row = page.rows[table.shown[at]];
  const inSome = page.sides.some((side) => isIn(row, side));
  const tr = el('tr', { id: `row-${at}`, 'aria-rowindex': `${at + 2}`, 'data-at': `${at}`, 'data-row': `${row.index}`, class: inSome ? rowClass(row) : 'out' });
  for (const column of table.cells) {
    const td = el('td', { class: cellClass(column) });
    column.fill(td, row);
    tr.append(td);
  }
  return tr;
}

// rowClass marks rows that only one of two sides included.
function rowClass(row) {
  if (page.sides.length < 2) return 'in';
  const [a, b] = page.sides.map((side) => isIn(row, side));
  return a && b ? 'in' : `in only-${a ? 0 : 1}`;
}

function markActive() {
  const { table } = page;
  for (const node of table.body.querySelectorAll('.active')) {
    node.classList.remove('active');
    node.removeAttribute('aria-selected');
  }
  const tr = byId(`row-${table.active}`);
  if (!tr) {
    table.grid.removeAttribute('aria-activedescendant');
    return;
  }
  tr.classList.add('active');
  tr.setAttribute('aria-selected', 'true');
  table.grid.setAttribute('aria-activedescendant', tr.id);
}

// moveActive makes a row active and scrolls it into view.
function moveActive(to) {
  const { table } = page;
  if (table.shown.length === 0) return;
  table.active = Math.min(table.shown.length - 1, Math.max(0, to));
  const head = table.grid.tHead.offsetHeight;
  const top = table.active * TABLE_ROW;
  const { scroller } = table;
  const room = scroller.clientHeight - head;
  if (top < table.top) scrollTable(top);
  if (top + TABLE_ROW > table.top + room) scrollTable(top + TABLE_ROW - room);
  drawRows(false);
  markActive();
}

function gridKey(event) {
  const { table } = page;
  if (event.target !== table.grid || event.ctrlKey || event.altKey || event.metaKey) return;
  const screen = Math.max(1, Math.floor(table.scroller.clientHeight / TABLE_ROW) - 2);
  const to = {
    ArrowDown: table.active + 1, ArrowUp: table.active - 1, PageDown: table.active + screen, PageUp: table.active - screen,
    Home: 0, End: table.shown.length - 1,
  }[event.key];
  if (to !== undefined) {
    event.preventDefault();
    moveActive(to);
  }
  if (event.key === 'Enter' && table.shown.length > 0) {
    event.preventDefault();
    openDetails(table.shown[table.active]);
  }
}

// printRows prints the rows of the table, up to a few pages.
function printRows(printing) {
  page.table.printing = printing;
  drawRows(true);
}
