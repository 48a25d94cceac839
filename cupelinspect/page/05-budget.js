'use strict';

// The budget slider. Its positions are the computed budgets, so it shows only
// results of actual runs.

function buildBudget() {
  const box = byId('budget');
  for (const side of page.sides) box.append(budgetOf(side));
  if (page.sides.length === 2 && page.sides.every((side) => side.stops.length > 1)) {
    box.append(el('label', { class: 'together' }, el('input', { type: 'checkbox', id: 'together', checked: true, autocomplete: 'off' }), ' Move both'));
  }
}

function budgetOf(side) {
  const { stops } = side;
  const id = `slider-${side.index}`;
  const of = side.alone ? '' : ` of ${side.letter}`;
  const slider = el('input', { type: 'range', id, min: '0', max: `${stops.length - 1}`, step: '1', autocomplete: 'off', disabled: stops.length < 2 });
  const field = el('input', {
    type: 'number', class: 'budget-field', min: `${stops[0].budget}`, max: `${stops.at(-1).budget}`, 'aria-label': `Budget${of} in tokens`,
    inputmode: 'numeric', autocomplete: 'off', 'aria-describedby': `budget-summary-${side.index}`, disabled: stops.length < 2,
  });
  side.budget = {
    slider, field, chart: el('div', { class: 'sweep' }), here: svg('path', { class: 'sweep-here' }), xOf: null,
    // Not a live region: screen readers read the slider's own text at each
    // step.
    summary: el('p', { class: 'summary', id: `budget-summary-${side.index}` }),
    reset: button('Back to the run', { class: 'quiet' }, () => {
      slider.focus(); // the button is disabled now and would lose the focus
      goTo(side, side.actual);
    }),
  };
  slider.addEventListener('input', () => goTo(side, slider.valueAsNumber));
  field.addEventListener('change', () => goTo(side, Number.isNaN(field.valueAsNumber) ? side.at : nearestStop(side, field.valueAsNumber)));
  field.addEventListener('keydown', (event) => stepField(event, side));
  onWidth(side.budget.chart, (width) => drawSweep(side, width));
  return el('div', { class: 'budget-side' },
    el('label', { for: id, class: 'budget-label' }, sideBadge(side), 'Budget'),
    el('div', { class: 'slider-box' }, side.budget.chart, slider),
    field, side.budget.reset, side.budget.summary);
}

// The arrow keys of the field move from stop to stop, like the slider's.
function stepField(event, side) {
  const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  goTo(side, Math.min(side.stops.length - 1, Math.max(0, side.at + step)));
}

// goTo changes the budget, and that of the other side if they are linked.
function goTo(side, at) {
  const moved = [moveTo(side, at)];
  const other = page.sides[1 - side.index];
  if (other && byId('together')?.checked) {
    moved.push(moveTo(other, side.stop.actual ? other.actual : nearestStop(other, side.stop.budget)));
  }
  if (moved.some(Boolean)) redraw();
  else drawBudget(side); // the field may hold a number that is not a stop
}

function drawBudget(side) {
  const { slider, field, summary, reset } = side.budget;
  const { stop } = side;
  slider.value = `${side.at}`;
  slider.setAttribute('aria-valuetext', `${counted(stop.budget, 'token')}: ${summaryOf(side)}`);
  field.value = `${stop.budget}`;
  summary.textContent = summaryOf(side);
  reset.disabled = stop.actual;
  markHere(side);
}

function summaryOf(side) {
  const { stop } = side;
  if (side.stops.length < 2) return 'No other budgets were computed.';
  if (stop.error !== '') return 'the run fails';
  const window = `${counted(stop.window.length, 'item')}, ${counted(stop.tokens, 'token')}`;
  if (stop.actual) return `${window}: the run itself`;
  const reshaped = page.hasForms ? `, ${grouped(side.reshaped.length)} in another form` : '';
  return `${window}: ${grouped(side.came.length)} came, ${grouped(side.went.length)} went${reshaped}`;
}

const SWEEP_HEIGHT = 26;
const THUMB = 16; // as in the style sheet: a slider's ends are half a thumb inside its box

