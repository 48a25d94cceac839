import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { filterByState } from './filter';
import { counted, grouped } from './format';
import { page, shownTokens, type Row, type Side } from './model';
import { Bracket, Folded, Mark, MessageButton } from './conversation';
import { Data, Quiet, SideBadge } from './parts';
import { keptPrefix, turnOf } from './session';
import { fullTokens, inOrder, isTold, leadOf, runsOf, stateOf, tokensText, unitsOf, whyOut, type State, type Unit } from './story';
import type { Selection } from './wire';

// What differs between two selections comes first, and runs of what is equal are
// folded. Of two turns of a session, a line joins what was kept.

const RUNS_SHOWN = 60;
const SAME_SHOWN = 100;
const DIFFERENT_SHOWN = 10; // of each kind of difference in a list that has no order of its own

export function Comparison({ conversation }: { conversation: boolean }) {
  const [a, b] = page.sides;
  const kept = a.selection.session || b.selection.session ? keptRows(a, b) : null;
  const inPlace = conversation || kept !== null;
  const differs = (row: Row) => (inPlace ? 'differs' : `differs ${page.sides.map((side) => stateOf(side, row)).join(' ')}`);
  const all = inOrder(page.sides);
  // The order of a list says nothing: what only A has comes before what only B has.
  const rows = inPlace ? all : [...all].sort((x, y) => rankOf(x) - rankOf(y));
  const runsIn = (part: Row[]) => {
    const units = inPlace ? unitsOf(part) : part.map((row): Unit => ({ rows: [row], group: '' }));
    return runsOf(units, (unit) => (isAlike(unit) ? 'same' : differs(unit.rows[0])));
  };
  // The line of what was kept ends after the last of it, which may be within an exchange.
  const end = 1 + Math.max(-1, ...[...kept?.rows ?? []].map((row) => rows.indexOf(row)));
  const before = runsIn(rows.slice(0, end));
  const runs = [...before, ...runsIn(rows.slice(end))];
  const [earlier, later] = turnOf(a.selection).number > turnOf(b.selection).number ? [b, a] : [a, b];
  return (
    <section class="card comparison" aria-labelledby="comparison-title">
      <h2 id="comparison-title">What differs</h2>
      <p class="lead">{summary(rows)}</p>
      {conversation && page.sides.map((side) => <p class="lead-side"><SideBadge side={side} /><b><Data text={side.selection.name} limit={60} /></b>{`: ${leadOf(side)}`}</p>)}
      {page.sides.map((side) => side.selection.session && <p class="lead-side"><SideBadge side={side} />{sessionText(side.selection)}</p>)}
      <p class="legend-line soft">
        <Mark state="in" /> in whole <Mark state="outline" /> in as an outline <Mark state="out" /> out; the first mark is of A, the second of B. Numbers are tokens.
      </p>
      <ol class="story">
        {kept && end === 0 && <BreakLine kept={kept} earlier={earlier} later={later} />}
        {runs.slice(0, RUNS_SHOWN).map((run, i) => (
          <>
            <Run key={run[0].rows[0].index} units={run} most={inPlace ? SAME_SHOWN : DIFFERENT_SHOWN} kept={i < before.length} />
            {kept && i === before.length - 1 && <BreakLine kept={kept} earlier={earlier} later={later} />}
          </>
        ))}
      </ol>
      {runs.length > RUNS_SHOWN && <Quiet onPress={() => filterByState('swing')}>All that differ, in the table</Quiet>}
    </section>
  );
}

// rankOf puts what only A has first, then what only B has, then other forms.
function rankOf(row: Row): number {
  if (isSame(row)) return 3;
  const [a, b] = page.sides.map((side) => ['in', 'outline'].includes(stateOf(side, row)));
  return a && b ? 2 : a ? 0 : 1;
}

// isAlike reports whether all of an exchange is the same.
function isAlike(unit: Unit): boolean {
  return unit.rows.every(isSame);
}

function isSame(row: Row): boolean {
  const [a, b] = page.sides;
  const state = stateOf(a, row);
  if (state !== stateOf(b, row)) return false;
  return state !== 'outline' || shownTokens(a, row.at[0]) === shownTokens(b, row.at[1]);
}

