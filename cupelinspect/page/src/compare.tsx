import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { filterByState } from './filter';
import { counted, grouped } from './format';
import { page, shownTokens, type Row, type Side } from './model';
import { Folded, Mark, MessageButton } from './conversation';
import { Data, Quiet, SideBadge } from './parts';
import { inOrder, leadOf, runsOf, stateOf, tokensText, whyOut, type State } from './story';

// What differs between two selections comes first, and runs of what is equal are
// folded. Of two turns of a session, a line joins what was kept.

const RUNS_SHOWN = 60;
const SAME_SHOWN = 100;
const DIFFERENT_SHOWN = 10; // of each kind of difference in a list that has no order of its own

export function Comparison({ conversation }: { conversation: boolean }) {
  const [a, b] = page.sides;
  const kept = a.selection.session || b.selection.session ? keptPrefix(a, b) : null;
  const inPlace = conversation || kept !== null;
  const keyOf = (row: Row) => (isSame(row) ? 'same' : inPlace ? 'differs' : `differs ${page.sides.map((side) => stateOf(side, row)).join(' ')}`) + (kept?.rows.has(row) ? ' kept' : '');
  const all = inOrder(page.sides);
  // The order of a list says nothing: what only A has comes before what only B has.
  const rows = inPlace ? all : [...all].sort((x, y) => rankOf(x) - rankOf(y));
  const runs = runsOf(rows, keyOf);
  const later = turnOf(a) > turnOf(b) ? a : b;
  // The line ends after the last kept row, if anything was sent before.
  const lastKept = kept && kept.rows.size > 0 ? runs.map((run) => kept.rows.has(run[0])).lastIndexOf(true) : -1;
  return (
    <section class="card comparison" aria-labelledby="comparison-title">
      <h2 id="comparison-title">What differs</h2>
      <p class="lead">{summary(rows)}</p>
      {conversation && page.sides.map((side) => <p class="lead-side"><SideBadge side={side} />{leadOf(side)}</p>)}
      {page.sides.map((side) => side.selection.session && <p class="lead-side"><SideBadge side={side} />{sessionText(side.selection.session)}</p>)}
      <p class="legend-line soft">
        <Mark state="in" /> in whole <Mark state="outline" /> in as an outline <Mark state="out" /> out; the first mark is of A, the second of B. Numbers are tokens.
      </p>
      <ol class="story">
        {kept && lastKept < 0 && <BreakLine kept={kept} side={later} />}
        {runs.slice(0, RUNS_SHOWN).map((run, i) => (
          <>
            <Run key={run[0].index} rows={run} most={inPlace ? SAME_SHOWN : DIFFERENT_SHOWN} kept={kept?.rows.has(run[0]) ?? false} />
            {kept && i === lastKept && <BreakLine kept={kept} side={later} />}
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

function Run({ rows, kept, most }: { rows: Row[]; kept: boolean; most: number }) {
  const [open, setOpen] = useState(false);
  const name = kept ? 'run kept' : 'run';
  if (!isSame(rows[0])) return <li class={`${name} differs`}><Folded list={rows} most={most}>{(row) => <li key={row.index}><Line row={row} /></li>}</Folded></li>;
  return (
    <li class={name}>
      <button type="button" class="same" aria-expanded={open} onClick={() => setOpen(!open)}>{sameText(rows)}</button>
      {open && <Folded list={rows} most={SAME_SHOWN}>{(row) => <li key={row.index}><Line row={row} /></li>}</Folded>}
    </li>
  );
}

function sameText(rows: Row[]): string {
  const [a] = page.sides;
  const counts: Record<State, number> = { in: 0, outline: 0, out: 0, none: 0 };
  for (const row of rows) counts[stateOf(a, row)]++;
  const words: [State, string][] = [['in', 'in whole in both'], ['outline', 'the same outline in both'], ['out', 'out of both']];
  return `${counted(rows.length, 'item')} alike: ${words.filter(([state]) => counts[state] > 0).map(([state, text]) => `${grouped(counts[state])} ${text}`).join(', ')}`;
}

function Line({ row }: { row: Row }) {
  const states = page.sides.map((side) => stateOf(side, row));
  const home = page.sides[row.at[0] >= 0 ? 0 : 1];
  const notes: ComponentChildren[] = page.sides.map((side, i) => {
    if (states[i] === 'out') return <span><b>{side.letter}</b> <Data text={whyOut(side, row.at[side.index])} /></span>;
    if (states[i] === 'none') return <span><b>{side.letter}</b> {side.selection.session ? 'not there in this turn' : 'no candidate'}</span>;
    return states[i] === 'outline' ? <span><b>{side.letter}</b> {`outline, ${tokensText(side, [row])} tokens`}</span> : null;
  });
  return (
    <MessageButton side={home} row={row} states={states}>
      <span class="message-note">{notes}</span>
      <span class="number">{grouped(home.selection.full?.[row.at[home.index]] ?? page.items[row.item].tokens)}</span>
    </MessageButton>
  );
}

interface Kept {
  rows: Set<Row>;
  tokens: number;
}

// keptPrefix returns what both windows begin with, in the same forms.
function keptPrefix(a: Side, b: Side): Kept {
  const rows = new Set<Row>();
  let tokens = 0;
  for (let i = 0; i < Math.min(a.stop.window.length, b.stop.window.length); i++) {
    const row = page.rows[a.rowOf[a.stop.window[i]]];
    if (row.at[1] !== b.stop.window[i] || !isSame(row)) break;
    rows.add(row);
    tokens += shownTokens(a, row.at[0]);
  }
  return { rows, tokens };
}

function turnOf(side: Side): number {
  return Number(/^turn (\d+):/.exec(side.selection.session ?? '')?.[1] ?? 0);
}

const BREAKS: Record<string, string> = {
  changed: 'what was sent before is gone, was edited or has moved',
  forced: 'what was sent before no longer fits, or lacks what must be in',
  free: 'nothing of it was in the cache, so that choosing again cost nothing',
  'worth it': 'choosing again saves more than it costs',
};

function sessionText(session: string): string {
  const found = /^(turn \d+: )?(?:break|chosen again) \(([^)]+)\)/.exec(session);
  const why = found ? BREAKS[found[2]] as string | undefined : undefined;
  return why ? `${session} (${found?.[2]}: ${why})` : session;
}

// BreakLine ends the line of what was kept.
function BreakLine({ kept, side }: { kept: Kept; side: Side }) {
  const session = side.selection.session ?? '';
  const reason = /break \(([^)]+)\)/.exec(session)?.[1];
  const price = /cost (\d+)/.exec(session)?.[1];
  const text = reason
    ? `Break (${reason}): ${BREAKS[reason] as string | undefined ?? reason}.`
    : 'No break: what follows is new.';
  return (
    <li class="break-line">
      <strong>{`Kept from the turn before: ${counted(kept.rows.size, 'item')}, ${counted(kept.tokens, 'token')}.`}</strong>{` ${text}`}
      {price && ` ${side.letter} costs as much as ${counted(Number(price), 'token')} of plain input.`}
    </li>
  );
}
