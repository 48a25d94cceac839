'use strict';

// Score against position in the prompt, as bars: a placer that puts the best
// items at the edges draws a U. Next to them, a grey slope shows the scores of
// the items left out, best first: where it is high, a good item did not fit.

const PLOT_HEIGHT = 150;
const PLOT_TOP = 8;
const PLOT_LEFT = 44;
const PLOT_FOOT = 20;

function buildPlot(side) {
  const drawing = svg('svg', { class: 'plot-drawing', role: 'img' });
  const box = el('div', { class: 'plot' }, drawing);
  side.plot = { box, drawing, width: 0, scale: null };
  box.addEventListener('pointermove', (event) => showTip(event, side, barAt(event, side)));
  box.addEventListener('pointerleave', hideTip);
  box.addEventListener('click', (event) => {
    const position = barAt(event, side);
    if (position >= 0) openDetails(side.rowOf[side.stop.window[position]]);
  });
  onWidth(box, (width) => {
    side.plot.width = width;
    drawPlot(side);
  });
  return card('Score by position in the prompt', `plot-title-${side.index}`, box);
}

// plotScale gives the window two thirds to three quarters of the width.
function plotScale(side, left) {
  const { stop, selection } = side;
  const width = Math.max(80, side.plot.width - PLOT_LEFT - 2);
  const finite = selection.scores.filter((score) => score !== null && Number.isFinite(score));
  const low = finite.reduce((a, b) => Math.min(a, b), 0);
  const high = finite.reduce((a, b) => Math.max(a, b), 0) || (low < 0 ? 0 : 1);
  const bars = left.length === 0 ? width : Math.round(width * 0.74);
  // Scores of a custom scorer may be so large that their difference is infinite.
  const unit = Number.isFinite(high - low) ? 1 : 0.5;
  const share = (score) => (unit * clamp(score, low, high) - unit * low) / (unit * high - unit * low || 1);
  const y = (score) => PLOT_TOP + (PLOT_HEIGHT - PLOT_TOP - PLOT_FOOT) * (1 - share(score));
  return { width, bars, low, high, y, step: bars / Math.max(1, stop.window.length) };
}

function clamp(score, low, high) {
  return Math.min(high, Math.max(low, score));
}

function leftOutScores({ byScore, place, selection: { scores } }) {
  return byScore.filter((candidate) => place[candidate] === 0).map((candidate) => scores[candidate]);
}

function drawPlot(side) {
  const { plot, stop } = side;
  if (plot.width === 0) return;
  const left = leftOutScores(side);
  plot.scale = plotScale(side, left);
  const { width } = plot.scale;
  setAttributes(plot.drawing, { width: PLOT_LEFT + width, height: PLOT_HEIGHT, 'aria-label': plotLabel(side) });
  plot.drawing.replaceChildren(...gridLines(plot.scale), ...bars(side), ...slope(plot.scale, left), ...plotFeet(plot.scale, stop.window.length, side.n - stop.window.length));
}

function gridLines({ low, high, y, width }) {
  return [low, low / 2 + high / 2, high].flatMap((score) => {
    const at = y(score);
    return [svg('path', { class: 'grid', d: `M${PLOT_LEFT} ${at.toFixed(1)}h${width}` }), plotText(PLOT_LEFT - 6, at + 4, scoreText(score), 'end')];
  });
}

function plotText(x, y, text, anchor) {
  const node = svg('text', { x: x.toFixed(1), y: y.toFixed(1), class: 'axis', 'text-anchor': anchor });
  node.append(text);
  return node;
}

// bars draws one bar per item. With more items than pixels, each pixel shows
// the best of its items.
function bars(side) {
  const { scale } = side.plot;
  const shapes = page.kinds.map(() => []);
  const base = scale.y(Math.max(0, scale.low));
  for (const [place, { candidate, score }] of barItems(side, scale)) {
    const gap = scale.step >= 4 ? 1 : 0;
    const x = PLOT_LEFT + place * Math.max(1, scale.step);
    const y = scale.y(score);
    const width = Math.max(1, scale.step - gap).toFixed(2);
    shapes[kindOfCandidate(side, candidate).index].push(`M${x.toFixed(2)} ${y.toFixed(2)}h${width}V${base.toFixed(2)}h-${width}z`);
  }
  return page.kinds.flatMap((kind, i) => (shapes[i].length === 0 ? [] : [
    svg('path', { class: `block k${kind.slot}`, d: shapes[i].join('') }),
    ...(kind.slot >= 8 ? [svg('path', { class: 'hatched', d: shapes[i].join('') })] : []),
  ]));
}

