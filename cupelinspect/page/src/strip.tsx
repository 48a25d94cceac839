import { useMemo, useRef, useState } from 'preact/hooks';
import { counted, grouped, plain } from './format';
import { page, type Row, type Side } from './model';
import { goToRow } from './open';
import { SideBadge, Still, useWidth } from './parts';
import { cutOf, fullTokens, inOrder, isConversation, numberOf, speakerOf, stateOf, titleOf } from './story';

// The strip draws the whole conversation to scale, in its order: each message is as
// wide as its tokens, and as much of its height is filled as was sent. A press leads
// to the message. For the keyboard and screen readers it is a list box with one
// option, the current message.

const HEIGHT = 46;
const NARROW = 5; // pixels: narrower messages share columns

interface Block {
  row: Row;
  from: number; // pixels
  to: number;
}

export function Strip({ side }: { side: Side }) {
  const [box, width] = useWidth();
  const drawing = useRef<SVGSVGElement>(null);
  const [current, setCurrent] = useState(-1);
  const blocks = useMemo(() => blocksOf(side, width), [side, width, isConversation() ? 0 : side.at]);
  const active = Math.min(current >= 0 ? current : isConversation() ? blocks.length : 0, blocks.length - 1);
  const option = `strip-option-${side.index}`;
  const at = (event: MouseEvent) => (drawing.current ? blockAt(blocks, event.clientX - drawing.current.getBoundingClientRect().left) : -1);
  const noun = isConversation() ? 'conversation' : 'list';
  return (
    <div class="strip">
      <div
        class="strip-box" id={`strip-${side.index}`} ref={box} role="listbox" tabIndex={0} aria-orientation="horizontal"
        aria-label={`The whole ${noun}${side.alone ? '' : ` in ${side.letter}`}, drawn to scale`} aria-activedescendant={active >= 0 ? option : undefined}
        onKeyDown={(event) => {
          const moves: Record<string, number | undefined> = { ArrowRight: active + 1, ArrowLeft: active - 1, Home: 0, End: blocks.length - 1 };
          const to = moves[event.key];
          if (active < 0 || event.ctrlKey || event.altKey || event.metaKey || to === undefined && event.key !== 'Enter') return;
          event.preventDefault();
          if (to === undefined) goToRow(blocks[active].row);
          else setCurrent(Math.min(blocks.length - 1, Math.max(0, to)));
        }}
        onPointerMove={(event) => setCurrent(at(event))}
        onClick={(event) => {
          const pressed = at(event);
          if (pressed >= 0) goToRow(blocks[pressed].row);
        }}
      >
        <svg class="strip-drawing" role="presentation" ref={drawing} width={Math.max(1, width)} height={HEIGHT}>
          <Still on={[blocks, side.at]}>{() => <Drawing side={side} blocks={blocks} width={width} />}</Still>
          {active >= 0 && (
            <g id={option} role="option" aria-selected="true" aria-posinset={active + 1} aria-setsize={blocks.length} aria-label={aboutRow(side, blocks[active].row)}>
              <rect class="strip-here" x={blocks[active].from} y="0.5" width={Math.max(2, blocks[active].to - blocks[active].from)} height={HEIGHT - 1} />
            </g>
          )}
        </svg>
      </div>
      <p class="strip-note soft" aria-hidden="true" hidden={!side.alone && side.index === 0 && current < 0}>
        {current >= 0 && <SideBadge side={side} />}{current >= 0 && active >= 0 ? aboutRow(side, blocks[active].row) : isConversation() ? 'The oldest is at the left, the newest at the right. Press a message to see what was kept of it.' : 'What is sent comes first. Press one to see what was kept of it.'}
      </p>
    </div>
  );
}

export function aboutRow(side: Side, row: Row): string {
  const item = page.items[row.item];
  const state = stateOf(side, row);
  const full = grouped(fullTokens(side, row));
  const { sent, of } = cutOf(side, row);
  const size = { in: `whole, ${counted(fullTokens(side, row), 'token')}`, outline: `cut, ${grouped(sent)} of ${grouped(of)} tokens`, out: `out, ${full} tokens`, none: 'not there' }[state];
  return `${numberOf(row)} ${speakerOf(item)}: ${plain(titleOf(item), 90)} – ${size}`;
}

function blocksOf(side: Side, width: number): Block[] {
  const rows = inOrder([side]);
  const sizes = rows.map((row) => Math.max(1, fullTokens(side, row)));
  const unit = width / Math.max(1, sizes.reduce((sum, size) => sum + size, 0));
  let at = 0;
  return rows.map((row, i) => {
    const from = at;
    at += sizes[i] * unit;
    return { row, from, to: at };
  });
}

function blockAt(blocks: Block[], x: number): number {
  let low = 0;
  let high = blocks.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (blocks[middle].to <= x) low = middle + 1;
    else high = middle;
  }
  return high;
}

function shareOf(side: Side, row: Row): number {
  const { sent, of } = cutOf(side, row);
  return Math.min(1, sent / Math.max(1, of));
}

// Drawing fills each message from below by the share that was sent. Narrow ones share
// columns of a pixel.
function Drawing({ side, blocks, width }: { side: Side; blocks: Block[]; width: number }) {
  const shapes = { whole: [] as string[], cut: [] as string[], rest: [] as string[], out: [] as string[] };
  const columns = new Float64Array(Math.ceil(width) + 1);
  const taken = new Float64Array(columns.length);
  for (const { row, from, to } of blocks) {
    const state = stateOf(side, row);
    const share = state === 'in' ? 1 : state === 'outline' ? shareOf(side, row) : 0;
    if (to - from < NARROW) {
      columns[Math.floor((from + to) / 2)] += share * (to - from);
      taken[Math.floor((from + to) / 2)] += to - from;
      continue;
    }
    const rect = (y: number) => `M${from.toFixed(1)} ${y.toFixed(1)}h${(to - from - 1).toFixed(1)}V${HEIGHT}h-${(to - from - 1).toFixed(1)}z`;
    if (state === 'in') shapes.whole.push(rect(0));
    else if (state === 'out') shapes.out.push(rect(HEIGHT - 4));
    else {
      shapes.rest.push(rect(0));
      shapes.cut.push(rect(HEIGHT - Math.max(5, HEIGHT * share)));
    }
  }
  columns.forEach((kept, x) => {
    if (taken[x] === 0) return;
    const height = Math.max(4, HEIGHT * kept / taken[x]);
    (kept === 0 ? shapes.out : kept >= 0.999 * taken[x] ? shapes.whole : shapes.cut).push(`M${x} ${(HEIGHT - height).toFixed(1)}h1V${HEIGHT}h-1z`);
  });
  return <>{(['rest', 'whole', 'cut', 'out'] as const).map((name) => shapes[name].length > 0 && <path class={`strip-${name}`} d={shapes[name].join('')} />)}</>;
}
