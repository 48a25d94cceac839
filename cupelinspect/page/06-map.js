'use strict';

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

function buildMap(side) {
  const id = `map-${side.index}`;
  const drawing = svg('svg', { class: 'map-drawing', role: 'presentation' });
  const box = el('div', {
    class: 'map', id, role: 'listbox', tabindex: '0', 'aria-orientation': 'horizontal',
    'aria-label': `Items of the window${side.alone ? '' : ` of ${side.letter}`} in prompt order, drawn to scale`,
  }, drawing);
  side.map = { box, drawing, width: 0, note: el('p', { class: 'soft note' }), blocks: [], active: 0, layout: null };
  box.addEventListener('keydown', (event) => mapKey(event, side));
  box.addEventListener('pointermove', (event) => showTip(event, side, blockAt(event, side)));
  box.addEventListener('pointerleave', hideTip);
  box.addEventListener('click', (event) => {
    const position = blockAt(event, side);
    if (position >= 0) openDetails(side.rowOf[side.stop.window[position]]);
  });
  box.addEventListener('focus', () => drawActive(side));
  box.addEventListener('blur', () => {
    hideTip();
    drawActive(side);
  });
  onWidth(box, (width) => {
    side.map.width = width;
    drawMap(side);
  });
  return card('Window, to scale', `map-title-${side.index}`, side.map.note, box);
}

// tokensPerRow returns a round number that spreads the larger of the actual
// windows over a few rows: enough to see small items, and few enough that a
// short prompt looks short. The largest budget of a sweep takes more rows, up
// to a limit.
function tokensPerRow() {
  if (page.perRow) return page.perRow;
  let tokens = 1;
  let items = 1;
  let most = 1;
  for (const side of page.sides) {
    const actual = side.stops[side.actual];
    tokens = Math.max(tokens, actual.tokens, (actual.pinned ?? side.pinnedTokens) + actual.effective);
    items = Math.max(items, actual.window.length);
    for (const stop of side.stops) most = Math.max(most, stop.tokens, (stop.pinned ?? side.pinnedTokens) + stop.effective);
  }
  const rows = Math.min(14, Math.max(4, Math.round(1.6 * Math.sqrt(items))));
  page.perRow = roundUp(Math.max(tokens / rows, most / MOST_ROWS));
  return page.perRow;
}

