import { useMemo, useRef } from 'preact/hooks';
import { counted, firstLine, grouped, plain, scoreText } from './format';
import { formNote, isOnlyHere, kindOfCandidate, page, shownItem, shownTokens, spendableOf, type Side, type Stop } from './model';
import { openDetails } from './open';
import { Card, Still, titled, useWidth } from './parts';
import { changed, view } from './state';
import { showTextOf } from './text';
import { hideTip, showTip } from './tip';

// The map of the window: the prompt drawn like a page of text, in prompt order.
// Each row holds the same number of tokens, and each item takes space in
// proportion to its tokens. Both sides and all budgets use the same scale.
//
// A window can have ten thousand items, so blocks are not elements: one path
// draws all blocks of a kind. For the keyboard and screen readers the map is a
// list box with one option, the current item.

const ROW_HEIGHT = 22;
const ROW_STEP = 26;
const GUTTER = 58;
const MOST_ROWS = 100;
const LETTER_WIDTH = 16; // a block this wide has room for its letter

interface Layout {
  perRow: number; // tokens
  width: number;
  rows: number;
  perToken: number; // pixels
}

interface Block {
  candidate: number;
  from: number; // tokens
  to: number;
}

export function WindowMap({ side }: { side: Side }) {
  const [box, boxWidth] = useWidth();
  const drawing = useRef<SVGSVGElement>(null);
  const { stop } = side;
  const layout = layoutOf(side, boxWidth);
  const blocks = useMemo(() => blocksOf(side), [side.at]);
  const active = Math.max(0, Math.min(view.mapAt[side.index], stop.window.length - 1));
  const option = `map-option-${side.index}`;
  const marked = boxWidth > 0 && active < blocks.length;
  const at = (event: MouseEvent) => (drawing.current ? blockAt(event, drawing.current, layout, blocks) : -1);
  const height = Math.max(1, layout.rows) * ROW_STEP;
  return (
    <Card title={titled(side, 'Window, to scale')} id={`map-title-${side.index}`}>
      <p class="soft note">{mapNote(side, layout.perRow)}</p>
      <div
        class="map" id={`map-${side.index}`} ref={box} role="listbox" tabIndex={0} aria-orientation="horizontal"
        aria-label={`Items of the window${side.alone ? '' : ` of ${side.letter}`} in prompt order, drawn to scale`}
        aria-activedescendant={marked ? option : undefined}
        onKeyDown={(event) => mapKey(event, side, layout, blocks, active)}
        onPointerMove={(event) => showTip(side, at(event), event.clientX, event.clientY + 16)}
        onPointerLeave={hideTip}
        onClick={(event) => {
          const position = at(event);
          if (position >= 0) openDetails(side.rowOf[stop.window[position]]);
        }}
        onBlur={hideTip}
      >
        <svg class="map-drawing" role="presentation" ref={drawing} width={GUTTER + layout.width} height={height} viewBox={`0 0 ${GUTTER + layout.width} ${height}`}>
          {boxWidth > 0 && <Still on={[boxWidth, ...page.sides.map((each) => each.at)]}>{() => <Drawing side={side} layout={layout} blocks={blocks} />}</Still>}
          {marked && <Active side={side} layout={layout} block={blocks[active]} position={active} id={option} />}
        </svg>
      </div>
    </Card>
  );
}

// tokensPerRow returns a round number that spreads the larger of the actual
// windows over a few rows: enough to see small items, and few enough that a
// short prompt looks short. The largest budget of a sweep takes more rows, up
// to a limit.
const scales = new WeakMap<Side[], number>();

function tokensPerRow(): number {
  const known = scales.get(page.sides);
  if (known !== undefined) return known;
  let tokens = 1;
  let items = 1;
  let most = 1;
  const end = (side: Side, stop: Stop) => Math.max(stop.tokens, spendableOf(side, stop));
  for (const side of page.sides) {
    const actual = side.stops[side.actual];
    tokens = Math.max(tokens, end(side, actual));
    items = Math.max(items, actual.window.length);
    for (const stop of side.stops) most = Math.max(most, end(side, stop));
  }
  const rows = Math.min(14, Math.max(4, Math.round(1.6 * Math.sqrt(items))));
  const perRow = roundUp(Math.max(tokens / rows, most / MOST_ROWS));
  scales.set(page.sides, perRow);
  return perRow;
}

function roundUp(n: number): number {
  const unit = 10 ** Math.floor(Math.log10(Math.max(1, n)));
  return Math.ceil((([1, 1.5, 2, 2.5, 3, 4, 5, 6, 8].find((step) => step * unit >= n)) ?? 10) * unit);
}

