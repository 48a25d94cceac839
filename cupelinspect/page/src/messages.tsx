import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { counted, grouped } from './format';
import { Highlighted } from './highlight';
import { firstWhole, itemOfCandidate, kindOfCandidate, page, shownTokens, type Row, type Side } from './model';
import { goTo } from './budget';
import { goToRow, openDetails } from './open';
import { Data, KindChip, Quiet, SideBadge, Still } from './parts';
import { keptPrefix, turnOf } from './session';
import { changed, view } from './state';
import { inOrder, isConversation, isTold, numberOf, runsOf, speakerOf, stateOf, sumOf, titleOf, tokensText, unitsOf, whyOut, type State, type Unit } from './story';

// The messages, newest first, with what was kept of each. Of one selection, messages
// that are out are folded where they were; of two, those that are alike.

const ALL_SHOWN = 1300; // messages: of more, the list shows a page
const PAGE = 200;
const FOLD_SHOWN = 200;

export function Messages() {
  const { sides } = page;
  const conversation = isConversation();
  const two = sides.length === 2;
  const order = inOrder(sides);
  const rows = two && !conversation ? byDifference(order) : order;
  const units = conversation ? unitsOf(rows).reverse() : rows.map((row): Unit => ({ rows: [row], group: '' }));
  const size = rows.length <= ALL_SHOWN ? units.length : PAGE;
  const from = pageOf(units, size);
  const kept = two && sides.some(({ selection }) => selection.session) ? keptRows(sides[0], sides[1]) : null;
  const keyOf = (unit: Unit) => `${isFolded(unit) ? 'folded' : 'shown'} ${kept !== null && unit.rows.some((row) => kept.rows.has(row)) ? 'kept' : 'new'}`;
  const runs = runsOf(units.slice(from, from + size), keyOf);
  const end = kept === null ? -1 : runs.findIndex((run) => run[0].rows.some((row) => kept.rows.has(row)));
  return (
    <section id="messages" class={`card ${two ? 'comparison' : 'conversation'}`} aria-labelledby="messages-title" tabIndex={-1}>
      <h2 id="messages-title">{two ? 'What differs' : conversation ? 'The conversation, newest first' : 'The candidates, as they are sent'}</h2>
      {two && <p class="lead-side">{summary(rows)}</p>}
      <p class="legend-line soft">
        <Mark state="in" /> whole <Mark state="outline" /> cut <Mark state="out" /> out{two && '; the first mark and the left tokens are for A, the others for B'}. Press a line for its text: <mark class="kept">what was sent</mark> is highlighted, <del class="lost">the rest</del> is struck.
      </p>
      <Pager from={from} size={size} units={units.length} />
      <ol class="story">
        {runs.map((run, i) => (
          <>
            {kept && i === end && <BreakLine kept={kept} />}
            {isFolded(run[0]) && (two || run.length > 1 || run[0].rows.length > 1) ? <Fold key={run[0].rows[0].index} units={run} /> : run.map((unit) => <Bracket key={unit.rows[0].index} unit={unit} />)}
          </>
        ))}
        {kept && end < 0 && <BreakLine kept={kept} />}
        {units.length === 0 && <li class="empty">There were no candidates.</li>}
      </ol>
      <Pager from={from} size={size} units={units.length} />
    </section>
  );
}

// pageOf is the first unit that is shown: those of the message that a reader went to.
function pageOf(units: Unit[], size: number): number {
  if (size >= units.length) return 0;
  const wanted = view.goTo < 0 ? -1 : units.findIndex((unit) => unit.rows.some((row) => row.index === view.goTo));
  if (wanted >= 0) view.from = Math.floor(wanted / size) * size;
  view.goTo = -1;
  return Math.min(view.from, Math.floor((units.length - 1) / size) * size);
}

function Pager({ from, size, units }: { from: number; size: number; units: number }) {
  if (size >= units) return null;
  const turn = (by: number) => {
    view.from = from + by;
    changed();
    document.getElementById('messages')?.focus();
  };
  return (
    <p class="pager">
      <Quiet disabled={from === 0} onPress={() => turn(-size)}>Previous</Quiet>
      <span class="soft">{`Steps ${grouped(from + 1)} to ${grouped(Math.min(units, from + size))} of ${grouped(units)}; the strip reaches the others`}</span>
      <Quiet disabled={from + size >= units} onPress={() => turn(size)}>Next</Quiet>
    </p>
  );
}

function isFolded(unit: Unit): boolean {
  const [side, other] = page.sides as [Side, Side?];
  return other ? unit.rows.every(isSame) : unit.rows.every((row) => stateOf(side, row) === 'out');
}

function isSame(row: Row): boolean {
  const [a, b] = page.sides;
  const state = stateOf(a, row);
  if (state !== stateOf(b, row)) return false;
  return state !== 'outline' || shownTokens(a, row.at[0]) === shownTokens(b, row.at[1]);
}

