import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';
import { allColumns, type Column } from './columns';
import { Filters, resort } from './filter';
import { counted } from './format';
import { isIn, page, type Row } from './model';
import { moveActive, narrow, openDetails, rowHeight, scrollTable } from './open';
import { changed, shownRow, table } from './state';

// The table of all candidates. Only visible rows are elements, so ten thousand
// of them sort and filter within a frame or two. The grid itself has the focus
// and names the active row, so scrolling a row away does not lose the focus.

const SPARE_ROWS = 10;
const PRINTED_ROWS = 400;

export function Candidates() {
  return (
    <section id="candidates" class="card" aria-labelledby="candidates-title">
      <h2 id="candidates-title">Candidates</h2>
      <Filters />
      <Table />
    </section>
  );
}

function Table() {
  const [, redraw] = useReducer<number, undefined>((n) => n + 1, 0);
  const [room, setRoom] = useState(0); // the largest height for rows; with few of them the box is smaller
  const scroller = useRef<HTMLDivElement>(null);
  const grid = useRef<HTMLTableElement>(null);
  useLayoutEffect(() => {
    const box = scroller.current;
    if (!box) return undefined;
    Object.assign(table, { grid: grid.current, scroller: box });
    const measure = () => setRoom(Math.max(box.clientHeight, parseFloat(getComputedStyle(box).maxHeight) || 0));
    const observer = new ResizeObserver(measure);
    observer.observe(box);
    addEventListener('resize', measure);
    narrow.addEventListener('change', () => redraw(undefined));
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const print = (printing: boolean) => () => {
      table.printing = printing;
      changed();
    };
    addEventListener('beforeprint', print(true));
    addEventListener('afterprint', print(false));
  }, []);

  const columns = allColumns();
  const cells = columns.filter((column) => table.parts || !column.part);
  const sum = (list: Column[]) => `${list.reduce((total, column) => total + column.width, 0)}px`;
  const { shown, printing } = table;
  const inView = Math.ceil((room || 600) / rowHeight());
  const first = (top: number) => Math.max(0, Math.min(Math.floor(top / rowHeight()) - SPARE_ROWS, shown.length - inView - 2 * SPARE_ROWS));
  const from = printing ? 0 : first(table.top);
  const to = Math.min(shown.length, printing ? PRINTED_ROWS : from + inView + 2 * SPARE_ROWS);
  const rows: Row[] = [];
  for (let at = from; at < to; at++) rows.push(shownRow(at));
  const scrolled = () => {
    const was = table.top;
    table.top = scroller.current?.scrollTop ?? 0;
    if (first(was) !== first(table.top)) redraw(undefined);
  };
  // A row for other rows spans only the visible columns: a cell that spans more
  // adds columns, which take space from the others.
  const whole = (text: string) => <tr role="row" class="no-rows"><td role="gridcell" colSpan={cells.filter((column) => !column.minor || !narrow.matches).length}>{text}</td></tr>;
  const hasActive = table.active >= from && table.active < to;
  return (
    <div class="scroller" ref={scroller} onScroll={scrolled}>
      <table
        id="grid" class={table.parts ? 'grid' : 'grid without-parts'} role="grid" tabIndex={0} aria-labelledby="candidates-title" ref={grid}
        aria-rowcount={shown.length + 1} aria-activedescendant={hasActive ? `row-${table.active}` : undefined} onKeyDown={gridKey}
        style={{ '--wide': sum(cells) }}
      >
        <colgroup>{columns.map((column) => <col class={cellClass(column)} style={column.grows ? undefined : { width: `${column.width}px` }} />)}</colgroup>
        <thead role="rowgroup"><tr role="row" aria-rowindex={1}>{columns.map((column) => <Heading column={column} />)}</tr></thead>
        <tbody role="rowgroup" onClick={press}>
          <Spacer rows={from} key="before" />
          {rows.map((row, i) => <TableRow key={row.index} row={row} at={from + i} cells={cells} active={table.active === from + i} />)}
          {shown.length === 0 && whole(page.rows.length === 0 ? 'There were no candidates.' : 'No candidate passes these filters.')}
          {printing && to < shown.length && whole(`and ${counted(shown.length - to, 'more candidate')}`)}
          <Spacer rows={printing ? 0 : shown.length - to} key="after" />
        </tbody>
      </table>
    </div>
  );
}

// showParts shows the scores of parts if they leave the first lines of contents
// in view, which identify the items.
export function showPartsIfTheyFit(): void {
  const sum = allColumns().reduce((total, column) => total + column.width, 0);
  table.parts = page.sides.length === 1 && sum <= Math.max(innerWidth, 1200);
}

// An empty row stands in for those that are no elements, so that the scroll bar
// is right.
function Spacer({ rows }: { rows: number }) {
  return <tr class="spacer" aria-hidden="true" hidden={rows === 0}><td style={{ height: `${rows * rowHeight()}px` }} /></tr>;
}

function Heading({ column }: { column: Column }) {
  const sort = () => {
    const first = column.first ?? 'ascending';
    const opposite = table.direction === 'ascending' ? 'descending' : 'ascending';
    table.direction = table.sort === column.id ? opposite : first;
    table.sort = column.id;
    scrollTable(0);
    resort();
    changed();
  };
  return (
    <th scope="col" role="columnheader" class={cellClass(column)} data-column={column.id} aria-sort={table.sort === column.id ? table.direction : undefined}>
      <button type="button" title={column.label ?? column.name} aria-label={column.label} onClick={sort}><span>{column.name}</span><span class="arrow" aria-hidden="true" /></button>
    </th>
  );
}

function cellClass(column: Column): string | undefined {
  return [column.number ? 'number' : '', column.minor ? 'minor' : '', column.part ? 'part' : ''].filter(Boolean).join(' ') || undefined;
}

function TableRow({ row, at, cells, active }: { row: Row; at: number; cells: Column[]; active: boolean }) {
  return (
    <tr role="row" id={`row-${at}`} aria-rowindex={at + 2} data-at={at} data-row={row.index} class={rowClass(row) + (active ? ' active' : '')} aria-selected={active ? 'true' : undefined}>
      {cells.map((column) => <td role="gridcell" class={cellClass(column)} title={column.title?.(row) || undefined}>{column.cell(row)}</td>)}
    </tr>
  );
}

// rowClass marks rows that only one of two sides included.
function rowClass(row: Row): string {
  const [a, b = true] = page.sides.map((side) => isIn(row, side));
  if (page.sides.length < 2) return a ? 'in' : 'out';
  if (a && b) return 'in';
  return a || b ? `in only-${a ? 0 : 1}` : 'out';
}

function press(event: MouseEvent): void {
  const at = Number((event.target as Element).closest('tr')?.dataset.at ?? -1);
  if (at < 0) return;
  table.active = at;
  openDetails(table.shown[at]);
}

function gridKey(event: KeyboardEvent): void {
  if (event.target !== table.grid || event.ctrlKey || event.altKey || event.metaKey) return;
  const screen = Math.max(1, Math.floor((table.scroller?.clientHeight ?? 0) / rowHeight()) - 2);
  const moves: Record<string, number | undefined> = {
    ArrowDown: table.active + 1, ArrowUp: table.active - 1, PageDown: table.active + screen, PageUp: table.active - screen,
    Home: 0, End: table.shown.length - 1,
  };
  const to = moves[event.key];
  if (to !== undefined) {
    event.preventDefault();
    moveActive(to);
  }
  if (event.key === 'Enter' && table.shown.length > 0) {
    event.preventDefault();
    openDetails(table.shown[table.active]);
  }
}