function layoutOf(side: Side, boxWidth: number): Layout {
  const per = tokensPerRow();
  const width = Math.max(40, boxWidth - GUTTER);
  const shown = Math.max(side.stop.tokens, spendableOf(side), 1);
  return { perRow: per, width, rows: Math.ceil(shown / per), perToken: width / per };
}

// blocksOf returns where each item of the window begins and ends, in tokens.
// Items with zero or negative tokens take no space.
function blocksOf(side: Side): Block[] {
  let at = 0;
  return side.stop.window.map((candidate) => {
    const from = at;
    at += Math.max(0, shownTokens(side, candidate));
    return { candidate, from, to: at };
  });
}

// eachRect yields the rectangles of a range of tokens, one in each row.
function eachRect(layout: Layout, from: number, to: number, visit: (x: number, y: number, width: number) => void): void {
  for (let row = Math.floor(from / layout.perRow); from < to && row < layout.rows; row++) {
    const end = Math.min(to, (row + 1) * layout.perRow);
    visit(GUTTER + (from - row * layout.perRow) * layout.perToken, row * ROW_STEP, (end - from) * layout.perToken);
    from = end;
  }
}

// drawnWidth leaves a gap before the next block, unless the gap would hide the
// block.
function drawnWidth(width: number): string {
  return (width >= 4 ? width - 1 : width).toFixed(2);
}

function rectPath(x: number, y: number, width: number): string {
  const drawn = drawnWidth(width);
  return `M${x.toFixed(2)} ${y}h${drawn}v${ROW_HEIGHT}h-${drawn}z`;
}

function mapNote(side: Side, per: number): string {
  const { window, tokens, actual } = side.stop;
  if (window.length === 0) return 'The window is empty.';
  const notes = [`A row is ${counted(per, 'token')}. ${counted(window.length, 'item')}, ${counted(tokens, 'token')}, in prompt order.`];
  if (!side.alone) notes.push(`Underlined: in ${side.letter} alone.`);
  if (!actual) notes.push('A line above marks items that came with this budget.');
  return notes.join(' ');
}

function Drawing({ side, layout, blocks }: { side: Side; layout: Layout; blocks: Block[] }) {
  const free: string[] = [];
  eachRect(layout, side.stop.tokens, spendableOf(side), (x, y, width) => free.push(rectPath(x, y, width)));
  return (
    <>
      {side.index === 0 && (
        <defs>
          <pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="2" height="6" class="hatch" /></pattern>
        </defs>
      )}
      {Array.from({ length: layout.rows }, (_, row) => <text x={GUTTER - 8} y={row * ROW_STEP + 15} class="axis" text-anchor="end">{grouped(row * layout.perRow)}</text>)}
      <Blocks side={side} layout={layout} blocks={blocks} />
      {free.length > 0 && <path class="free-room" d={free.join('')} />}
      <Marks side={side} layout={layout} blocks={blocks} />
    </>
  );
}

function Blocks({ side, layout, blocks }: { side: Side; layout: Layout; blocks: Block[] }) {
  const shapes = page.kinds.map((): string[] => []);
  const points = page.kinds.map((): string[] => []);
  const letters: { x: number; y: number; slot: number; letter: string }[] = [];
  for (const { candidate, from, to } of blocks) {
    const { index, slot, letter } = kindOfCandidate(side, candidate);
    if (from === to) points[index].push(pointPath(layout, from));
    let lettered = false;
    eachRect(layout, from, to, (x, y, width) => {
      shapes[index].push(rectPath(x, y, width));
      if (lettered || width < LETTER_WIDTH) return;
      letters.push({ x, y, slot, letter });
      lettered = true;
    });
  }
  return (
    <>
      {page.kinds.map((kind, i) => (
        <>
          {shapes[i].length > 0 && <path class={`block k${kind.slot}`} d={shapes[i].join('')} />}
          {shapes[i].length > 0 && kind.slot >= 8 && <path class="hatched" d={shapes[i].join('')} />}
          {points[i].length > 0 && <path class={`point k${kind.slot}`} d={points[i].join('')} />}
        </>
      ))}
      {letters.map(({ x, y, slot, letter }) => <text x={(x + 5).toFixed(1)} y={y + 15} class={`letter k${slot}`}>{letter}</text>)}
    </>
  );
}

// pointPath marks an item without tokens: a small wedge in the gap between two
// rows.
function pointPath({ perRow: per, perToken, rows }: Layout, at: number): string {
  const row = Math.min(rows - 1, Math.floor(at / per));
  const x = GUTTER + (at - row * per) * perToken;
  return `M${(x - 3).toFixed(1)} ${row * ROW_STEP + ROW_HEIGHT + 4}l3 -4l3 4z`;
}

