'use strict';

// The top of each side: the strategies, and the budget used by each kind.

function buildOverview(side) {
  const parts = {
    error: el('p', { class: 'banner bad', role: 'alert', hidden: true }),
    notes: el('div', {}),
    figures: el('dl', { class: 'figures' }),
    bar: el('div', { class: 'bar', role: 'img' }),
    legend: el('ul', { class: 'legend' }),
  };
  side.overview = parts;
  const title = `selection-${side.index}`;
  parts.root = el('section', { class: 'card overview', 'aria-labelledby': title },
    el('h2', { id: title }, sideBadge(side), data(side.selection.name || 'Selection')),
    parts.error, parts.notes, policyOf(side.selection), parts.figures, parts.bar, parts.legend);
  appendNotes(parts.notes, side.selection);
  return parts.root;
}

function sideBadge(side) {
  return side.alone ? null : el('span', { class: `side-badge side-${side.index}` }, side.letter);
}

function policyOf({ scorer, slicer, placer, deduplicate, overflow, session }) {
  const list = el('dl', { class: 'policy' });
  const add = (name, value) => { if (value) list.append(el('div', {}, el('dt', {}, name), el('dd', {}, data(value)))); };
  add('Scorer', scorer);
  add('Slicer', slicer);
  add('Placer', placer);
  if (scorer || slicer || placer) add('Duplicates', deduplicate ? 'left out' : 'kept');
  add('Overflow', overflow);
  add('Session', session);
  return list;
}

function appendNotes(box, { shortfalls, overflowed }) {
  for (const note of [overflowed, ...(shortfalls ?? [])]) {
    if (note) box.append(el('p', { class: 'banner warn' }, data(note)));
  }
}

function drawOverview(side) {
  const { figures, bar, legend } = side.overview;
  drawError(side);
  const shares = sharesOf(side);
  drawFigures(figures, side, shares);
  drawBar(bar, side, shares);
  drawLegend(legend, side, shares);
}

// drawError does not rewrite an unchanged alert: screen readers would read it
// again.
function drawError(side) {
  const { error } = side.overview;
  const { actual, error: text } = side.stop;
  error.hidden = text === '';
  const node = el('span', {}, el('strong', {}, actual ? 'The run failed. ' : 'At this budget the run fails. '), data(text, 2000));
  if (text === '') error.replaceChildren();
  else if (error.textContent !== node.textContent) error.replaceChildren(node);
}

// sharesOf splits the budget into the tokens each kind uses and the rest. A
// failed or overflowing run can use more than the budget; the bar is then
// scaled to the sum of the parts.
function sharesOf(side) {
  const { stop, selection } = side;
  const { budget } = selection;
  const kinds = page.kinds.map((kind) => ({ kind, items: 0, tokens: 0, of: 0, ofTokens: 0 }));
  for (let i = 0; i < side.n; i++) {
    const share = kinds[page.kindOf[selection.candidates[i]]];
    const { tokens } = itemOfCandidate(side, i);
    share.of++;
    share.ofTokens += tokens;
    if (side.place[i] > 0) {
      share.items++;
      share.tokens += shownTokens(side, i);
    }
  }
  const reserve = Math.min(budget.outputReserve, stop.budget);
  const spendable = spendableOf(side);
  const rest = Math.max(0, stop.budget - reserve - stop.tokens);
  const free = Math.min(rest, Math.max(0, spendable - stop.tokens));
  const shown = largestKinds(side, kinds);
  const others = kinds.reduce((sum, share) => sum + (shown.includes(share) ? 0 : share.tokens), 0);
  return { kinds, shown, others, reserve, spendable, free, beyond: rest - free, total: Math.max(stop.budget, stop.tokens + reserve) };
}

const LEGEND_KINDS = 16;

// largestKinds are the kinds that bar and legend name. They are the largest of
// the run at every budget, so that nothing moves with the slider.
function largestKinds(side, shares) {
  const present = shares.filter((share) => share.of > 0);
  if (present.length <= LEGEND_KINDS) return present;
  const inRun = new Float64Array(shares.length);
  for (const candidate of side.stops[side.actual].window) inRun[kindOfCandidate(side, candidate).index] += itemOfCandidate(side, candidate).tokens;
  const size = ({ kind }) => inRun[kind.index];
  const largest = new Set(present.toSorted((a, b) => size(b) - size(a) || b.ofTokens - a.ofTokens).slice(0, LEGEND_KINDS));
  return present.filter((share) => largest.has(share));
}

// spendableOf returns the tokens of the pinned items plus the effective budget,
// which does not include them: the largest window the slicer aims for.
function spendableOf({ stop, pinnedTokens }) {
  return (stop.pinned ?? pinnedTokens) + stop.effective;
}

