import { page, type Row } from './model';

// What the reader chose, and the table that follows from it. Code that changes any
// of it calls changed, which draws what differs before it returns.

export type Direction = 'ascending' | 'descending';

export const view = {
  text: '', kind: -1, state: 'all', // the filters
  together: true, // both sliders move
  details: -1, // the row of the dialog
  fact: '', // the value to find
  open: new Set<number>(), // the rows of messages whose texts are shown
  unfolded: new Set<number>(), // the first rows of runs that are
  from: 0, // the first step of the page
  goTo: -1, // the row that the page is to have
  advanced: false,
};

export const table = {
  sort: 'place-0',
  direction: 'ascending' as Direction,
  order: [] as number[], // rows, sorted
  shown: [] as number[], // those that pass the filters
  active: 0, // among them
  parts: false, // shows the scores of parts
  printing: false,
  top: 0, // scrolled to
  grid: null as HTMLTableElement | null,
  scroller: null as HTMLElement | null,
  redraw: () => {}, // the rows alone
};

let draw = () => {};

export function drawsWith(work: () => void): void {
  draw = work;
}

export function changed(): void {
  draw();
}

export function shownRow(at: number): Row {
  return page.rows[table.shown[at]];
}

export const calm = matchMedia('(prefers-reduced-motion: reduce)');
