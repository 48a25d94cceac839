'use strict';

// The run: how often each reason occurs, and the time of each stage.

function buildReasons(side) {
  side.reasons = el('tbody', {});
  return card(side.alone ? 'Reasons' : `${side.letter}: reasons`, `reasons-${side.index}`,
    el('table', { class: 'plain', 'aria-labelledby': `reasons-${side.index}` }, headRow(['Reason', 'State', 'Items', 'Tokens']), side.reasons));
}

function headRow(names) {
  return el('thead', {}, el('tr', {}, ...names.map((name) => el('th', { scope: 'col', class: ['Items', 'Tokens', 'In', 'Out', 'Time'].includes(name) ? 'number' : null }, name))));
}

function drawReasons(side) {
  const counts = side.counts.filter((count) => count.items > 0);
  const rows = counts.map(({ code, name, items, tokens, in: taken }) => {
    const press = button('', { class: 'link', title: 'Show these candidates' }, () => filterByState(`code:${side.index}:${code}`));
    press.append(data(name || 'unknown', 80));
    const cells = [el('th', { scope: 'row' }, press), el('td', {}, el('span', { class: taken > 0 ? 'state in' : 'state' }, taken > 0 ? 'in' : 'out')),
      el('td', { class: 'number' }, grouped(items)), el('td', { class: 'number' }, grouped(tokens))];
    return el('tr', {}, ...cells);
  });
  side.reasons.replaceChildren(...rows);
  if (rows.length === 0) side.reasons.append(el('tr', {}, el('td', { colspan: '4', class: 'soft' }, 'There were no candidates.')));
}

// buildStages draws the start and duration of each stage to scale. Times are
// always those of the run, not of the current budget.
function buildStages(side) {
  const { stages, total } = side.selection;
  const title = side.alone ? 'Stages' : `${side.letter}: stages`;
  if (stages.length === 0) return card(title, `stages-${side.index}`, emptyState('The times of this run are unknown.'));
  const whole = Math.max(1, total, ...stages.map((stage) => stage.start + stage.duration));
  const rows = stages.map((stage) => el('tr', {}, el('th', { scope: 'row' }, data(stage.name, 60)),
    el('td', { class: 'number' }, grouped(stage.in)), el('td', { class: 'number' }, grouped(stage.out)),
    el('td', { class: 'number' }, durationText(stage.duration)), el('td', { class: 'timeline' }, timeBar(stage, whole))));
  rows.push(el('tr', { class: 'total' }, el('th', { scope: 'row' }, 'Run'), el('td', {}), el('td', {}), el('td', { class: 'number' }, durationText(total)), el('td', {})));
  return card(title, `stages-${side.index}`, el('table', { class: 'plain stages', 'aria-labelledby': `stages-${side.index}` }, headRow(['Stage', 'In', 'Out', 'Time', 'When']), el('tbody', {}, ...rows)));
}

function timeBar(stage, whole) {
  const bar = el('span', { class: 'time-bar' });
  bar.style.marginInlineStart = `${100 * stage.start / whole}%`;
  bar.style.width = `${100 * stage.duration / whole}%`;
  return bar;
}
