import { useRef } from 'preact/hooks';
import { grouped, scoreText } from './format';
import { kindOfCandidate, page, type Side } from './model';
import { openDetails } from './open';
import { Card, Still, titled, useWidth } from './parts';

// Score against position in the prompt, as bars: a placer that puts the best
// items at the edges draws a U. Next to them, a grey slope shows the scores of
// the items left out, best first: where it is high, a good item did not fit.

const PLOT_HEIGHT = 150;
const PLOT_TOP = 8;
const PLOT_LEFT = 44;
const PLOT_FOOT = 20;

interface Scale {
  width: number;
  bars: number; // pixels that the window takes
  low: number;
  high: number;
  y: (score: number) => number;
  step: number; // pixels of an item
}

export function Plot({ side }: { side: Side }) {
  const [box, boxWidth] = useWidth();
  const drawing = useRef<SVGSVGElement>(null);
  const scale = useRef<Scale | null>(null);
  const at = (event: MouseEvent) => {
    if (!drawing.current || !scale.current) return -1;
    const x = event.clientX - drawing.current.getBoundingClientRect().left - PLOT_LEFT;
    const position = Math.floor(x / scale.current.step);
    return x >= 0 && position < side.stop.window.length ? position : -1;
  };
  const draw = () => {
    const left = leftOutScores(side);
    scale.current = plotScale(side, boxWidth, left.length);
    const { width } = scale.current;
    return (
      <svg class="plot-drawing" role="img" ref={drawing} width={PLOT_LEFT + width} height={PLOT_HEIGHT} aria-label={plotLabel(side)}>
        <Grid scale={scale.current} />
        <Bars side={side} scale={scale.current} />
        <Slope scale={scale.current} left={left} />
        <Feet scale={scale.current} items={side.stop.window.length} left={side.n - side.stop.window.length} />
      </svg>
    );
  };
  const title = titled(side, 'Score by position in the prompt');
  const id = `plot-title-${side.index}`;
  if (side.n > 0 && side.byScore.length === 0) return <Card title={title} id={id}><p class="empty">This selection has no scores.</p></Card>;
  return (
    <Card title={title} id={id}>
      <div
        class="plot" ref={box}
        onClick={(event) => {
          const position = at(event);
          if (position >= 0) openDetails(side.rowOf[side.stop.window[position]]);
        }}
      >
        <Still on={[boxWidth, side.at]}>{() => (boxWidth > 0 ? draw() : <svg class="plot-drawing" role="img" aria-label={plotLabel(side)} />)}</Still>
      </div>
    </Card>
  );
}

// plotScale gives the window two thirds to three quarters of the width.
function plotScale({ stop, selection }: Side, boxWidth: number, left: number): Scale {
  const width = Math.max(80, boxWidth - PLOT_LEFT - 2);
  let low = 0;
  let high = 0;
  for (const score of selection.scores) {
    if (score === null || !Number.isFinite(score)) continue;
    low = Math.min(low, score);
    high = Math.max(high, score);
  }
  high ||= low < 0 ? 0 : 1;
  const bars = left === 0 ? width : Math.round(width * 0.74);
  // Scores of a custom scorer may be so large that their difference is infinite.
  const unit = Number.isFinite(high - low) ? 1 : 0.5;
  const share = (score: number) => (unit * Math.min(high, Math.max(low, score)) - unit * low) / (unit * high - unit * low || 1);
  const y = (score: number) => PLOT_TOP + (PLOT_HEIGHT - PLOT_TOP - PLOT_FOOT) * (1 - share(score));
  return { width, bars, low, high, y, step: bars / Math.max(1, stop.window.length) };
}

function leftOutScores({ byScore, place, selection: { scores } }: Side): number[] {
  return byScore.filter((candidate) => place[candidate] === 0).map((candidate) => scores[candidate] ?? 0);
}

