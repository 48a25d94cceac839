import { counted, grouped, scoreText } from './format';
import { itemOfCandidate, kindOfCandidate, moveTo, nearestStop, page, shownTokens, type Side } from './model';
import { openDetails } from './open';
import { filterByState, resort } from './filter';
import { Card, KindChip, LineText, Quiet, SideBadge, Still, useWidth } from './parts';
import { changed, view } from './state';

// The budget slider. Its positions are the computed budgets, so it shows only
// results of actual runs.

export function Budgets() {
  if (page.sides.every((side) => side.stops.length < 2)) return null;
  return (
    <section id="budget" class="budget" aria-label="Budget">
      {page.sides.map((side) => <BudgetOf side={side} />)}
      {page.sides.length === 2 && page.sides.every((side) => side.stops.length > 1) && (
        <label class="together">
          <input type="checkbox" id="together" checked={view.together} autocomplete="off" onChange={(event) => { view.together = event.currentTarget.checked; }} />
          {' Move both'}
        </label>
      )}
    </section>
  );
}

function BudgetOf({ side }: { side: Side }) {
  const { stops, stop } = side;
  const id = `slider-${side.index}`;
  if (stops.length < 2) return null; // a turn that was sent has one budget
  const back = () => {
    document.getElementById(id)?.focus(); // the button will be disabled and would lose the focus
    goTo(side, side.actual);
  };
  // The arrow keys of the field move from stop to stop, like the slider's.
  const step = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowUp' ? 1 : event.key === 'ArrowDown' ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    goTo(side, Math.min(stops.length - 1, Math.max(0, side.at + by)));
  };
  return (
    <div class="budget-side">
      <label for={id} class="budget-label"><SideBadge side={side} />Budget</label>
      <div class="slider-box">
        <Sweep side={side} />
        <input
          type="range" id={id} min="0" max={stops.length - 1} step="1" autocomplete="off" value={`${side.at}`}
          aria-valuetext={`${counted(stop.budget, 'token')}: ${summaryOf(side)}`} onInput={(event) => goTo(side, event.currentTarget.valueAsNumber)}
        />
      </div>
      <input
        type="number" class="budget-field" min={stops[0].budget} max={stops[stops.length - 1].budget} inputMode="numeric" autocomplete="off" value={`${stop.budget}`}
        aria-label={`Budget${side.alone ? '' : ` of ${side.letter}`} in tokens`} aria-describedby={`budget-summary-${side.index}`} onKeyDown={step}
        onChange={({ currentTarget: { valueAsNumber: wanted } }) => goTo(side, Number.isNaN(wanted) ? side.at : nearestStop(side, wanted))}
      />
      <Quiet onPress={back} disabled={stop.actual}>Back to the run</Quiet>
      {/* Not a live region: screen readers read the slider's own text at each step. */}
      <p class="summary" id={`budget-summary-${side.index}`}>{summaryOf(side)}</p>
    </div>
  );
}

// goTo changes the budget, and that of the other side if they are linked.
export function goTo(side: Side, at: number): void {
  moveTo(side, at);
  const other = page.sides[1 - side.index] as Side | undefined;
  if (other && other.stops.length > 1 && side.stops.length > 1 && view.together) moveTo(other, side.stop.actual ? other.actual : nearestStop(other, side.stop.budget));
  resort();
  changed(); // in any case: the field may hold a number that is not a stop
}

function summaryOf(side: Side): string {
  const { stop } = side;
  if (stop.error !== '') return 'the run fails';
  const window = `${counted(stop.window.length, 'item')}, ${counted(stop.tokens, 'token')}`;
  if (stop.actual) return `${window}: the run itself`;
  const reshaped = page.hasForms ? `, ${grouped(side.reshaped.length)} in another form` : '';
  return `${window}: ${grouped(side.came.length)} came, ${grouped(side.went.length)} went${reshaped}`;
}

const SWEEP_HEIGHT = 26;
const THUMB = 16; // as in the style sheet: a slider's ends are half a thumb inside its box