// byDifference puts what only A has first, then what only B has, then what both have in
// other forms: the order of a list says nothing.
function byDifference(order: Row[]): Row[] {
  const [a, b] = page.sides;
  const parts: [Row[], Row[], Row[], Row[]] = [[], [], [], []];
  for (const row of order) {
    const inB = isHere(stateOf(b, row));
    parts[isSame(row) ? 3 : !inB ? 0 : isHere(stateOf(a, row)) ? 2 : 1].push(row);
  }
  return parts.flat();
}

function isHere(state: State): boolean {
  return state === 'in' || state === 'outline';
}

function summary(rows: Row[]): string {
  const [a, b] = page.sides;
  const parts = [[a, b], [b, a]].map(([side, other]) => {
    const list = rows.filter((row) => isHere(stateOf(side, row)) && !isHere(stateOf(other, row)));
    const tokens = list.reduce((sum, row) => sum + shownTokens(side, row.at[side.index]), 0);
    return list.length === 0 ? `${side.letter} alone includes nothing` : `${side.letter} alone includes ${counted(list.length, 'item')} (${counted(tokens, 'token')})`;
  });
  const reshaped = rows.filter((row) => isHere(stateOf(a, row)) && isHere(stateOf(b, row)) && !isSame(row)).length;
  if (reshaped > 0) parts.push(`${counted(reshaped, 'item')} ${reshaped === 1 ? 'is' : 'are'} in both, with more of it in one`);
  parts.push(`${grouped(rows.filter(isSame).length)} of ${grouped(rows.length)} are the same`);
  return `${parts.join('; ')}.`;
}

// Fold is a run of messages that are out, or the same in both, in one line until a
// reader opens it.
function Fold({ units }: { units: Unit[] }) {
  const [most, setMost] = useState(FOLD_SHOWN);
  const [side] = page.sides;
  const rows = units.flatMap((unit) => unit.rows);
  const first = rows[0].index;
  const open = view.unfolded.has(first) || rows.some((row) => view.open.has(row.index));
  const press = () => {
    if (open) {
      view.unfolded.delete(first);
      for (const row of rows) view.open.delete(row.index);
    } else view.unfolded.add(first);
    changed();
  };
  return (
    <li class="fold">
      <button type="button" class="same" aria-expanded={open} onClick={press}>{page.sides.length === 2 ? sameText(rows) : outText(side, rows)}</button>
      {open && <ol>{units.slice(0, most).map((unit) => <Bracket key={unit.rows[0].index} unit={unit} />)}</ol>}
      {open && units.length > most && <Quiet onPress={() => setMost(most + FOLD_SHOWN)}>{`Show ${grouped(Math.min(FOLD_SHOWN, units.length - most))} more`}</Quiet>}
    </li>
  );
}

function outText(side: Side, rows: Row[]): string {
  const { tokens, speakers } = sumOf(side, rows);
  const reasons = [...new Set(rows.map((row) => whyOut(side, row.at[side.index])))];
  return `${counted(rows.length, isConversation() ? 'message' : 'candidate')} out, ${counted(tokens, 'token')}: ${speakers}${reasons.length === 1 ? ` – ${reasons[0]}` : ''}`;
}

function sameText(rows: Row[]): string {
  const [a] = page.sides;
  const counts: Record<State, number> = { in: 0, outline: 0, out: 0, none: 0 };
  for (const row of rows) counts[stateOf(a, row)]++;
  const words: [State, string][] = [['in', 'whole in both'], ['outline', 'cut alike in both'], ['out', 'out of both']];
  const there = words.filter(([state]) => counts[state] > 0);
  return `${counted(rows.length, 'item')} alike: ${there.map(([state, text]) => (there.length === 1 ? text : `${grouped(counts[state])} ${text}`)).join(', ')}`;
}

// Bracket joins the lines of an exchange.
function Bracket({ unit }: { unit: Unit }) {
  const lines = unit.rows.map((row) => <Line key={row.index} row={row} unit={unit} />);
  return lines.length === 1 ? lines[0] : <li class="exchange"><ol>{lines}</ol></li>;
}

const SIGNS: Record<State, string> = { in: '●', outline: '◐', out: '○', none: '–' };
const WORDS: Record<State, string> = { in: 'whole', outline: 'cut', out: 'out', none: 'not there' };

export function Mark({ state }: { state: State }) {
  return <span class={`state-mark ${state}`} aria-hidden="true">{SIGNS[state]}</span>;
}

function Line({ row, unit }: { row: Row; unit: Unit }) {
  const open = view.open.has(row.index);
  const states = page.sides.map((side) => stateOf(side, row));
  const forms = page.sides.map((side) => side.form[row.at[side.index]]);
  return (
    <li id={`message-${row.index}`} class="step" data-row={row.index}>
      <Still on={[open, ...states, ...forms]}>{() => <Head row={row} unit={unit} states={states} open={open} />}</Still>
      {open && (
        <div class="opened">
          {page.sides.map((side) => <Fate side={side} row={row} unit={unit} />)}
        </div>
      )}
    </li>
  );
}

