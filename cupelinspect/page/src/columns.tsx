import type { ComponentChildren } from 'preact';
import { counted, exact, firstLine, grouped, plain, scoreText } from './format';
import { itemOfCandidate, page, reasonOf, shownTokens, tokensDiffer, whyOf, type Row, type Side } from './model';
import { Data, KindChip, LineText } from './parts';
import type { Direction } from './state';
import { isConversation, speakerOf, titleOf } from './story';

// The columns of the table.

export interface Column {
  id: string;
  name: string;
  label?: string; // the name in full
  width: number;
  number?: boolean;
  minor?: boolean; // a narrow screen has no room for it
  part?: boolean; // of a score
  grows?: boolean;
  first?: Direction; // of the first press
  value: (row: Row) => number | string; // to sort by; NaN is none, which sorts last in both directions
  cell: (row: Row) => ComponentChildren;
  title?: (row: Row) => string;
}

let columns: Column[] = [];
let columnsFor: Row[] = []; // the rows of the page that they were made for

export function allColumns(): Column[] {
  if (columnsFor === page.rows) return columns;
  columnsFor = page.rows;
  const { sides, items } = page;
  const who: Column = { id: 'who', name: 'Who', width: 96, value: (row) => speakerOf(items[row.item]), cell: (row) => <b>{speakerOf(items[row.item])}</b> };
  const conversation = isConversation();
  const two = sides.length === 2; // a window has room for what differs, and the details have the rest
  const kind: Column = {
    id: 'kind', name: 'Kind', width: 142, minor: conversation, value: (row) => page.kinds[page.kindOf[row.item]].name,
    cell: (row) => <><KindChip kind={page.kinds[page.kindOf[row.item]]} />{' '}<Data text={items[row.item].kind} limit={40} /></>,
  };
  const source: Column = { id: 'source', name: 'Source', width: 96, minor: true, value: (row) => items[row.item].source, cell: (row) => <Data text={items[row.item].source} limit={60} /> };
  columns = [
    ...sides.flatMap(placeColumns).filter(({ id }) => !two || id.startsWith('place')),
    ...(conversation ? [who] : []),
    ...(conversation && two ? [] : [kind]),
    ...(two ? [] : [source]),
    ...unitColumns(),
    ...tokenColumns(),
    ...sides.flatMap(scoreColumns),
    ...sides.map(reasonColumn),
    conversation
      ? { id: 'line', name: 'Title', width: 300, grows: true, value: (row) => titleOf(items[row.item]), cell: (row) => <span class="line-text"><Data text={titleOf(items[row.item])} limit={120} /></span> }
      : { id: 'line', name: 'First line', width: 300, grows: true, value: (row) => firstLine(items[row.item].content), cell: (row) => <LineText item={items[row.item]} /> },
  ];
  return columns;
}

export function columnOf(id: string): Column {
  const list = allColumns();
  return list.find((column) => column.id === id) ?? list[0];
}

function sided(side: Side, name: string): string {
  return side.alone ? name : `${side.letter} ${name}`;
}

// sideValue returns the value of this side's candidate, if the row has one.
function sideValue(side: Side, value: (candidate: number) => number): (row: Row) => number {
  return (row) => (row.at[side.index] < 0 ? NaN : value(row.at[side.index]));
}

// widthOf returns the width of a heading and its arrow.
function widthOf(name: string, least: number): number {
  return Math.max(least, Math.ceil(40 + 8 * name.length));
}

function placeColumns(side: Side): Column[] {
  const place = sided(side, '#');
  const rank = sided(side, 'Rank');
  const rankOf = sideValue(side, (c) => side.rank[c] || NaN);
  return [
    {
      id: `place-${side.index}`, name: place, label: sided(side, 'Position in the prompt'), width: widthOf(place, 62), number: true,
      value: sideValue(side, (c) => side.place[c] || NaN), cell: (row) => <Place row={row} side={side} />,
    },
    {
      id: `rank-${side.index}`, name: rank, label: sided(side, 'Rank by score'), width: widthOf(rank, 62), number: true, minor: true,
      value: rankOf, cell: (row) => grouped(rankOf(row)),
    },
  ];
}