// drawSweep draws the tokens used at every stop above the slider, to show which
// budgets make a difference.
function drawSweep(side, boxWidth) {
  const width = boxWidth - THUMB;
  if (side.stops.length < 2 || width <= 0) return;
  const height = SWEEP_HEIGHT;
  const top = Math.max(1, ...side.stops.map((stop) => Math.max(stop.tokens, stop.budget)));
  const x = (i) => THUMB / 2 + width * i / (side.stops.length - 1);
  const y = (tokens) => height - (height - 2) * Math.max(0, tokens) / top;
  const line = (value) => side.stops.map((stop, i) => `${i ? 'L' : 'M'}${x(i).toFixed(1)} ${y(value(stop)).toFixed(1)}`).join('');
  const used = line((stop) => stop.tokens);
  side.budget.xOf = x;
  side.budget.chart.replaceChildren(svg('svg', { width: boxWidth, height, 'aria-hidden': 'true' },
    svg('path', { class: 'sweep-area', d: `${used}L${x(side.stops.length - 1)} ${height}L${x(0)} ${height}Z` }),
    svg('path', { class: 'sweep-ceiling', d: line((stop) => stop.budget) }),
    svg('path', { class: 'sweep-line', d: used }),
    svg('path', { class: 'sweep-actual', d: `M${x(side.actual)} 0V${height}` }),
    side.budget.here));
  markHere(side);
}

// markHere moves the line above the slider's thumb.
function markHere({ at, budget }) {
  if (budget.xOf) budget.here.setAttribute('d', `M${budget.xOf(at)} 0V${SWEEP_HEIGHT}`);
}

const CHANGES_SHOWN = 8;

// drawChanges lists the items that came and went compared with the run.
function drawChanges() {
  const box = byId('changes');
  box.hidden = page.sides.every((side) => side.stop.actual);
  box.replaceChildren(...page.sides.map((side) => card(
    `${side.alone ? '' : `${side.letter}: `}${counted(side.stop.budget, 'token')} instead of ${grouped(side.stops[side.actual].budget)}`, `changes-${side.index}`,
    changeList(side, 'Came', '+', side.came, `came:${side.index}`),
    changeList(side, 'Went', '−', side.went, `went:${side.index}`),
    page.hasForms ? changeList(side, 'In another form', '±', side.reshaped, `reshaped:${side.index}`) : null)));
}

function changeList(side, name, mark, candidates, filter) {
  const best = candidates.toSorted((a, b) => (side.rank[a] || Infinity) - (side.rank[b] || Infinity)).slice(0, CHANGES_SHOWN);
  const tokens = candidates.reduce((sum, candidate) => sum + shownTokens(side, candidate), 0);
  const list = el('ul', {}, ...best.map((candidate) => el('li', {}, changeButton(side, candidate, mark))));
  const box = el('div', { class: 'change' }, el('h4', {}, `${name}: ${counted(candidates.length, 'item')}, ${counted(tokens, 'token')}`), list);
  if (candidates.length > best.length) {
    box.append(button(`All ${grouped(candidates.length)} in the table`, { class: 'quiet' }, () => filterByState(filter)));
  }
  return box;
}

function changeButton(side, candidate, mark) {
  const item = shownItem(side, candidate);
  const node = button('', { class: 'line' }, () => openDetails(side.rowOf[candidate]));
  node.append(el('span', { class: 'mark-sign' }, mark), kindChip(kindOfCandidate(side, candidate)),
    el('span', { class: 'number' }, grouped(item.tokens)), el('span', { class: 'number' }, scoreText(side.selection.scores[candidate])),
    lineOf(item));
  return node;
}

// missingText says why an item has no visible line.
function missingText(item) {
  if (item.unmade) return 'a function makes this form when it is chosen';
  return item.cut > 0 ? 'not in this file' : 'white space';
}

// lineOf returns one line that identifies an item.
function lineOf(item, limit = 120) {
  const line = firstLine(item.content);
  if (line !== '') return el('span', { class: 'line-text' }, data(line, limit));
  return el('span', { class: 'line-text' }, el('em', { class: 'soft' }, missingText(item)));
}