// Head is the line of a message: who, what and how much.
function Head({ row, unit, states, open }: { row: Row; unit: Unit; states: State[]; open: boolean }) {
  const side = page.sides.find(({ index }) => row.at[index] >= 0) ?? page.sides[0];
  const item = itemOfCandidate(side, row.at[side.index]);
  const press = () => {
    if (open) view.open.delete(row.index);
    else view.open.add(row.index);
    changed();
  };
  return (
    <button type="button" class={states.some(isHere) ? 'message' : 'message is-out'} aria-expanded={open} onClick={press}>
      <span class="marks">{states.map((state) => <Mark state={state} />)}</span>
      <span class="unseen">{states.map((state, i) => `${states.length > 1 ? `${page.sides[i].letter}: ` : ''}${WORDS[state]}, `).join('')}</span>
      <span class="message-number number soft">{grouped(numberOf(row))}</span>
      <KindChip kind={kindOfCandidate(side, row.at[side.index])} />
      <span class="speaker">{speakerOf(item)}</span>
      <span class="message-title"><Data text={titleOf(item)} limit={120} /></span>
      <span class="sizes number">{page.sides.map((each) => row.at[each.index] >= 0 && <span class="size">{tokensText(each, row, unit)}</span>)}</span>
    </button>
  );
}

// Fate says what became of a message, why, and what would keep it; its text follows.
function Fate({ side, row, unit }: { side: Side; row: Row; unit: Unit }) {
  const candidate = row.at[side.index];
  const state = stateOf(side, row);
  if (state === 'none') return <div class="fate"><p><SideBadge side={side} />{side.selection.session ? 'Not there in this turn.' : 'No candidate.'}</p></div>;
  const said = {
    in: `Sent whole, ${counted(shownTokens(side, candidate), 'token')}${itemOfCandidate(side, candidate).pinned ? '; it is always kept' : ''}.`,
    outline: isTold(side, row) ? 'Cut: what was sent of it is in the outline of its exchange.' : `Cut: ${tokensText(side, row, unit)} tokens were sent${unit.rows.length > 1 ? ' of its exchange' : ''}.`,
    out: <>Out: <Data text={whyOut(side, candidate)} />.</>,
  }[state];
  return (
    <div class="fate">
      <p><SideBadge side={side} /><strong class={`state-${state}`}>{said}</strong>{state !== 'in' && <Cause side={side} candidate={candidate} />} <Quiet onPress={() => openDetails(row.index)}>Details</Quiet></p>
      <Still on={[side.at, state, side.form[candidate], view.fact]}>{() => <Highlighted side={side} candidate={candidate} />}</Still>
    </div>
  );
}

const RIVALS_SHOWN = 4;

// Cause says who has the room of a message that is not whole, and which budget is
// enough for it.
function Cause({ side, candidate }: { side: Side; candidate: number }) {
  const parts: ComponentChildren[] = [];
  // In a note on an exchange, the first message has all tokens.
  const rivals = side.stop.actual ? side.selection.rivals?.[candidate]?.filter((rival) => rival < 0 || shownTokens(side, rival) > 0) : undefined;
  const survivor = side.selection.survivor?.[candidate];
  const link = (other: number) => {
    const row = page.rows[side.rowOf[other]];
    return <button type="button" class="link" onClick={() => goToRow(row)}>{`${numberOf(row)} (${counted(shownTokens(side, other), 'token')})`}</button>;
  };
  if (survivor !== undefined) parts.push(<> It stands in {link(survivor)}.</>);
  if (rivals?.[0] === -1) parts.push(' It cannot stay whole at this budget, even if it is pinned.');
  else if (rivals && rivals.length > 0) {
    parts.push(<> Its room went to {rivals.slice(0, RIVALS_SHOWN).map((rival, i) => <>{i > 0 && ', '}{link(rival)}</>)}{rivals.length > RIVALS_SHOWN && ` and ${grouped(rivals.length - RIVALS_SHOWN)} more`}: pinned, it would take it from there.</>);
  } else if (rivals) parts.push(' Pinned, it would fit without a loss elsewhere.');
  const enough = firstWhole(side, candidate);
  if (enough >= 0) parts.push(<> Whole from <button type="button" class="link" onClick={() => goTo(side, enough)}>{counted(side.stops[enough].budget, 'token')}</button> on the slider.</>);
  return <>{parts}</>;
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

// BreakLine stands where what was kept from the earlier turn ends.
function BreakLine({ kept }: { kept: Kept }) {
  const [a, b] = page.sides;
  const [earlier, later] = turnOf(a.selection).number > turnOf(b.selection).number ? [b, a] : [a, b];
  const turn = turnOf(later.selection);
  const before = turnOf(earlier.selection);
  const next = turn.number === before.number + 1;
  const text = !next ? 'The turns between are above.' : turn.broke ? `Break (${turn.reason}): ${turn.why}.` : 'No break: what is above is new.';
  return (
    <li class="break-line">
      <strong>{`Kept from ${next ? 'the turn before' : `turn ${before.number}`}: ${counted(kept.rows.size, 'item')}, ${counted(kept.tokens, 'token')}.`}</strong>{` ${text}`}
      {!Number.isNaN(turn.price) && ` ${later.letter} costs as much as ${counted(turn.price, 'token')} of plain input.`}
    </li>
  );
}