function roundUp(n) {
  const unit = 10 ** Math.floor(Math.log10(Math.max(1, n)));
  return Math.ceil([1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((step) => step * unit >= n) * unit);
}

// mapLayout returns the positions of tokens.
function mapLayout(side) {
  const perRow = tokensPerRow();
  const width = Math.max(40, side.map.width - GUTTER);
  const shown = Math.max(side.stop.tokens, spendableOf(side), 1);
  return { perRow, width, rows: Math.ceil(shown / perRow), perToken: width / perRow };
}

// eachRect yields the rectangles of a range of tokens, one in each row.
function eachRect(layout, from, to, visit) {
  for (let row = Math.floor(from / layout.perRow); from < to && row < layout.rows; row++) {
    const end = Math.min(to, (row + 1) * layout.perRow);
    visit(GUTTER + (from - row * layout.perRow) * layout.perToken, row * ROW_STEP, (end - from) * layout.perToken);
    from = end;
  }
}

// rectPath leaves a gap before the next block, unless the gap would hide the
// block.
function rectPath(x, y, width) {
  const drawn = (width >= 4 ? width - 1 : width).toFixed(2);
  return `M${x.toFixed(2)} ${y}h${drawn}v${ROW_HEIGHT}h-${drawn}z`;
}

function drawMap(side) {
  const { map, stop } = side;
  if (map.width === 0) return; // drawn once it has a width
  map.layout = mapLayout(side);
  map.active = Math.max(0, Math.min(map.active, stop.window.length - 1));
  map.blocks = blocksOf(side);
  const { rows, width, perRow } = map.layout;
  const height = Math.max(1, rows) * ROW_STEP;
  setAttributes(map.drawing, { width: GUTTER + width, height, viewBox: `0 0 ${GUTTER + width} ${height}` });
  map.drawing.replaceChildren(...hatching(side), ...rowLabels(map.layout), ...blockPaths(side), ...freePath(side), ...markPaths(side));
  map.note.textContent = mapNote(side, perRow);
  drawActive(side);
}

function mapNote(side, perRow) {
  const { window, tokens, actual } = side.stop;
  if (window.length === 0) return 'The window is empty.';
  const notes = [`A row is ${counted(perRow, 'token')}. ${counted(window.length, 'item')}, ${counted(tokens, 'token')}, in prompt order.`];
  if (!side.alone) notes.push(`Underlined: in ${side.letter} alone.`);
  if (!actual) notes.push('A line above marks items that came with this budget.');
  return notes.join(' ');
}

// blocksOf returns where each item of the window begins and ends, in tokens.
// Items with zero or negative tokens take no space.
function blocksOf(side) {
  let at = 0;
  return side.stop.window.map((candidate) => {
    const from = at;
    at += Math.max(0, shownTokens(side, candidate));
    return { candidate, from, to: at };
  });
}

// hatching is the pattern shared by both sides.
function hatching(side) {
  if (side.index > 0) return [];
  const pattern = svg('pattern', { id: 'hatch', width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
    svg('rect', { width: 2, height: 6, class: 'hatch' }));
  return [svg('defs', {}, pattern)];
}

function rowLabels({ rows, perRow }) {
  const labels = [];
  for (let row = 0; row < rows; row++) {
    const label = svg('text', { x: GUTTER - 8, y: row * ROW_STEP + 15, class: 'axis', 'text-anchor': 'end' });
    label.append(grouped(row * perRow));
    labels.push(label);
  }
  return labels;
}

function blockPaths(side) {
  const { blocks, layout } = side.map;
  const shapes = page.kinds.map(() => []);
  const points = page.kinds.map(() => []);
  const letters = [];
  for (const { candidate, from, to } of blocks) {
    const kind = kindOfCandidate(side, candidate);
    if (from === to) points[kind.index].push(pointPath(layout, from));
    let lettered = false;
    eachRect(layout, from, to, (x, y, width) => {
      shapes[kind.index].push(rectPath(x, y, width));
      if (!lettered && width >= LETTER_WIDTH) {
        const letter = svg('text', { x: (x + 5).toFixed(1), y: y + 15, class: `letter k${kind.slot}` });
        letter.append(kind.letter);
        letters.push(letter);
        lettered = true;
      }
    });
  }
  const paths = [];
  page.kinds.forEach((kind, i) => {
    if (shapes[i].length > 0) paths.push(svg('path', { class: `block k${kind.slot}`, d: shapes[i].join('') }));
    if (shapes[i].length > 0 && kind.slot >= 8) paths.push(svg('path', { class: 'hatched', d: shapes[i].join('') }));
    if (points[i].length > 0) paths.push(svg('path', { class: `point k${kind.slot}`, d: points[i].join('') }));
  });
  return [...paths, ...letters];
}

// pointPath marks an item without tokens: a small wedge in the gap between two
// rows.
function pointPath({ perRow, perToken, rows }, at) {
  const row = Math.min(rows - 1, Math.floor(at / perRow));
  const x = GUTTER + (at - row * perRow) * perToken;
  return `M${(x - 3).toFixed(1)} ${row * ROW_STEP + ROW_HEIGHT + 4}l3 -4l3 4z`;
}

function freePath(side) {
  const rects = [];
  eachRect(side.map.layout, side.stop.tokens, spendableOf(side), (x, y, width) => rects.push(rectPath(x, y, width)));
  return rects.length === 0 ? [] : [svg('path', { class: 'free-room', d: rects.join('') })];
}

// markPaths draws a line above blocks that came with this budget, and one below
// blocks that only this side has.
function markPaths(side) {
  const { blocks, layout } = side.map;
  const came = new Set(side.came);
  const over = [];
  const under = [];
  for (const { candidate, from, to } of blocks) {
    const isNew = came.has(candidate);
    const isOwn = !side.alone && isOnlyHere(page.rows[side.rowOf[candidate]], side);
    if (!isNew && !isOwn) continue;
    eachRect(layout, from, to, (x, y, width) => {
      const w = (width >= 4 ? width - 1 : width).toFixed(2);
      if (isNew) over.push(`M${x.toFixed(2)} ${y}h${w}v3h-${w}z`);
      if (isOwn) under.push(`M${x.toFixed(2)} ${y + ROW_HEIGHT}h${w}v2.5h-${w}z`);
    });
  }
  return [
    ...(over.length > 0 ? [svg('path', { class: 'came', d: over.join('') })] : []),
    ...(under.length > 0 ? [svg('path', { class: `own side-${side.index}`, d: under.join('') })] : []),
  ];
}

// drawActive outlines the current item and makes it the option that a screen
// reader reads.
function drawActive(side) {
  const { map, stop } = side;
  map.drawing.querySelector('.active-block')?.remove();
  map.box.removeAttribute('aria-activedescendant');
  const block = map.blocks[map.active];
  if (!block || document.activeElement !== map.box) return;
  const id = `map-option-${side.index}`;
  const option = svg('g', {
    id, role: 'option', class: 'active-block', 'aria-selected': 'true', 'aria-posinset': map.active + 1, 'aria-setsize': stop.window.length,
    'aria-label': itemLabel(side, block.candidate),
  });
  eachRect(map.layout, block.from, block.to, (x, y, width) => {
    option.append(svg('rect', { x: x - 1, y: y - 1, width: Math.max(3, width + 1), height: ROW_HEIGHT + 2, rx: 2 }));
  });
  if (block.from === block.to) option.append(svg('path', { d: pointPath(map.layout, block.from) }));
  map.drawing.append(option);
  map.box.setAttribute('aria-activedescendant', id);
}

function itemLabel(side, candidate) {
  const item = shownItem(side, candidate);
  return `${plain(item.kind, 40)}, ${counted(item.tokens, 'token')}${formNote(side, candidate)}, score ${scoreText(side.selection.scores[candidate])}: ${plain(firstLine(item.content), 80)}`;
}

function mapKey(event, side) {
  const { map, stop } = side;
  const last = stop.window.length - 1;
  const to = {
    ArrowRight: map.active + 1, ArrowLeft: map.active - 1, Home: 0, End: last,
    ArrowDown: neighbourRow(side, 1), ArrowUp: neighbourRow(side, -1),
  }[event.key];
  if (event.key === 'Escape') hideTip();
  if (event.key === 'Enter' && last >= 0) {
    event.preventDefault();
    openDetails(side.rowOf[stop.window[map.active]]);
  }
  if (to === undefined || last < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  map.active = Math.min(last, Math.max(0, to));
  drawActive(side);
  showTextOf(side, map.active);
  showTipAt(side, map.active);
}

// neighbourRow returns the item one row below or above the middle of this one.
function neighbourRow(side, by) {
  const { map } = side;
  const block = map.blocks[map.active];
  if (!block) return 0;
  const wanted = (block.from + block.to) / 2 + by * map.layout.perRow;
  if (wanted < 0) return 0;
  const found = blockHolding(map.blocks, wanted);
  return found < 0 ? map.blocks.length - 1 : found;
}

// blockHolding finds the item that holds a token by binary search.
function blockHolding(blocks, token) {
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

function blockAt(event, side) {
  const { drawing, layout, blocks } = side.map;
  if (!layout) return -1;
  const box = drawing.getBoundingClientRect();
  const x = event.clientX - box.left - GUTTER;
  const y = event.clientY - box.top;
  const row = Math.floor(y / ROW_STEP);
  if (x < 0 || x >= layout.width || y < 0 || y - row * ROW_STEP > ROW_HEIGHT) return -1;
  return blockHolding(blocks, row * layout.perRow + x / layout.perToken);
}
