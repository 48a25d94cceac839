import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { counted, grouped, scoreText } from './format';
import { formNote, kindOfCandidate, shownItem, type Side } from './model';
import { Data, KindChip, LineText } from './parts';

// The tip follows the pointer, and the keyboard in the map. It only repeats the
// details and the table, so it is hidden from screen readers.

interface At {
  side: Side;
  position: number; // in the window
  x: number;
  y: number;
}

let set: (at: At | null) => void = () => {};

// showTip shows the item at a position of the window, or nothing if that is
// negative.
export function showTip(side: Side, position: number, x: number, y: number): void {
  set(position < 0 ? null : { side, position, x, y });
}

export function hideTip(): void {
  set(null);
}

export function Tip() {
  const [at, setAt] = useState<At | null>(null);
  const box = useRef<HTMLDivElement>(null);
  set = setAt;
  useLayoutEffect(() => {
    if (!at || !box.current) return;
    const { width, height } = box.current.getBoundingClientRect();
    box.current.style.left = `${Math.max(4, Math.min(at.x, innerWidth - width - 8))}px`;
    box.current.style.top = `${at.y + height > innerHeight ? at.y - height - 34 : at.y}px`;
  }, [at]);
  return <div id="tip" class="tip" aria-hidden="true" hidden={!at} ref={box}>{at && <About {...at} />}</div>;
}

function About({ side, position }: At) {
  const candidate = side.stop.window[position] as number | undefined;
  if (candidate === undefined) return null; // the budget has changed
  const item = shownItem(side, candidate);
  const kind = kindOfCandidate(side, candidate);
  const score = scoreText(side.selection.scores[candidate]);
  return (
    <>
      <p>
        <KindChip kind={kind} />{' '}<Data text={kind.name} limit={40} />
        <span class="soft">{` ${grouped(position + 1)} of ${grouped(side.stop.window.length)} · ${counted(item.tokens, 'token')}${formNote(side, candidate)} · score ${score}`}</span>
      </p>
      <p class="tip-line"><LineText item={item} limit={90} /></p>
    </>
  );
}
