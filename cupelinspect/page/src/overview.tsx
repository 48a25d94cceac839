import { counted, durationText, grouped, percent, plain } from './format';
import { kindOfCandidate, itemOfCandidate, page, shownTokens, spendableOf, type Kind, type Side } from './model';
import { filterByKind } from './filter';
import { Card, Data, KindChip, titled } from './parts';
import { view } from './state';
import type { Budget } from './wire';

// The strategies of each side, and the budget used by each kind.

export function Overview({ side }: { side: Side }) {
  const shares = sharesOf(side);
  return (
    <Card title={titled(side, 'Budget and policy')} id={`overview-${side.index}`}>
      <div class="overview">
        <Policy side={side} /><Figures side={side} shares={shares} />
        <Bar side={side} shares={shares} />
        <Legend side={side} shares={shares} />
      </div>
    </Card>
  );
}

function Policy({ side: { selection } }: { side: Side }) {
  const { scorer, slicer, placer, deduplicate, overflow, session } = selection;
  const known = scorer || slicer || placer;
  const list: [string, string | undefined][] = [
    ['Scorer', scorer], ['Slicer', slicer], ['Placer', placer],
    ['Duplicates', known && (deduplicate ? 'left out' : 'kept')], ['Overflow', overflow], ['Session', session],
  ];
  return <dl class="policy">{list.map(([name, value]) => value && <div><dt>{name}</dt><dd><Data text={value} /></dd></div>)}</dl>;
}

interface Share {
  kind: Kind;
  items: number;
  tokens: number;
  of: number;
  ofTokens: number;
}

interface Shares {
  kinds: Share[];
  shown: Share[]; // that bar and legend name
  others: number;
  reserve: number;
  spendable: number;
  free: number;
  beyond: number;
  total: number;
}

// sharesOf splits the budget into the tokens each kind uses and the rest. A
// failed or overflowing run can use more than the budget; the bar is then
// scaled to the sum of the parts.
function sharesOf(side: Side): Shares {
  const { stop, selection } = side;
  const kinds = page.kinds.map((kind): Share => ({ kind, items: 0, tokens: 0, of: 0, ofTokens: 0 }));
  for (let i = 0; i < side.n; i++) {
    const share = kinds[page.kindOf[selection.candidates[i]]];
    share.of++;
    share.ofTokens += itemOfCandidate(side, i).tokens;
    if (side.place[i] > 0) {
      share.items++;
      share.tokens += shownTokens(side, i);
    }
  }
  const reserve = Math.min(selection.budget.outputReserve, stop.budget);
  const spendable = spendableOf(side);
  const rest = Math.max(0, stop.budget - reserve - stop.tokens);
  const free = Math.min(rest, Math.max(0, spendable - stop.tokens));
  const shown = largestKinds(side, kinds);
  const others = kinds.reduce((sum, share) => sum + (shown.includes(share) ? 0 : share.tokens), 0);
  return { kinds, shown, others, reserve, spendable, free, beyond: rest - free, total: Math.max(stop.budget, stop.tokens + reserve) };
}

const LEGEND_KINDS = 16;

// largestKinds are the kinds that bar and legend name. They are the largest of
// the run at every budget, so that nothing moves with the slider.
function largestKinds(side: Side, shares: Share[]): Share[] {
  const present = shares.filter((share) => share.of > 0);
  if (present.length <= LEGEND_KINDS) return present;
  const inRun = new Float64Array(shares.length);
  for (const candidate of side.stops[side.actual].window) inRun[kindOfCandidate(side, candidate).index] += itemOfCandidate(side, candidate).tokens;
  const size = ({ kind }: Share) => inRun[kind.index];
  const largest = new Set([...present].sort((a, b) => size(b) - size(a) || b.ofTokens - a.ofTokens).slice(0, LEGEND_KINDS));
  return present.filter((share) => largest.has(share));
}

function Figures({ side, shares }: { side: Side; shares: Shares }) {
  const { stop, selection } = side;
  const all = shares.kinds.reduce((sum, share) => sum + share.ofTokens, 0);
  const longest = [...selection.stages].sort((a, b) => b.duration - a.duration).at(0);
  const figures = [
    [grouped(stop.tokens), 'Tokens in the window', `${percent(stop.tokens, shares.spendable)} of ${grouped(shares.spendable)} available`],
    [grouped(stop.window.length), 'Items in the window', `of ${counted(side.n, 'candidate')}, ${counted(all, 'token')}`],
    [grouped(stop.budget), 'Budget', budgetNote(selection.budget, stop.target)],
    [durationText(selection.total), 'Run', !stop.actual ? 'at the budget of the run' : longest ? `longest: ${plain(longest.name, 40)}` : ''],
  ];
  return <dl class="figures">{figures.map(([value, name, note]) => <div><dt>{name}</dt><dd><strong>{value}</strong> <span class="soft">{note}</span></dd></div>)}</dl>;
}

