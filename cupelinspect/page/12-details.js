'use strict';

// The details of one candidate, in a dialog. Escape closes it and restores the
// focus; the arrow keys move to the next row of the table.

const MEMBERS_SHOWN = 20;

function buildDetails() {
  const dialog = byId('details');
  page.details = { dialog, row: -1 };
  dialog.addEventListener('keydown', (event) => {
    if (event.target.closest('pre, .metadata')) return; // where the arrow keys scroll
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by) stepDetails(by);
  });
  // A press on the backdrop closes the dialog; selecting text past its edge
  // does not.
  let pressed = null;
  dialog.addEventListener('pointerdown', (event) => { pressed = event.target; });
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog && pressed === dialog) dialog.close();
  });
}

function openDetails(r) {
  hideTip();
  const { dialog } = page.details;
  page.details.row = r;
  const at = page.table.shown.indexOf(r);
  if (at >= 0) moveActive(at);
  drawDetails();
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
}

function stepDetails(by) {
  const { shown } = page.table;
  const at = shown.indexOf(page.details.row) + by;
  if (at >= 0 && at < shown.length) openDetails(shown[at]);
}

function drawDetails() {
  const row = page.rows[page.details.row];
  const item = page.items[row.item];
  const kind = page.kinds[page.kindOf[row.item]];
  const { shown } = page.table;
  const at = shown.indexOf(row.index);
  const step = (name, by, disabled) => button(name, { class: 'quiet', disabled, 'data-step': `${by}` }, () => stepDetails(by));
  const hadFocus = page.details.dialog.contains(document.activeElement);
  const held = document.activeElement?.dataset?.step;
  page.details.dialog.replaceChildren(el('div', { class: 'drawer-body' },
    el('div', { class: 'drawer-head' },
      step('Previous', -1, at <= 0), step('Next', 1, at < 0 || at === shown.length - 1),
      el('span', { class: 'soft' }, at < 0 ? '' : `${grouped(at + 1)} of ${grouped(shown.length)}`),
      button('Close', { class: 'close' }, () => page.details.dialog.close())),
    // The focus does not start on a button: the Enter that opens the dialog
    // would press it.
    el('h2', { id: 'details-title', tabindex: '-1', autofocus: true }, kindChip(kind), ' ', data(item.kind, 60), el('span', { class: 'soft' }, ` ${counted(item.tokens, 'token')}`)),
    ...page.sides.map((side) => verdictOf(row, side)),
    el('h3', {}, 'Content ', item.content === '' ? null : copyButton(item.content)), contentOf(item),
    el('h3', {}, 'Item'), factsOf(row, item), ...(item.group ? [el('h3', {}, 'In or out with'), membersOf(row, item.group)] : []), ...metadataOf(item)));
  // The focused element is gone; without focus the arrow keys would not work.
  if (hadFocus) (page.details.dialog.querySelector(`[data-step="${held}"]:enabled`) ?? byId('details-title')).focus();
}

// copyButton copies a text unchanged, with its invisible characters. Copying
// from the page by hand would copy their badges. The clipboard API asks for
// permission; the copy event does not.
function copyButton(text) {
  const said = el('span', { role: 'status', class: 'soft' });
  const put = (event) => {
    event.preventDefault();
    event.stopImmediatePropagation();
    event.clipboardData.setData('text/plain', text);
  };
  const press = button('Copy', { class: 'quiet', title: 'Copy the content unchanged, including invisible characters' }, () => {
    addEventListener('copy', put, { capture: true, once: true });
    said.textContent = document.execCommand('copy') ? ' Copied.' : ' The browser refused to copy.';
    removeEventListener('copy', put, { capture: true });
  });
  return el('span', { class: 'copy' }, press, said);
}

// verdictOf shows the decision on the candidate in a side.
function verdictOf(row, side) {
  const candidate = row.at[side.index];
  const box = el('section', { class: 'verdict', 'aria-label': side.alone ? 'Verdict' : `Verdict of ${side.letter}` });
  if (candidate < 0) {
    box.append(el('p', {}, sideBadge(side), ' Not among the candidates.'));
    return box;
  }
  const { selection, stop } = side;
  const place = side.place[candidate];
  const score = selection.scores[candidate];
  box.append(el('p', { class: place > 0 ? 'verdict-in' : 'verdict-out' }, sideBadge(side),
    el('strong', {}, place > 0 ? `${grouped(place)} of ${grouped(stop.window.length)} in the prompt` : 'Left out'),
    stop.actual ? '' : ` with a budget of ${grouped(stop.budget)}`));
  box.append(el('p', { class: 'why' }, data(whyOf(side, candidate), 2000)));
  const survivor = selection.survivor?.[candidate];
  if (survivor !== undefined) box.append(button(side.stale.has(candidate) ? 'Show the newest version' : 'Show the copy that was kept', { class: 'quiet' }, () => openDetails(side.rowOf[survivor])));
  if (side.form[candidate] > 0) box.append(...formOf(side, candidate));
  box.append(el('dl', { class: 'facts' }, ...fact(itemOfCandidate(side, candidate).group ? 'Score of the group' : 'Score', exact(score)),
    ...fact('Rank', side.rank[candidate] > 0 ? `${grouped(side.rank[candidate])} of ${grouped(side.n)}` : 'none')));
  if (selection.parts.length > 0 && score !== null) box.append(partsOf(selection, candidate));
  return box;
}

