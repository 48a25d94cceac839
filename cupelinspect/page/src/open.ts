import type { Row } from './model';
import { calm, changed, table, view } from './state';

// What several parts of the page do: to lead to a message, to scroll the table, to make
// a row of it active, and to open the details of one.

export const narrow = matchMedia('(max-width: 640px)'); // as in the style sheet, which then hides minor columns and makes a card of each row

// rowHeight is as in the style sheet.
export function rowHeight(): number {
  return narrow.matches ? 54 : 26;
}

export function scrollTable(top: number): void {
  if (table.top === top) return;
  table.top = top;
  if (table.scroller) table.scroller.scrollTop = top;
}

// moveActive makes a row active and scrolls it into view.
export function moveActive(to: number): void {
  const { shown, grid, scroller } = table;
  if (shown.length === 0 || !grid || !scroller) return;
  table.active = Math.min(shown.length - 1, Math.max(0, to));
  const top = table.active * rowHeight();
  const room = scroller.clientHeight - (grid.tHead?.offsetHeight ?? 0);
  if (top < table.top) scrollTable(top);
  if (top + rowHeight() > table.top + room) scrollTable(top + rowHeight() - room);
  changed();
}

// goToRow opens a message, scrolls to it, and gives it the focus.
export function goToRow(row: Row): void {
  view.open.add(row.index);
  view.goTo = row.index;
  changed();
  const line = document.getElementById(`message-${row.index}`);
  line?.scrollIntoView({ block: 'center', behavior: calm.matches ? 'auto' : 'smooth' });
  line?.querySelector('button')?.focus({ preventScroll: true });
}

export function dialog(): HTMLDialogElement {
  return document.getElementById('details') as HTMLDialogElement;
}

export function openDetails(r: number): void {
  view.details = r;
  const at = table.shown.indexOf(r);
  if (at >= 0) moveActive(at);
  changed();
  const box = dialog();
  if (!box.open) box.showModal();
  else if (!box.contains(document.activeElement) || document.activeElement?.matches(':disabled')) document.getElementById('details-title')?.focus();
  box.scrollTop = 0;
}