function budgetNote(budget: Budget, target: number): string {
  const notes = [`target ${grouped(target)}`];
  if (budget.outputReserve > 0) notes.push(`answer ${grouped(budget.outputReserve)}`);
  if (budget.margin > 0) notes.push(`margin ${budget.margin}%`);
  for (const [kind, tokens] of Object.entries(budget.reservedSlots ?? {})) notes.push(`${plain(kind, 40)} keeps ${grouped(tokens)}`);
  return notes.join(', ');
}

function Bar({ side, shares }: { side: Side; shares: Shares }) {
  const piece = (tokens: number, name: string, letter: string) => tokens > 0
    && <span key={name} class={`piece ${name}`} style={{ width: `${100 * tokens / shares.total}%` }}>{tokens / shares.total > 0.025 ? letter : null}</span>;
  const used = shares.shown.filter((share) => share.tokens > 0);
  const label = `Of ${counted(side.stop.budget, 'token')}: ${used.map((share) => `${plain(share.kind.name, 40)} ${grouped(share.tokens)}`).join(', ')}`
    + (shares.others > 0 ? `, other kinds ${grouped(shares.others)}` : '')
    + `; free ${grouped(shares.free)}; ${heldBackBy(side).toLowerCase()} ${grouped(shares.beyond)}; for the answer ${grouped(shares.reserve)}.`;
  return (
    <div class="bar" role="img" aria-label={label}>
      {used.map((share) => piece(share.tokens, `k${share.kind.slot}`, share.kind.letter))}
      {piece(shares.others, 'others', '')}
      {piece(shares.free, 'free', '')}
      {piece(shares.beyond, 'beyond', '')}
      {piece(shares.reserve, 'reserve', '')}
    </div>
  );
}

// heldBackBy names the settings that keep the slicer from the rest of the
// budget.
function heldBackBy({ stop, selection: { budget } }: Side): string {
  const reasons = [
    ...(stop.target < stop.budget - budget.outputReserve ? ['target'] : []),
    ...(budget.margin > 0 ? ['margin'] : []),
    ...(Object.keys(budget.reservedSlots ?? {}).length > 0 ? ['slots'] : []),
  ];
  return reasons.length === 0 || reasons.join() === 'target' ? 'Beyond the target' : `Held back: ${reasons.join(', ')}`;
}

// The legend shows the colours and exact numbers, and filters the table.
function Legend({ side, shares }: { side: Side; shares: Shares }) {
  const whole = side.stop.budget;
  const more = shares.kinds.filter((share) => share.of > 0).length - shares.shown.length;
  const numbers = (note: string, tokens: number) => (
    <>
      <span class="soft">{note}</span><span class="number">{grouped(tokens)}</span><span class="number soft">{percent(tokens, whole)}</span>
    </>
  );
  const rest = (name: string, title: string, tokens: number, show = tokens > 0) => show
    && <li key={name}><div><span class={`chip ${name}`} /><span class="legend-name">{title}</span>{numbers('', tokens)}</div></li>;
  return (
    <ul class="legend">
      {shares.shown.map(({ kind, items, of, tokens }) => (
        <li key={kind.index}>
          <button
            type="button" data-kind={kind.index} aria-pressed={view.kind === kind.index}
            title={`${grouped(items)} of ${counted(of, 'candidate')} in the window; press to show only these`}
            onClick={() => filterByKind(view.kind === kind.index ? -1 : kind.index)}
          >
            <KindChip kind={kind} /><span class="legend-name"><Data text={kind.name} limit={40} /></span>{numbers(`${grouped(items)}/${grouped(of)}`, tokens)}
          </button>
        </li>
      ))}
      {rest('others', counted(more, 'more kind'), shares.others, more > 0)}
      {rest('free', 'Free', shares.free, true)}
      {rest('beyond', heldBackBy(side), shares.beyond)}
      {rest('reserve', 'For the answer', shares.reserve)}
    </ul>
  );
}