// formOf shows the smaller form that is in the window.
function formOf(side, candidate) {
  const item = shownItem(side, candidate);
  const full = itemOfCandidate(side, candidate);
  const whole = side.selection.full?.[candidate] ?? full.tokens; // of a report, the item is the form
  const size = whole === item.tokens ? counted(item.tokens, 'token') : `${grouped(item.tokens)} of ${counted(whole, 'token')}`;
  return [el('p', {}, el('span', { class: 'tag form' }, `form ${side.form[candidate]}`), ` ${size} in the window:`),
    ...(item === full ? [] : [contentOf(item)])];
}

// membersOf lists the other candidates of a group, which are in or out with this
// one.
function membersOf(row, group) {
  const side = page.sides.find(({ index }) => row.at[index] >= 0);
  const others = page.rows.filter((other) => other !== row && page.items[other.item].group === group && other.at[side.index] >= 0);
  const shown = others.slice(0, MEMBERS_SHOWN);
  return el('ul', { class: 'members' }, ...shown.map((other) => el('li', {}, changeButton(side, other.at[side.index], side.place[other.at[side.index]] > 0 ? '+' : '−'))),
    ...(others.length > shown.length ? [el('li', { class: 'soft' }, `and ${counted(others.length - shown.length, 'more item')}`)] : []));
}

function fact(name, value) {
  return [el('dt', {}, name), el('dd', {}, value)];
}

// partsOf shows how the parts of a composite add up to its score.
function partsOf(selection, candidate) {
  const weights = selection.parts.reduce((sum, part) => sum + part.weight, 0);
  const body = el('tbody', {});
  for (const part of selection.parts) {
    const score = part.scores[candidate];
    const share = el('span', { class: 'share' });
    share.style.width = `${Math.min(100, Math.max(0, 100 * (score ?? 0) * part.weight / weights))}%`;
    body.append(el('tr', {}, el('th', { scope: 'row' }, data(part.name, 60)), el('td', { class: 'number' }, exact(part.weight)), el('td', { class: 'number' }, exact(score)),
      el('td', {}, el('span', { class: 'share-box' }, share))));
  }
  return el('table', { class: 'plain parts' }, el('caption', { class: 'unseen' }, 'Parts of the score'),
    el('thead', {}, el('tr', {}, ...['Part', 'Weight', 'Score', 'Share'].map((name, i) => el('th', { scope: 'col', class: i === 1 || i === 2 ? 'number' : null }, name)))), body);
}

function factsOf(row, item) {
  const facts = [
    ...fact('Source', data(item.source, 200)),
    ...tokenFacts(row, item),
    ...fact('Pinned', item.pinned ? 'yes' : 'no'),
  ];
  if (item.priority !== undefined) facts.push(...fact('Priority', grouped(item.priority)));
  if (item.hint !== undefined) facts.push(...fact('Relevance hint', exact(item.hint)));
  if (item.timestamp) facts.push(...fact('Timestamp', data(item.timestamp, 80)));
  if (item.versionOf) facts.push(...fact('Version of', data(item.versionOf, 200)));
  if (item.group) facts.push(...fact('Group', data(item.group, 200)));
  if (item.tags?.length) facts.push(...fact('Tags', el('span', {}, ...item.tags.map((tag) => el('span', { class: 'tag' }, data(tag, 60))))));
  for (const side of page.sides) {
    if (row.at[side.index] >= 0) facts.push(...fact(side.alone ? 'Candidate' : `Candidate of ${side.letter}`, `${grouped(row.at[side.index] + 1)} of ${grouped(side.n)}`));
  }
  return el('dl', { class: 'facts' }, ...facts);
}

function tokenFacts(row, item) {
  if (!tokensDiffer({ ...page, rows: [row] })) return fact('Tokens', grouped(item.tokens));
  return page.sides.flatMap((side) => fact(`Tokens in ${side.letter}`, grouped(itemOfCandidate(side, row.at[side.index]).tokens)));
}

function metadataOf(item) {
  const entries = Object.entries(item.metadata ?? {});
  if (entries.length === 0) return [];
  return [el('h3', {}, 'Metadata'), el('dl', { class: 'facts metadata' },
    ...entries.flatMap(([key, value]) => fact(data(key, 80), el('div', {}, ...longText(el('bdi', { tabindex: '-1' }), typeof value === 'string' ? value : JSON.stringify(value), 2000)))))];
}