// Sweep draws the tokens used at every stop above the slider, to show which
// budgets make a difference.
function Sweep({ side }: { side: Side }) {
  const [box, boxWidth] = useWidth();
  const { stops } = side;
  const width = boxWidth - THUMB;
  const height = SWEEP_HEIGHT;
  const x = (i: number) => THUMB / 2 + width * i / (stops.length - 1);
  const lines = () => {
    const top = Math.max(1, ...stops.map((stop) => Math.max(stop.tokens, stop.budget)));
    const line = (values: number[]) => values.map((value, i) => `${i ? 'L' : 'M'}${x(i).toFixed(1)} ${(height - (height - 2) * Math.max(0, value) / top).toFixed(1)}`).join('');
    const used = line(stops.map((stop) => stop.tokens));
    return (
      <>
        <path class="sweep-area" d={`${used}L${x(stops.length - 1)} ${height}L${x(0)} ${height}Z`} />
        <path class="sweep-ceiling" d={line(stops.map((stop) => stop.budget))} />
        <path class="sweep-line" d={used} />
        <path class="sweep-actual" d={`M${x(side.actual)} 0V${height}`} />
      </>
    );
  };
  return (
    <div class="sweep" ref={box}>
      {stops.length > 1 && width > 0 && (
        <svg width={boxWidth} height={height} aria-hidden="true">
          <Still on={[width]}>{lines}</Still>
          <path class="sweep-here" d={`M${x(side.at)} 0V${height}`} />
        </svg>
      )}
    </div>
  );
}

const CHANGES_SHOWN = 8;

// Changes lists the items that came and went compared with the run.
export function Changes() {
  const hidden = page.sides.every((side) => side.stop.actual);
  return (
    <section id="changes" class="columns changes" aria-label="Changes at this budget" hidden={hidden}>
      {!hidden && page.sides.map((side) => (
        <Card title={`${side.alone ? '' : `${side.letter}: `}${counted(side.stop.budget, 'token')} instead of ${grouped(side.stops[side.actual].budget)}`} id={`changes-${side.index}`}>
          <ChangeList side={side} name="Came" mark="+" candidates={side.came} filter={`came:${side.index}`} />
          <ChangeList side={side} name="Went" mark="−" candidates={side.went} filter={`went:${side.index}`} />
          {page.hasForms && <ChangeList side={side} name="In another form" mark="±" candidates={side.reshaped} filter={`reshaped:${side.index}`} />}
        </Card>
      ))}
    </section>
  );
}

function ChangeList({ side, name, mark, candidates, filter }: { side: Side; name: string; mark: string; candidates: number[]; filter: string }) {
  const best = [...candidates].sort((a, b) => (side.rank[a] || Infinity) - (side.rank[b] || Infinity) || 0).slice(0, CHANGES_SHOWN);
  const tokens = candidates.reduce((sum, candidate) => sum + shownTokens(side, candidate), 0);
  return (
    <div class="change">
      <h4>{`${name}: ${counted(candidates.length, 'item')}, ${counted(tokens, 'token')}`}</h4>
      <ul>{best.map((candidate) => <li key={candidate}><ChangeButton side={side} candidate={candidate} mark={mark} /></li>)}</ul>
      {candidates.length > best.length && <Quiet onPress={() => filterByState(filter)}>{`All ${grouped(candidates.length)} in the table`}</Quiet>}
    </div>
  );
}

export function ChangeButton({ side, candidate, mark }: { side: Side; candidate: number; mark: string }) {
  const item = itemOfCandidate(side, candidate);
  return (
    <button type="button" class="line" onClick={() => openDetails(side.rowOf[candidate])}>
      <span class="mark-sign">{mark}</span><KindChip kind={kindOfCandidate(side, candidate)} />
      <span class="number">{grouped(shownTokens(side, candidate))}</span><span class="number">{scoreText(side.selection.scores[candidate])}</span><LineText item={item} />
    </button>
  );
}