function summary(rows: Row[]): string {
  const [a, b] = page.sides;
  const isHere = (state: State) => state === 'in' || state === 'outline';
  const only = (side: Side, other: Side) => rows.filter((row) => isHere(stateOf(side, row)) && !isHere(stateOf(other, row)));
  const tokens = (side: Side, list: Row[]) => list.reduce((sum, row) => sum + shownTokens(side, row.at[side.index]), 0);
  const parts = [[a, b], [b, a]].map(([side, other]) => {
    const list = only(side, other);
    return list.length === 0 ? `${side.letter} alone has nothing` : `${side.letter} alone has ${counted(list.length, 'item')} (${counted(tokens(side, list), 'token')})`;
  });
  const reshaped = rows.filter((row) => isHere(stateOf(a, row)) && isHere(stateOf(b, row)) && !isSame(row)).length;
  if (reshaped > 0) parts.push(`${counted(reshaped, 'item')} ${reshaped === 1 ? 'is' : 'are'} in both, in different forms`);
  parts.push(`${grouped(rows.filter(isSame).length)} of ${grouped(rows.length)} are the same`);
  return `${parts.join('; ')}.`;
}

function Run({ units, kept, most }: { units: Unit[]; kept: boolean; most: number }) {
  const [open, setOpen] = useState(false);
  const name = kept ? 'run kept' : 'run';
  const lines = (shown: number) => <Folded list={units} most={shown}>{(unit) => <Bracket key={unit.rows[0].index} unit={unit}>{(row) => <Line row={row} unit={unit} />}</Bracket>}</Folded>;
  if (!isAlike(units[0])) return <li class={`${name} differs`}>{lines(most)}</li>;
  return (
    <li class={name}>
      <button type="button" class="same" aria-expanded={open} onClick={() => setOpen(!open)}>{sameText(units.flatMap((unit) => unit.rows))}</button>
      {open && lines(SAME_SHOWN)}
    </li>
  );
}

function sameText(rows: Row[]): string {
  const [a] = page.sides;
  const counts: Record<State, number> = { in: 0, outline: 0, out: 0, none: 0 };
  for (const row of rows) counts[stateOf(a, row)]++;
  const words: [State, string][] = [['in', 'in whole in both'], ['outline', 'the same outline in both'], ['out', 'out of both']];
  const there = words.filter(([state]) => counts[state] > 0);
  return `${counted(rows.length, 'item')} alike: ${there.map(([state, text]) => (there.length === 1 ? text : `${grouped(counts[state])} ${text}`)).join(', ')}`;
}

function Line({ row, unit }: { row: Row; unit: Unit }) {
  const states = page.sides.map((side) => stateOf(side, row));
  const home = page.sides[row.at[0] >= 0 ? 0 : 1];
  // In a report, the outline of an exchange hides what its messages have.
  const whole = page.sides.find((side) => row.at[side.index] >= 0 && !isTold(side, row));
  const notes: ComponentChildren[] = page.sides.map((side, i) => {
    if (states[i] === 'out') return <span><b>{side.letter}</b> <Data text={whyOut(side, row.at[side.index])} /></span>;
    if (states[i] === 'none') return <span><b>{side.letter}</b> {side.selection.session ? 'not there in this turn' : 'no candidate'}</span>;
    if (states[i] !== 'outline') return null;
    return <span><b>{side.letter}</b> {isTold(side, row) ? 'in that outline' : `outline, ${tokensText(side, row, unit)} tokens`}</span>;
  });
  return (
    <MessageButton side={whole ?? home} row={row} states={states}>
      <span class="message-note">{notes}</span>
      <span class="number">{whole ? grouped(fullTokens(whole, row)) : ''}</span>
    </MessageButton>
  );
}

interface Kept {
  rows: Set<Row>;
  tokens: number;
}

// keptRows are what both windows begin with, in the same forms.
function keptRows(a: Side, b: Side): Kept {
  const { items, tokens } = keptPrefix(page.items, a.selection, b.selection, a.stop, b.stop);
  const rows = page.sides.flatMap((side) => side.stop.window.slice(0, items).map((candidate) => page.rows[side.rowOf[candidate]]));
  return { rows: new Set(rows), tokens };
}

function sessionText(selection: Selection): string {
  const { reason, why } = turnOf(selection);
  return `${selection.session ?? ''}${reason === '' ? '' : ` (${reason}: ${why})`}`;
}

// BreakLine ends the line of what was kept.
function BreakLine({ kept, earlier, later }: { kept: Kept; earlier: Side; later: Side }) {
  const turn = turnOf(later.selection);
  const before = turnOf(earlier.selection);
  const next = turn.number === before.number + 1;
  const text = !next ? 'The turns between are above.' : turn.broke ? `Break (${turn.reason}): ${turn.why}.` : 'No break: what follows is new.';
  return (
    <li class="break-line">
      <strong>{`Kept from ${next ? 'the turn before' : `turn ${before.number}`}: ${counted(kept.rows.size, 'item')}, ${counted(kept.tokens, 'token')}.`}</strong>{` ${text}`}
      {!Number.isNaN(turn.price) && ` ${later.letter} costs as much as ${counted(turn.price, 'token')} of plain input.`}
    </li>
  );
}