function barItems(side, { step }) {
  const best = new Map();
  side.stop.window.forEach((candidate, position) => {
    const score = side.selection.scores[candidate];
    if (score === null) return;
    const pixel = step >= 1 ? position : Math.floor(position * step);
    if (!(best.get(pixel)?.score >= score)) best.set(pixel, { candidate, score });
  });
  return best;
}

function slope({ bars: begin, width, y, low }, left) {
  if (left.length === 0) return [];
  const from = PLOT_LEFT + begin + 12;
  const room = width - begin - 12;
  const points = Math.min(left.length, Math.ceil(room));
  let d = `M${from} ${y(Math.max(0, low)).toFixed(1)}`;
  for (let i = 0; i < points; i++) {
    const at = left[Math.floor(i * left.length / points)];
    d += `L${(from + room * i / points).toFixed(1)} ${y(at).toFixed(1)}h${(room / points).toFixed(2)}`;
  }
  return [svg('path', { class: 'slope', d: `${d}V${y(Math.max(0, low)).toFixed(1)}z` })];
}

function plotFeet({ bars: begin, width }, items, left) {
  const y = PLOT_HEIGHT - 5;
  const feet = items === 0 ? [plotText(PLOT_LEFT, y, 'the window is empty', 'start')] : [plotText(PLOT_LEFT, y, '1', 'start')];
  if (items > 1) feet.push(plotText(PLOT_LEFT + begin, y, grouped(items), 'end'));
  if (left > 0) feet.push(plotText(PLOT_LEFT + width, y, `${grouped(left)} left out`, 'end'));
  return feet;
}

function plotLabel({ stop, selection }) {
  const { window } = stop;
  if (window.length === 0) return 'The window is empty.';
  const at = (i) => scoreText(selection.scores[window[i]]);
  return `Scores by position: first ${at(0)}, middle ${at(window.length >> 1)}, last ${at(window.length - 1)}.`;
}

function barAt(event, side) {
  const { drawing, scale } = side.plot;
  if (!scale) return -1;
  const x = event.clientX - drawing.getBoundingClientRect().left - PLOT_LEFT;
  const position = Math.floor(x / scale.step);
  return x >= 0 && position < side.stop.window.length ? position : -1;
}

// The tip follows the pointer, and the keyboard in the map. It only repeats the
// details and the table, so it is hidden from screen readers.

function showTip(event, side, position) {
  if (position < 0) {
    hideTip();
    return;
  }
  fillTip(side, position);
  placeTip(event.clientX, event.clientY + 16);
}

function showTipAt(side, position) {
  const shape = side.map.drawing.querySelector('.active-block');
  if (!shape) return;
  fillTip(side, position);
  const box = shape.getBoundingClientRect();
  placeTip(box.left, box.bottom + 6);
}

function fillTip(side, position) {
  const candidate = side.stop.window[position];
  const item = shownItem(side, candidate);
  const kind = kindOfCandidate(side, candidate);
  byId('tip').replaceChildren(
    el('p', {}, kindChip(kind), ' ', data(kind.name, 40), el('span', { class: 'soft' },
      ` ${grouped(position + 1)} of ${grouped(side.stop.window.length)} · ${counted(item.tokens, 'token')}${formNote(side, candidate)} · score ${scoreText(side.selection.scores[candidate])}`)),
    el('p', { class: 'tip-line' }, lineOf(item, 90)));
}

function placeTip(x, y) {
  const tip = byId('tip');
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(x, innerWidth - width - 8))}px`;
  tip.style.top = `${y + height > innerHeight ? y - height - 34 : y}px`;
}

function hideTip() {
  byId('tip').hidden = true;
}