// Marks draws a line above blocks that came with this budget, and one below
// blocks that only this side has.
function Marks({ side, layout, blocks }: { side: Side; layout: Layout; blocks: Block[] }) {
  const came = new Set(side.came);
  const over: string[] = [];
  const under: string[] = [];
  for (const { candidate, from, to } of blocks) {
    const isNew = came.has(candidate);
    const isOwn = !side.alone && isOnlyHere(page.rows[side.rowOf[candidate]], side);
    if (!isNew && !isOwn) continue;
    eachRect(layout, from, to, (x, y, width) => {
      const w = drawnWidth(width);
      if (isNew) over.push(`M${x.toFixed(2)} ${y}h${w}v3h-${w}z`);
      if (isOwn) under.push(`M${x.toFixed(2)} ${y + ROW_HEIGHT}h${w}v2.5h-${w}z`);
    });
  }
  return (
    <>
      {over.length > 0 && <path class="came" d={over.join('')} />}
      {under.length > 0 && <path class={`own side-${side.index}`} d={under.join('')} />}
    </>
  );
}

// Active is the option that a screen reader reads, the current item. It is
// outlined while the map has the focus.
function Active({ side, layout, block, position, id }: { side: Side; layout: Layout; block: Block; position: number; id: string }) {
  const rects: { x: number; y: number; width: number }[] = [];
  eachRect(layout, block.from, block.to, (x, y, width) => rects.push({ x, y, width }));
  return (
    <g id={id} role="option" class="active-block" aria-selected="true" aria-posinset={position + 1} aria-setsize={side.stop.window.length} aria-label={itemLabel(side, block.candidate)}>
      {rects.map(({ x, y, width }) => <rect x={x - 1} y={y - 1} width={Math.max(3, width + 1)} height={ROW_HEIGHT + 2} rx="2" />)}
      {block.from === block.to && <path d={pointPath(layout, block.from)} />}
    </g>
  );
}

function itemLabel(side: Side, candidate: number): string {
  const item = shownItem(side, candidate);
  return `${plain(item.kind, 40)}, ${counted(item.tokens, 'token')}${formNote(side, candidate)}, score ${scoreText(side.selection.scores[candidate])}: ${plain(firstLine(item.content), 80)}`;
}

function mapKey(event: KeyboardEvent, side: Side, layout: Layout, blocks: Block[], active: number): void {
  const { window } = side.stop;
  const last = window.length - 1;
  if (event.key === 'Escape') hideTip();
  if (event.key === 'Enter' && last >= 0) {
    event.preventDefault();
    openDetails(side.rowOf[window[active]]);
  }
  const moves: Record<string, () => number> = {
    ArrowRight: () => active + 1, ArrowLeft: () => active - 1, Home: () => 0, End: () => last,
    ArrowDown: () => neighbourRow(layout, blocks, active, 1), ArrowUp: () => neighbourRow(layout, blocks, active, -1),
  };
  const move = moves[event.key] as (() => number) | undefined;
  if (!move || last < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  const to = Math.min(last, Math.max(0, move()));
  view.mapAt[side.index] = to;
  changed();
  showTextOf(side, to);
  const shape = document.getElementById(`map-option-${side.index}`)?.getBoundingClientRect();
  if (shape) showTip(side, to, shape.left, shape.bottom + 6);
}

// neighbourRow returns the item one row below or above the middle of this one.
function neighbourRow(layout: Layout, blocks: Block[], active: number, by: number): number {
  const wanted = (blocks[active].from + blocks[active].to) / 2 + by * layout.perRow;
  if (wanted < 0) return 0;
  const found = blockHolding(blocks, wanted);
  return found < 0 ? blocks.length - 1 : found;
}

// blockHolding finds the item that holds a token by binary search.
function blockHolding(blocks: Block[], token: number): number {
  let low = 0;
  let high = blocks.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (token < blocks[middle].from) high = middle - 1;
    else if (token >= blocks[middle].to) low = middle + 1;
    else return middle;
  }
  return -1;
}

function blockAt(event: MouseEvent, drawing: SVGSVGElement, layout: Layout, blocks: Block[]): number {
  const box = drawing.getBoundingClientRect();
  const x = event.clientX - box.left - GUTTER;
  const y = event.clientY - box.top;
  const row = Math.floor(y / ROW_STEP);
  if (x < 0 || x >= layout.width || y < 0 || y - row * ROW_STEP > ROW_HEIGHT) return -1;
  return blockHolding(blocks, row * layout.perRow + x / layout.perToken);
}