function Grid({ scale: { low, high, y, width } }: { scale: Scale }) {
  return (
    <>
      {[low, low / 2 + high / 2, high].map((score) => (
        <>
          <path class="grid" d={`M${PLOT_LEFT} ${y(score).toFixed(1)}h${width}`} />
          <Text x={PLOT_LEFT - 6} y={y(score) + 4} anchor="end">{axisText(score)}</Text>
        </>
      ))}
    </>
  );
}

// axisText has room at the left of the plot.
function axisText(score: number): string {
  const size = Math.abs(score);
  if (size < 100) return scoreText(score);
  return size < 1e5 ? grouped(Math.round(score)) : score.toExponential(1).replace('-', '−');
}

function Text({ x, y, anchor, children }: { x: number; y: number; anchor: 'start' | 'end'; children: string }) {
  return <text x={x.toFixed(1)} y={y.toFixed(1)} class="axis" text-anchor={anchor}>{children}</text>;
}

// Bars draws one bar per item. With more items than pixels, each pixel shows
// the best of its items.
function Bars({ side, scale }: { side: Side; scale: Scale }) {
  const shapes = page.kinds.map((): string[] => []);
  const base = scale.y(Math.max(0, scale.low));
  for (const [place, { candidate, score }] of barItems(side, scale.step)) {
    const x = PLOT_LEFT + place * Math.max(1, scale.step);
    const width = Math.max(1, scale.step - (scale.step >= 4 ? 1 : 0)).toFixed(2);
    shapes[kindOfCandidate(side, candidate).index].push(`M${x.toFixed(2)} ${scale.y(score).toFixed(2)}h${width}V${base.toFixed(2)}h-${width}z`);
  }
  return (
    <>
      {page.kinds.map((kind, i) => shapes[i].length > 0 && (
        <>
          <path class={`block k${kind.slot}`} d={shapes[i].join('')} />
          {kind.slot >= 8 && <path class="hatched" d={shapes[i].join('')} />}
        </>
      ))}
    </>
  );
}

function barItems(side: Side, step: number): Map<number, { candidate: number; score: number }> {
  const best = new Map<number, { candidate: number; score: number }>();
  side.stop.window.forEach((candidate, position) => {
    const score = side.selection.scores[candidate];
    if (score === null) return;
    const pixel = step >= 1 ? position : Math.floor(position * step);
    const known = best.get(pixel);
    if (!known || known.score < score) best.set(pixel, { candidate, score });
  });
  return best;
}

function Slope({ scale: { bars: begin, width, y, low }, left }: { scale: Scale; left: number[] }) {
  if (left.length === 0) return null;
  const from = PLOT_LEFT + begin + 12;
  const room = width - begin - 12;
  const points = Math.min(left.length, Math.ceil(room));
  let d = `M${from} ${y(Math.max(0, low)).toFixed(1)}`;
  for (let i = 0; i < points; i++) {
    const at = left[Math.floor(i * left.length / points)];
    d += `L${(from + room * i / points).toFixed(1)} ${y(at).toFixed(1)}h${(room / points).toFixed(2)}`;
  }
  return <path class="slope" d={`${d}V${y(Math.max(0, low)).toFixed(1)}z`} />;
}

function Feet({ scale: { bars: begin, width }, items, left }: { scale: Scale; items: number; left: number }) {
  const y = PLOT_HEIGHT - 5;
  return (
    <>
      <Text x={PLOT_LEFT} y={y} anchor="start">{items === 0 ? 'the window is empty' : '1'}</Text>
      {items > 1 && <Text x={PLOT_LEFT + begin} y={y} anchor="end">{grouped(items)}</Text>}
      {left > 0 && <Text x={PLOT_LEFT + width} y={y} anchor="end">{`${grouped(left)} left out`}</Text>}
    </>
  );
}

function plotLabel({ stop: { window }, selection }: Side): string {
  if (window.length === 0) return 'The window is empty.';
  const at = (i: number) => scoreText(selection.scores[window[i]]);
  return `Scores by position: first ${at(0)}, middle ${at(window.length >> 1)}, last ${at(window.length - 1)}.`;
}
