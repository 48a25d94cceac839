import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { counted, grouped } from './format';
import { itemOfCandidate, kindOfCandidate, page, shownItem, type Row, type Side } from './model';
import { openDetails } from './open';
import { Data, KindChip, Quiet } from './parts';
import { inOrder, isTold, runsOf, speakerOf, stateOf, sumOf, titleOf, tokensText, unitsOf, whyOut, type State, type Unit } from './story';

// The conversation in its own order, with its holes in place: what is in whole,
// what is an outline, and what is out and why.

const UNITS_SHOWN = 150;
const HOLE_SHOWN = 6;

export function Conversation({ side }: { side: Side }) {
  const [most, setMost] = useState(UNITS_SHOWN);
  const units = useMemo(() => unitsOf(inOrder([side])), [side]);
  const isOut = (unit: Unit) => unit.rows.every((row) => stateOf(side, row) === 'out');
  const runs = runsOf(units.slice(0, most), (unit) => (isOut(unit) ? 'out' : 'in'));
  return (
    <section class="card conversation" aria-labelledby="conversation-title">
      <h2 id="conversation-title">The conversation</h2>
      <p class="legend-line soft">
        <Mark state="in" /> in whole <Mark state="outline" /> in as an outline <Mark state="out" /> out. Numbers are tokens. A bracket joins a call and its results. Press a line for its full text.
      </p>
      <ol class="story">
        {runs.map((run) => (isOut(run[0]) ? <Hole key={run[0].rows[0].index} side={side} units={run} /> : run.map((unit) => <UnitOf key={unit.rows[0].index} side={side} unit={unit} />)))}
      </ol>
      {units.length > most && <Quiet onPress={() => setMost(most + 500)}>{`Show ${grouped(Math.min(500, units.length - most))} more of ${grouped(units.length)} steps`}</Quiet>}
    </section>
  );
}

// Hole is what was left out between two messages that are in. What is true of all
// of it is said once, above.
function Hole({ side, units }: { side: Side; units: Unit[] }) {
  const rows = units.flatMap((unit) => unit.rows);
  const reasons = [...new Set(rows.map((row) => whyOut(side, row.at[side.index]).split(':')[0]))];
  const { tokens, speakers } = sumOf(side, rows);
  return (
    <li class="hole">
      {rows.length > 1 && (
        <p class="hole-head">
          <strong>{`${counted(rows.length, 'message')} out`}</strong>{`, ${counted(tokens, 'token')}: ${speakers}.`}
          {reasons.length === 1 && <Data text={` Why: ${reasons[0]}.`} limit={300} />}
        </p>
      )}
      <Folded list={units} most={HOLE_SHOWN}>{(unit) => <UnitOf key={unit.rows[0].index} side={side} unit={unit} quiet={rows.length > 1 && reasons.length === 1} />}</Folded>
    </li>
  );
}

// Folded shows the beginning of a list, and the rest when a reader asks.
export function Folded<T>({ list, most, children }: { list: T[]; most: number; children: (value: T) => ComponentChildren }) {
  const [all, setAll] = useState(false);
  const shown = all || list.length <= most + 2 ? list : list.slice(0, most);
  return (
    <ol>
      {shown.map(children)}
      {shown.length < list.length && <li><Quiet onPress={() => setAll(true)}>{`Show ${grouped(list.length - most)} more`}</Quiet></li>}
    </ol>
  );
}

function UnitOf({ side, unit, quiet = false }: { side: Side; unit: Unit; quiet?: boolean }) {
  return <Bracket unit={unit}>{(row) => <Line side={side} row={row} unit={unit} quiet={quiet} />}</Bracket>;
}

// Bracket joins the lines of an exchange.
export function Bracket({ unit, children }: { unit: Unit; children: (row: Row) => ComponentChildren }) {
  const lines = unit.rows.map((row) => <li key={row.index}>{children(row)}</li>);
  return lines.length === 1 ? lines[0] : <li class="exchange"><ol>{lines}</ol></li>;
}

const SIGNS: Record<State, string> = { in: '●', outline: '◐', out: '○', none: '–' };
const WORDS: Record<State, string> = { in: 'in', outline: 'outline', out: 'out', none: 'not there' };

export function Mark({ state }: { state: State }) {
  return <span class={`state-mark ${state}`} aria-hidden="true">{SIGNS[state]}</span>;
}

// MessageButton is the line of a message: who, what and how much.
export function MessageButton({ side, row, children, states }: { side: Side; row: Row; states: State[]; children?: ComponentChildren }) {
  const candidate = row.at[side.index];
  const item = itemOfCandidate(side, candidate);
  return (
    <button type="button" class={`message ${states.every((state) => state === 'out' || state === 'none') ? 'is-out' : ''}`} onClick={() => openDetails(row.index)}>
      <span class="marks">{states.map((state) => <Mark state={state} />)}</span>
      <span class="unseen">{states.map((state, i) => `${states.length > 1 ? `${page.sides[i].letter}: ` : ''}${WORDS[state]}, `).join('')}</span>
      <KindChip kind={kindOfCandidate(side, candidate)} />
      <span class="speaker">{speakerOf(item)}</span>
      <span class="message-title"><Data text={titleOf(item)} limit={120} /></span>
      {children}
    </button>
  );
}

function Line({ side, row, unit, quiet }: { side: Side; row: Row; unit: Unit; quiet: boolean }) {
  const candidate = row.at[side.index];
  const state = stateOf(side, row);
  const item = page.items[row.item];
  const shown = shownItem(side, candidate);
  const told = isTold(side, row);
  const note = {
    in: item.pinned ? 'always kept' : null, outline: told ? 'in that outline' : 'outline', none: null,
    out: quiet ? null : <Data text={whyOut(side, candidate)} />,
  }[state];
  return (
    <>
      <MessageButton side={side} row={row} states={[state]}><span class="message-note">{note}</span><span class="number">{tokensText(side, row, unit)}</span></MessageButton>
      {state === 'outline' && !told && shown !== item && shown.content !== '' && <p class="outline-text"><Data text={shown.content.slice(0, 400).replace(/\s+/g, ' ')} limit={240} /></p>}
    </>
  );
}
