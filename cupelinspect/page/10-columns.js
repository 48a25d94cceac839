'use strict';

// The columns of the table. value returns the sort key of a column: a number, a
// string, or NaN for none, which sorts last in both directions. first is the
// direction of the first press.

function columnsOf() {
  return [
    ...page.sides.flatMap((side) => placeColumns(side)),
    { id: 'kind', name: 'Kind', width: 142, value: (row) => page.kinds[page.kindOf[row.item]].name, fill: fillKind },
    { id: 'source', name: 'Source', width: 96, minor: true, value: (row) => page.items[row.item].source, fill: (td, row) => td.append(data(page.items[row.item].source, 60)) },
    ...unitColumns(),
    ...tokenColumns(),
    ...page.sides.flatMap((side) => scoreColumns(side)),
    ...page.sides.map((side) => reasonColumn(side)),
    { id: 'line', name: 'First line', width: 300, grows: true, value: (row) => firstLine(page.items[row.item].content), fill: (td, row) => td.append(lineOf(page.items[row.item])) },
  ];
}

function sided(side, name) {
  return side.alone ? name : `${side.letter} ${name}`;
}

// sideValue returns the value of this side's candidate, if the row has one.
function sideValue(side, value) {
  return (row) => (row.at[side.index] < 0 ? NaN : value(row.at[side.index]));
}

// widthOf returns the width of a heading and its arrow.
function widthOf(name, least) {
  return Math.max(least, Math.ceil(40 + 8 * name.length));
}

function placeColumns(side) {
  return [
    {
      id: `place-${side.index}`, name: sided(side, '#'), label: sided(side, 'Position in the prompt'), width: widthOf(sided(side, '#'), 62), number: true,
      value: sideValue(side, (c) => side.place[c] || NaN), fill: (td, row) => fillPlace(td, row, side),
    },
    {
      id: `rank-${side.index}`, name: sided(side, 'Rank'), label: sided(side, 'Rank by score'), width: widthOf(sided(side, 'Rank'), 62), number: true, minor: true,
      value: sideValue(side, (c) => side.rank[c] || NaN),
      fill: (td, row) => td.append(row.at[side.index] < 0 || side.rank[row.at[side.index]] === 0 ? '–' : grouped(side.rank[row.at[side.index]])),
    },
  ];
}

// tokenColumns returns two columns if the selections used different tokenizers.
function tokenColumns() {
  const column = (id, name, value) => ({
    id, name, width: widthOf(name, 82), number: true, first: 'descending', value,
    fill: (td, row) => td.append(grouped(value(row))),
  });
  if (!tokensDiffer(page)) return [column('tokens', 'Tokens', (row) => page.items[row.item].tokens)];
  return page.sides.map((side) => column(`tokens-${side.index}`, sided(side, 'Tokens'), sideValue(side, (c) => itemOfCandidate(side, c).tokens)));
}

// unitColumns returns the group of the item, and its form in each window, where
// there are any.
function unitColumns() {
  const group = {
    id: 'group', name: 'Group', width: 110, minor: true, value: (row) => page.items[row.item].group ?? NaN,
    fill: (td, row) => { if (page.items[row.item].group) td.append(data(page.items[row.item].group, 40)); },
  };
  const form = (side) => ({
    id: `form-${side.index}`, name: sided(side, 'Form'), label: sided(side, 'Form in the window'), width: widthOf(sided(side, 'Form'), 92), first: 'descending',
    value: sideValue(side, (c) => (side.place[c] > 0 ? side.form[c] : NaN)),
    fill: (td, row) => { if (row.at[side.index] >= 0) td.append(...unitBadges(side, row.at[side.index])); },
  });
  return [...(page.hasGroups ? [group] : []), ...(page.hasForms || page.hasStale ? page.sides.map(form) : [])];
}

