import { useMemo } from 'preact/hooks';
import { goTo } from './budget';
import { counted, grouped, plain } from './format';
import { isInAt, page, sentOf, type Row, type Side } from './model';
import { goToRow } from './open';
import { Data, Quiet, SideBadge } from './parts';
import { nameOf } from './session';
import { changed, view } from './state';
import { inOrder, isConversation, numberOf, speakerOf, stateOf, titleOf, whyOut } from './story';

// The search for a value, such as a path or a number: each place of it, what became of
// it there, and the budget that keeps it.

const HITS_SHOWN = 40;
const AROUND = 40; // characters

// patternOf finds a value in any case; an asterisk stands for what has no space.
export function patternOf(value: string): RegExp | null {
  const text = value.trim();
  if (text.replaceAll('*', '') === '') return null;
  return new RegExp(text.slice(0, 500).replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/\*+/g, '[^\\s]*'), 'gi');
}

function times(text: string, pattern: RegExp): number {
  let n = 0;
  for (const found of text.matchAll(pattern)) if (found[0] !== '') n++;
  return n;
}

interface Hit {
  row: Row;
  of: number; // times in the full text
  sent: number[]; // by side
}

export function Search() {
  const pattern = patternOf(view.fact);
  const hits = useMemo(() => (pattern ? hitsOf(pattern) : []), [view.fact, ...page.sides.map((side) => side.at), page.rows]);
  const input = (value: string) => {
    view.fact = value;
    changed();
  };
  return (
    <section class="card search" role="search" aria-label="Where a value went">
      <label>
        <span>Where did it go?</span>
        <input
          type="search" id="fact" placeholder="a path, a number, an error … (/)" autocomplete="off" spellcheck={false} aria-keyshortcuts="/" value={view.fact}
          onInput={(event) => input(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') input('');
            if (event.key === 'Enter' && hits.length > 0) {
              event.preventDefault();
              goToRow(hits[0].row);
            }
          }}
        />
      </label>
      <output class="search-summary" for="fact" aria-live="polite">{pattern && <Summary hits={hits} pattern={pattern} />}</output>
      {hits.length > 0 && pattern && (
        <ol class="hits">
          {hits.slice(0, HITS_SHOWN).map((hit) => <HitLine key={hit.row.index} hit={hit} pattern={pattern} />)}
          {hits.length > HITS_SHOWN && <li class="soft">{`and ${grouped(hits.length - HITS_SHOWN)} more`}</li>}
        </ol>
      )}
    </section>
  );
}

// hitsOf lists the messages that have the value: those that lost it first, and the
// newest first.
function hitsOf(pattern: RegExp): Hit[] {
  const hits: Hit[] = [];
  for (const row of inOrder(page.sides)) {
    const of = times(page.items[row.item].content, pattern);
    const sent = page.sides.map((side) => {
      const candidate = row.at[side.index];
      if (candidate < 0 || side.place[candidate] === 0) return 0;
      return side.form[candidate] > 0 ? times(sentOf(page.items, side.selection, candidate, side.form[candidate]), pattern) : of;
    });
    if (of > 0 || sent.some((n) => n > 0)) hits.push({ row, of, sent });
  }
  if (isConversation()) hits.reverse();
  const isSent = (hit: Hit) => Number(hit.sent.every((n) => n > 0));
  return hits.sort((a, b) => isSent(a) - isSent(b));
}