function drawFigures(list, side, shares) {
  const { stop, selection } = side;
  const figure = (value, name, note) => el('div', {}, el('dt', {}, name), el('dd', {}, el('strong', {}, value), ' ', el('span', { class: 'soft' }, note)));
  const all = shares.kinds.reduce((sum, share) => sum + share.ofTokens, 0);
  const { budget } = selection;
  list.replaceChildren(
    figure(grouped(stop.tokens), 'Tokens in the window', `${percent(stop.tokens, shares.spendable)} of ${grouped(shares.spendable)} available`),
    figure(grouped(stop.window.length), 'Items in the window', `of ${counted(side.n, 'candidate')}, ${counted(all, 'token')}`),
    figure(grouped(stop.budget), 'Budget', budgetNote(budget, stop)),
    figure(durationText(selection.total), 'Run', stop.actual ? stagesNote(selection) : 'at the budget of the run'));
}

function budgetNote(budget, stop) {
  const notes = [`target ${grouped(stop.target)}`];
  if (budget.outputReserve > 0) notes.push(`answer ${grouped(budget.outputReserve)}`);
  if (budget.margin > 0) notes.push(`margin ${budget.margin}%`);
  for (const [kind, tokens] of Object.entries(budget.reservedSlots ?? {})) notes.push(`${plain(kind, 40)} keeps ${grouped(tokens)}`);
  return notes.join(', ');
}

function stagesNote({ stages }) {
  if (stages.length === 0) return '';
  const longest = stages.reduce((a, b) => (b.duration > a.duration ? b : a));
  return `longest: ${plain(longest.name, 40)}`;
}

function drawBar(bar, side, shares) {
  const piece = (tokens, className, letter) => {
    if (tokens <= 0) return null;
    const node = el('span', { class: className }, tokens / shares.total > 0.025 ? letter : '');
    node.style.width = `${100 * tokens / shares.total}%`;
    return node;
  };
  const used = shares.shown.filter((share) => share.tokens > 0);
  bar.replaceChildren(...[
    ...used.map((share) => piece(share.tokens, `piece k${share.kind.slot}`, share.kind.letter)),
    piece(shares.others, 'piece others', ''),
    piece(shares.free, 'piece free', ''),
    piece(shares.beyond, 'piece beyond', ''),
    piece(shares.reserve, 'piece reserve', ''),
  ].filter(Boolean));
  bar.setAttribute('aria-label', `Of ${counted(side.stop.budget, 'token')}: `
    + used.map((share) => `${plain(share.kind.name, 40)} ${grouped(share.tokens)}`).join(', ')
    + (shares.others > 0 ? `, other kinds ${grouped(shares.others)}` : '')
    + `; free ${grouped(shares.free)}; ${heldBackBy(side).toLowerCase()} ${grouped(shares.beyond)}; for the answer ${grouped(shares.reserve)}.`);
}

// heldBackBy names the settings that keep the slicer from the rest of the
// budget.
function heldBackBy({ stop, selection: { budget } }) {
  const reasons = [
    ...(stop.target < stop.budget - budget.outputReserve ? ['target'] : []),
    ...(budget.margin > 0 ? ['margin'] : []),
    ...(Object.keys(budget.reservedSlots ?? {}).length > 0 ? ['slots'] : []),
  ];
  return reasons.length === 0 || reasons.join() === 'target' ? 'Beyond the target' : `Held back: ${reasons.join(', ')}`;
}

// The legend shows the colours and exact numbers, and filters the table.
function drawLegend(list, side, shares) {
  const whole = side.stop.budget;
  const held = document.activeElement?.dataset?.kind;
  const more = shares.kinds.filter((share) => share.of > 0).length - shares.shown.length;
  const line = (sign, name, note, tokens) => [sign, el('span', { class: 'legend-name' }, name), el('span', { class: 'soft' }, note),
    el('span', { class: 'number' }, grouped(tokens)), el('span', { class: 'number soft' }, percent(tokens, whole))];
  const kindLine = ({ kind, items, of, tokens }) => {
    const node = el('button', { type: 'button', 'data-kind': `${kind.index}`, 'aria-pressed': `${filters.kind === kind.index}`, title: `${grouped(items)} of ${counted(of, 'candidate')} in the window; press to show only these` });
    node.append(...line(kindChip(kind), data(kind.name, 40), `${grouped(items)}/${grouped(of)}`, tokens));
    node.addEventListener('click', () => filterByKind(filters.kind === kind.index ? -1 : kind.index));
    return el('li', {}, node);
  };
  const restLine = (className, name, tokens) => el('li', {}, el('div', {}, ...line(el('span', { class: `chip ${className}` }), name, '', tokens)));
  list.replaceChildren(...shares.shown.map(kindLine),
    ...(more > 0 ? [restLine('others', counted(more, 'more kind'), shares.others)] : []),
    restLine('free', 'Free', shares.free),
    ...(shares.beyond > 0 ? [restLine('beyond', heldBackBy(side), shares.beyond)] : []),
    ...(shares.reserve > 0 ? [restLine('reserve', 'For the answer', shares.reserve)] : []));
  // A redraw must keep the focus if it is on one of these buttons.
  if (held !== undefined && !document.activeElement?.dataset?.kind) list.querySelector(`[data-kind="${held}"]`)?.focus();
}