// unitBadges shows in which form a candidate is in the window, and whether there
// is a newer version of it.
function unitBadges(side, candidate) {
  const form = side.form[candidate];
  const title = `${grouped(shownTokens(side, candidate))} of ${counted(itemOfCandidate(side, candidate).tokens, 'token')}`;
  return [
    ...(form > 0 ? [el('span', { class: 'tag form', title }, `form ${form}`)] : []),
    ...(side.stale.has(candidate) ? [el('span', { class: 'tag stale', title: 'There is a newer version' }, 'stale')] : []),
  ];
}

// formNote follows a number of tokens.
function formNote(side, candidate) {
  return side.form[candidate] > 0 ? ` (form ${side.form[candidate]} of ${grouped(itemOfCandidate(side, candidate).tokens)})` : '';
}

// scoreColumns returns the score and the score of each part of a composite.
function scoreColumns(side) {
  const column = (id, name, label, scores, part) => ({
    id, name, label, width: widthOf(name, 72), number: true, first: 'descending', minor: part, part,
    value: sideValue(side, (c) => scores[c] ?? NaN),
    fill: (td, row) => {
      const score = row.at[side.index] < 0 ? null : scores[row.at[side.index]];
      td.append(scoreText(score));
      if (score !== null) td.title = exact(score);
    },
  });
  const { selection } = side;
  return [
    column(`score-${side.index}`, sided(side, 'Score'), sided(side, 'Score'), selection.scores, false),
    ...selection.parts.map((part, i) => column(`part-${side.index}-${i}`, sided(side, plain(part.name, 18)),
      `${sided(side, plain(part.name, 60))}, weight ${exact(part.weight)}`, part.scores, true)),
  ];
}

function reasonColumn(side) {
  return {
    id: `reason-${side.index}`, name: sided(side, 'Reason'), width: 156,
    value: (row) => (row.at[side.index] < 0 ? NaN : reasonOf(side, row.at[side.index])),
    fill: (td, row) => {
      if (row.at[side.index] < 0) {
        td.append(el('span', { class: 'soft' }, 'no candidate'));
        return;
      }
      td.append(data(reasonOf(side, row.at[side.index]), 60));
      td.title = plain(whyOf(side, row.at[side.index]), 300);
    },
  };
}

function fillKind(td, row) {
  const kind = page.kinds[page.kindOf[row.item]];
  td.append(kindChip(kind), ' ', data(page.items[row.item].kind, 40));
}

// fillPlace shows the position, with a sign if the current budget changed it.
function fillPlace(td, row, side) {
  const candidate = row.at[side.index];
  if (candidate < 0) return;
  const place = side.place[candidate];
  const before = side.changed?.[candidate];
  if (before === 1) td.append(el('span', { class: 'sign came-sign', title: 'Came with this budget' }, '+'));
  if (before === 2) td.append(el('span', { class: 'sign went-sign', title: 'Went with this budget' }, '−'));
  td.append(place > 0 ? grouped(place) : el('span', { class: 'soft' }, 'out'));
}

// sortedBy sorts all rows by a column. Rows that are equal or have no value are
// ordered by their best rank, then by candidate.
function sortedBy(column, direction) {
  const { rows } = page;
  const keys = rows.map(column.value);
  const missing = keys.map((key) => typeof key === 'number' && Number.isNaN(key));
  page.bestRanks ??= rows.map(rankOf); // the same at every budget
  const ranks = page.bestRanks;
  const sign = direction === 'descending' ? -1 : 1;
  return rows.map((_, i) => i).sort((i, j) => {
    if (missing[i] !== missing[j]) return missing[i] ? 1 : -1;
    if (!missing[i] && keys[i] !== keys[j]) return keys[i] < keys[j] ? -sign : sign;
    return ranks[i] - ranks[j] || i - j;
  });
}

function rankOf(row) {
  let best = Infinity;
  for (const side of page.sides) {
    const rank = row.at[side.index] < 0 ? 0 : side.rank[row.at[side.index]];
    if (rank > 0) best = Math.min(best, rank);
  }
  return best === Infinity ? Number.MAX_SAFE_INTEGER : best;
}
