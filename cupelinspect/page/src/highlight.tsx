import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { counted, grouped } from './format';
import { itemOfCandidate, page, piecesOf, type Piece, type Side } from './model';
import { visible } from './parts';
import { patternOf } from './search';
import { view } from './state';

// The full text of a message with what was sent of it highlighted. Long losses are
// folded, and long texts begin with a screen or two: a browser takes seconds to break
// a line of a megabyte.

const SHOWN = 4000; // UTF-16 units
const LOSS_SHOWN = 240;

export function Highlighted({ side, candidate }: { side: Side; candidate: number }) {
  const [all, setAll] = useState(false);
  const item = itemOfCandidate(side, candidate);
  const isIn = side.place[candidate] > 0;
  const form = side.form[candidate];
  const pieces = isIn ? piecesOf(page.items, side.selection, candidate, form) : [{ text: item.content, is: 'lost' as const }];
  const whole = !isIn || form === 0 || pieces.every(({ is }) => is === 'kept') && !side.selection.forms?.[candidate];
  const length = pieces.reduce((sum, { text }) => sum + text.length, 0);
  let room = all ? Infinity : SHOWN;
  const shown: ComponentChildren[] = [];
  for (const { text, is } of pieces) {
    if (room <= 0) break;
    const part = { text: text.slice(0, room), is };
    shown.push(whole ? <span class={isIn ? undefined : 'lost-whole'}>{marked(part.text)}</span> : is === 'lost' ? <Loss text={part.text} /> : <Kept piece={part} />);
    room -= is === 'lost' && !whole ? Math.min(part.text.length, LOSS_SHOWN) : part.text.length;
  }
  const missing = item.cut ?? 0;
  return (
    <div class="content">
      <pre dir="auto" tabIndex={-1}>{shown}</pre>
      {room <= 0 && !all && <button type="button" class="more" onClick={() => setAll(true)}>{`Show all ${grouped(length)} characters`}</button>}
      {missing > 0 && <p class="note">{`${counted(missing, 'more byte')} of this content ${missing === 1 ? 'is' : 'are'} not in this file.`}</p>}
      {isIn && form > 0 && whole && <p class="note">This is what was sent; the full text is not in this file.</p>}
    </div>
  );
}

function Kept({ piece: { text, is } }: { piece: Piece }) {
  return is === 'kept' ? <mark class="kept">{marked(text)}</mark> : <ins class="added" title="Added when the message was cut">{marked(text)}</ins>;
}

// Loss shows the ends of what was left out, and the rest when a reader asks.
function Loss({ text }: { text: string }) {
  const [open, setOpen] = useState(false);
  if (open || text.length <= LOSS_SHOWN + 40 || patternOf(view.fact)?.test(text)) return <del class="lost">{marked(text)}</del>;
  return (
    <>
      <del class="lost">{marked(text.slice(0, LOSS_SHOWN / 2))}</del>
      <button type="button" class="more-lost" onClick={() => setOpen(true)}>{`${grouped(text.length - LOSS_SHOWN)} more characters left out`}</button>
      <del class="lost">{marked(text.slice(-LOSS_SHOWN / 2))}</del>
    </>
  );
}

// marked marks what the reader looks for.
export function marked(text: string): ComponentChildren[] {
  const pattern = patternOf(view.fact);
  if (!pattern) return visible(text);
  const list: ComponentChildren[] = [];
  let from = 0;
  for (const found of text.matchAll(pattern)) {
    if (found[0] === '') continue;
    list.push(visible(text.slice(from, found.index)), <b class="found">{visible(found[0])}</b>);
    from = found.index + found[0].length;
  }
  list.push(visible(text.slice(from)));
  return list;
}