function Summary({ hits, pattern }: { hits: Hit[]; pattern: RegExp }) {
  if (hits.length === 0) return <p>{`“${plain(view.fact.trim(), 80)}” does not occur in this file.`}</p>;
  return (
    <>
      {page.sides.map((side, i) => {
        const sent = hits.filter((hit) => hit.sent[i] > 0).length;
        const cut = hits.filter((hit) => hit.sent[i] === 0 && stateOf(side, hit.row) === 'outline').length;
        const out = hits.filter((hit) => stateOf(side, hit.row) === 'out').length;
        const stop = sent > 0 ? -1 : Math.min(...hits.map((hit) => firstWith(side, hit.row, pattern)));
        return (
          <p>
            <SideBadge side={side} />{`In ${counted(hits.length, isConversation() ? 'message' : 'candidate')}; `}
            <strong class={sent > 0 ? 'state-in' : 'state-out'}>{sent === 0 ? 'it was not sent' : sent === hits.length ? 'sent from each' : `sent from ${grouped(sent)}`}</strong>
            {cut > 0 && `, lost from ${grouped(cut)} that ${cut === 1 ? 'was' : 'were'} cut`}{out > 0 && `, ${grouped(out)} ${out === 1 ? 'is' : 'are'} out`}
            {stop >= 0 && stop < side.stops.length && <>{'. It is sent from '}<button type="button" class="link" onClick={() => goTo(side, stop)}>{counted(side.stops[stop].budget, 'token')}</button> on the slider</>}
            {stop === Infinity && side.stops.length > 1 && '. No budget on the slider keeps it'}.
          </p>
        );
      })}
      {page.all.length > 2 && <p>{turnsText(pattern)}</p>}
    </>
  );
}

// firstWith is the smallest budget at which a message is sent with the value, or
// Infinity.
function firstWith(side: Side, row: Row, pattern: RegExp): number {
  const candidate = row.at[side.index];
  const known = new Map<number, boolean>(); // by form
  const at = candidate < 0 ? -1 : side.stops.findIndex((stop) => {
    if (!isInAt(stop, candidate)) return false;
    const form = stop.form[candidate] ?? 0;
    const has = known.get(form) ?? times(sentOf(page.items, side.selection, candidate, form), pattern) > 0;
    known.set(form, has);
    return has;
  });
  return at < 0 ? Infinity : at;
}

// turnsText says at which turns of a session the value was sent.
function turnsText(pattern: RegExp): string {
  const has = page.all.map((selection) => selection.window.some((candidate) => times(sentOf(page.items, selection, candidate, selection.form?.[candidate] ?? 0), pattern) > 0));
  const names = (sent: boolean) => page.all.map((selection, i) => (has[i] === sent ? nameOf(selection, i) : '')).filter(Boolean).join(', ');
  return `Sent in: ${plain(names(true) || 'none', 400)}. Not sent in: ${plain(names(false) || 'none', 400)}.`;
}

function HitLine({ hit: { row, of, sent }, pattern }: { hit: Hit; pattern: RegExp }) {
  const item = page.items[row.item];
  return (
    <li>
      <button type="button" class="hit" onClick={() => goToRow(row)}>
        <span class="number soft">{grouped(numberOf(row))}</span> <b>{speakerOf(item)}</b> <span class="message-title"><Data text={titleOf(item)} limit={80} /></span>
        <span class="hit-text"><Data text={aroundOf(item.content, pattern)} limit={160} /></span>
      </button>
      {page.sides.map((side, i) => <FateOf side={side} row={row} of={of} sent={sent[i]} pattern={pattern} />)}
    </li>
  );
}

function FateOf({ side, row, of, sent, pattern }: { side: Side; row: Row; of: number; sent: number; pattern: RegExp }) {
  const state = stateOf(side, row);
  const count = of > 1 ? `${grouped(sent)} of ${grouped(of)} times` : '';
  const said = {
    in: 'sent whole', outline: sent === 0 ? 'lost when the message was cut' : `sent ${count || 'in the outline'}`,
    out: `out: ${whyOut(side, row.at[side.index])}`, none: 'not there',
  }[state];
  const stop = sent > 0 ? Infinity : firstWith(side, row, pattern);
  return (
    <span class="fate-of">
      <SideBadge side={side} /><span class={sent > 0 ? 'state-in' : 'state-out'}><Data text={said} /></span>
      {stop < side.stops.length && <>{' '}<Quiet onPress={() => goTo(side, stop)}>{`Keep it with ${grouped(side.stops[stop].budget)}`}</Quiet></>}
    </span>
  );
}

function aroundOf(content: string, pattern: RegExp): string {
  const at = content.search(new RegExp(pattern.source, 'i'));
  if (at < 0) return '';
  return `${at > AROUND ? '…' : ''}${content.slice(Math.max(0, at - AROUND), at + 2 * AROUND).replace(/\s+/g, ' ')}`;
}
