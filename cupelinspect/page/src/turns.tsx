import { resort } from './filter';
import { counted, grouped } from './format';
import { page, read, tokensOf } from './model';
import { Data } from './parts';
import { keptPrefix, nameOf, turnOf, type Prefix, type Turn } from './session';
import { changed, table, view } from './state';
import { newestOf } from './story';
import type { Selection, Source } from './wire';

// All selections of a page that has more than two, such as the turns of a session:
// a line each, with what was kept from the one before, the reason of a break and its
// price. Two are chosen, and the rest of the page compares them.

interface Entry {
  selection: Selection;
  turn: Turn;
  tokens: number;
  kept: Prefix;
}

export function Turns({ source }: { source: Source }) {
  const { items, selections } = source;
  const entries = selections.map((selection, i): Entry => ({
    selection, turn: turnOf(selection), tokens: tokensOf(selection, items),
    kept: i === 0 ? { items: 0, tokens: 0 } : keptPrefix(items, selections[i - 1], selection),
  }));
  const most = Math.max(1, ...entries.map(({ tokens }) => tokens));
  const choose = (side: 0 | 1, at: number) => {
    const shown = [...page.shown];
    if (shown[1 - side] === at) shown[1 - side] = shown[side]; // they trade places
    shown[side] = at;
    read(source, shown);
    Object.assign(view, { state: 'all', kind: -1, details: -1, from: 0, open: newestOf(), unfolded: new Set() });
    Object.assign(table, { sort: 'place-0', direction: 'ascending', top: 0, active: 0 });
    resort();
    changed();
  };
  return (
    <section class="card turns" aria-labelledby="turns-title">
      <h2 id="turns-title">{entries.some(({ turn }) => turn.number > 0) ? 'The turns' : 'The selections'}</h2>
      <p class="lead">{leadOf(entries)}</p>
      <p class="legend-line soft"><span class="turn-sample turn-kept" /> sent before, and kept <span class="turn-sample turn-new" /> new. Choose A and B to compare two; they are below.</p>
      <ol>
        {entries.map((entry, i) => (
          <li class={`turn ${entry.turn.broke ? 'broke' : ''}`}>
            <span class="turn-choice">
              {([0, 1] as const).map((side) => (
                <label class={`side-${side} ${page.shown[side] === i ? 'chosen' : ''}`}>
                  <input type="radio" autocomplete="off" name={`turn-${side}`} checked={page.shown[side] === i} aria-label={`${'AB'.charAt(side)}: ${nameOf(entry.selection, i)}`} onChange={() => choose(side, i)} />
                  <span aria-hidden="true">{'AB'.charAt(side)}</span>
                </label>
              ))}
            </span>
            <b class="turn-name"><Data text={nameOf(entry.selection, i)} limit={40} /></b>
            <span class="turn-bar" aria-hidden="true">
              <span class="turn-kept" style={{ width: `${100 * entry.kept.tokens / most}%` }} />
              <span class="turn-new" style={{ width: `${100 * (entry.tokens - entry.kept.tokens) / most}%` }} />
            </span>
            <span class="number">{grouped(entry.tokens)}</span>
            <span class="turn-note">{noteOf(entry, i)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function leadOf(entries: Entry[]): string {
  const breaks = entries.filter(({ turn }) => turn.broke).map(({ turn }) => turn.number);
  if (entries.every(({ turn }) => turn.number === 0)) return `${counted(entries.length, 'selection')}, and what each keeps of the one before.`;
  const at = breaks.length === 0 ? 'none broke the prefix that was sent' : `${counted(breaks.length, 'break')}, at ${breaks.length === 1 ? 'turn' : 'turns'} ${breaks.slice(0, 12).join(', ')}${breaks.length > 12 ? ' and more' : ''}`;
  const prices = entries.map(({ turn }) => turn.price).filter((price) => !Number.isNaN(price));
  const sum = prices.reduce((total, price) => total + price, 0);
  return `${counted(entries.length, 'turn')}; ${at}${prices.length > 0 ? `; all cost as much as ${counted(sum, 'token')} of plain input` : ''}.`;
}

function noteOf({ turn, kept, tokens }: Entry, at: number) {
  const price = Number.isNaN(turn.price) ? '' : ` Costs as much as ${grouped(turn.price)}.`;
  if (at === 0) return `The first.${price}`;
  const share = kept.tokens === tokens ? 'Keeps all' : `Keeps ${counted(kept.items, 'item')}, ${counted(kept.tokens, 'token')}`;
  if (turn.reason === '') return `${share}.${price}`;
  return <>{`${share}. `}<strong>{turn.broke ? 'Break' : 'Chosen again'}</strong>{`: ${turn.why}.${price}`}</>;
}