// tokenColumns returns two columns if the selections used different tokenizers.
function tokenColumns(): Column[] {
  const column = (id: string, name: string, value: (row: Row) => number): Column => ({
    id, name, width: widthOf(name, 82), number: true, first: 'descending', value, cell: (row) => grouped(value(row)),
  });
  if (!tokensDiffer(page.rows)) return [column('tokens', 'Tokens', (row) => page.items[row.item].tokens)];
  return page.sides.map((side) => column(`tokens-${side.index}`, sided(side, 'Tokens'), sideValue(side, (c) => itemOfCandidate(side, c).tokens)));
}

// unitColumns returns the group of the item, and its form in each window, where
// there are any.
function unitColumns(): Column[] {
  const groupOf = (row: Row) => page.items[row.item].group;
  const group: Column = {
    id: 'group', name: 'Group', width: 110, minor: true, value: (row) => groupOf(row) ?? NaN,
    cell: (row) => { const name = groupOf(row); return name && <Data text={name} limit={40} />; },
  };
  const form = (side: Side): Column => ({
    id: `form-${side.index}`, name: sided(side, 'Form'), label: sided(side, 'Form in the window'), width: widthOf(sided(side, 'Form'), 92), first: 'descending', minor: true,
    value: sideValue(side, (c) => (side.place[c] > 0 ? side.form[c] : NaN)),
    cell: (row) => row.at[side.index] >= 0 && <UnitBadges side={side} candidate={row.at[side.index]} />,
  });
  return [...(page.hasGroups && page.sides.length === 1 ? [group] : []), ...(page.hasForms || page.hasStale ? page.sides.map(form) : [])];
}

// UnitBadges shows in which form a candidate is in the window, and whether there
// is a newer version of it.
export function UnitBadges({ side, candidate }: { side: Side; candidate: number }) {
  const form = side.form[candidate];
  return (
    <>
      {form > 0 && <span class="tag form" title={`${grouped(shownTokens(side, candidate))} of ${counted(itemOfCandidate(side, candidate).tokens, 'token')}`}>cut</span>}
      {side.stale.has(candidate) && <span class="tag stale" title="There is a newer version">stale</span>}
    </>
  );
}

// scoreColumns returns the score and the score of each part of a composite.
function scoreColumns(side: Side): Column[] {
  const column = (id: string, name: string, label: string, scores: (number | null)[], part: boolean): Column => {
    const value = sideValue(side, (c) => scores[c] ?? NaN);
    const scoreOf = (row: Row) => (row.at[side.index] < 0 ? null : scores[row.at[side.index]]);
    return {
      id, name, label, width: widthOf(name, 72), number: true, first: 'descending', minor: true, part, value,
      cell: (row) => scoreText(scoreOf(row)), title: (row) => (scoreOf(row) === null ? '' : exact(scoreOf(row))),
    };
  };
  const { selection } = side;
  return [
    column(`score-${side.index}`, sided(side, 'Score'), sided(side, 'Score'), selection.scores, false),
    ...selection.parts.map((part, i) => column(`part-${side.index}-${i}`, sided(side, plain(part.name, 18)),
      `${sided(side, plain(part.name, 60))}, weight ${exact(part.weight)}`, part.scores, true)),
  ];
}

function reasonColumn(side: Side): Column {
  return {
    id: `reason-${side.index}`, name: sided(side, 'Reason'), width: 156, minor: !side.alone,
    value: (row) => (row.at[side.index] < 0 ? NaN : reasonOf(side, row.at[side.index])),
    cell: (row) => (row.at[side.index] < 0 ? <span class="soft">no candidate</span> : <Data text={reasonOf(side, row.at[side.index])} limit={60} />),
    title: (row) => (row.at[side.index] < 0 ? '' : plain(whyOf(side, row.at[side.index]), 300)),
  };
}

// Place shows the position, with a sign if the current budget changed it.
function Place({ row, side }: { row: Row; side: Side }) {
  const candidate = row.at[side.index];
  if (candidate < 0) return null;
  const place = side.place[candidate];
  const moved = side.changed[candidate];
  return (
    <>
      {moved === 1 && <span class="sign came-sign" title="Came with this budget">+</span>}
      {moved === 2 && <span class="sign went-sign" title="Went with this budget">−</span>}
      {place > 0 ? grouped(place) : <span class="soft">out</span>}
    </>
  );
}
