'use strict';

// The window as it will be sent: contents in prompt order, one page at a time.

const TEXTS_SHOWN = 40;
const TEXT_CUT = 1200;

function buildText(side) {
  const list = el('ol', { class: 'texts' });
  const pager = el('div', { class: 'pager' });
  side.text = { list, pager, from: 0, card: card('As it will be sent', `text-title-${side.index}`, pager, list) };
  return side.text.card;
}

function drawText(side) {
  const { text, stop } = side;
  if (text.from >= stop.window.length) text.from = 0;
  const shown = stop.window.slice(text.from, text.from + TEXTS_SHOWN);
  text.list.start = text.from + 1;
  update(text.list, shown.length > 0 ? shown.map((candidate, i) => textOf(side, candidate, text.from + i)) : [el('li', {}, emptyState('The window is empty at this budget.'))]);
  drawPager(side);
}

function textOf(side, candidate, position) {
  const item = shownItem(side, candidate);
  const kind = kindOfCandidate(side, candidate);
  const head = button('', { class: 'line', title: 'Details' }, () => openDetails(side.rowOf[candidate]));
  head.append(el('span', { class: 'number soft' }, `${grouped(position + 1)}`), kindChip(kind), data(kind.name, 40),
    el('span', { class: 'soft' }, `${counted(item.tokens, 'token')}, ${item.pinned ? 'pinned' : `score ${scoreText(side.selection.scores[candidate])}`}`));
  head.append(...unitBadges(side, candidate));
  if (!side.alone && isOnlyHere(page.rows[side.rowOf[candidate]], side)) head.append(el('span', { class: `only side-${side.index}` }, `only in ${side.letter}`));
  return el('li', { class: `text k${kind.slot}`, 'data-position': `${position}`, 'data-row': `${side.rowOf[candidate]}` }, head, contentOf(item, { limit: TEXT_CUT, scrolls: false }));
}

function drawPager(side) {
  const { text, stop } = side;
  const n = stop.window.length;
  if (n <= TEXTS_SHOWN) {
    text.pager.replaceChildren();
    return;
  }
  const to = Math.min(n, text.from + TEXTS_SHOWN);
  const turn = (name, by, disabled) => button(name, { class: 'quiet', disabled, 'data-by': `${by}` }, () => {
    text.from += by;
    drawText(side);
    text.list.scrollTop = 0;
    // The button that was pressed is gone; its place is taken by this one.
    (text.pager.querySelector(`[data-by="${by}"]:enabled`) ?? text.pager.querySelector(':enabled')).focus();
  });
  text.pager.replaceChildren(turn('Earlier', -TEXTS_SHOWN, text.from === 0),
    el('span', { class: 'soft' }, `${grouped(text.from + 1)} to ${grouped(to)} of ${grouped(n)}`), turn('Later', TEXTS_SHOWN, to === n));
}

// showTextOf scrolls the text of a position into view within its list, but
// never scrolls the page.
function showTextOf(side, position) {
  const { text } = side;
  if (position < text.from || position >= text.from + TEXTS_SHOWN) {
    text.from = Math.floor(position / TEXTS_SHOWN) * TEXTS_SHOWN;
    drawText(side);
  }
  const entry = text.list.querySelector(`[data-position="${position}"]`);
  if (entry) text.list.scrollTo({ top: entry.offsetTop - text.list.offsetTop, behavior: calm.matches ? 'auto' : 'smooth' });
}
