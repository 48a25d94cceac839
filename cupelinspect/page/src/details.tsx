import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { ChangeButton } from './budget';
import { counted, exact, grouped } from './format';
import { itemOfCandidate, page, tokensDiffer, whyOf, type Row, type Side } from './model';
import { dialog, openDetails } from './open';
import { Content, Copy, Data, KindChip, LongText, Quiet, SideBadge } from './parts';
import { changed, table, view } from './state';
import type { Item, Selection } from './wire';

// The details of one candidate, in a dialog. Escape closes it and restores the
// focus; the arrow keys move to the next row of the table.

const MEMBERS_SHOWN = 20;

export function Details() {
  const pressed = useRef<EventTarget | null>(null);
  const keys = (event: KeyboardEvent) => {
    if ((event.target as Element).closest('pre, .metadata')) return; // where the arrow keys scroll
    if (event.key === 'ArrowRight') stepDetails(1);
    if (event.key === 'ArrowLeft') stepDetails(-1);
  };
  // A press on the backdrop closes the dialog; selecting text past its edge
  // does not.
  const click = (event: MouseEvent) => {
    if (event.target === event.currentTarget && pressed.current === event.currentTarget) dialog().close();
  };
  const closed = () => {
    view.details = -1;
    changed();
  };
  return (
    <dialog id="details" class="drawer" aria-labelledby="details-title" onKeyDown={keys} onPointerDown={(event) => { pressed.current = event.target; }} onClick={click} onClose={closed}>
      {view.details >= 0 && <Drawer row={page.rows[view.details]} />}
    </dialog>
  );
}

function stepDetails(by: number): void {
  const at = table.shown.indexOf(view.details) + by;
  if (at >= 0 && at < table.shown.length) openDetails(table.shown[at]);
}

function Drawer({ row }: { row: Row }) {
  const item = page.items[row.item];
  const at = table.shown.indexOf(row.index);
  const step = (name: string, by: number, disabled: boolean) => <button type="button" class="quiet" disabled={disabled} data-step={by} onClick={() => stepDetails(by)}>{name}</button>;
  return (
    <div class="drawer-body">
      <div class="drawer-head">
        {step('Previous', -1, at <= 0)}
        {step('Next', 1, at < 0 || at === table.shown.length - 1)}
        <span class="soft">{at < 0 ? '' : `${grouped(at + 1)} of ${grouped(table.shown.length)}`}</span>
        <button type="button" class="close" onClick={() => dialog().close()}>Close</button>
      </div>
      {/* The focus does not start on a button: the Enter that opens the dialog would press it. */}
      <h2 id="details-title" tabIndex={-1} autofocus>
        <KindChip kind={page.kinds[page.kindOf[row.item]]} />{' '}<Data text={item.kind} limit={60} /><span class="soft">{` ${counted(item.tokens, 'token')}`}</span>
      </h2>
      <About key={row.index} row={row} item={item} />
    </div>
  );
}

function About({ row, item }: { row: Row; item: Item }) {
  return (
    <>
      {page.sides.map((side) => <Verdict row={row} side={side} />)}
      <h3>{'Content '}{item.content !== '' && <Copy text={() => item.content} />}</h3>
      <Content item={item} />
      <h3>Item</h3>
      <ItemFacts row={row} item={item} />
      {item.group && (
        <>
          <h3>In or out with</h3>
          <Members row={row} group={item.group} />
        </>
      )}
      <Metadata item={item} />
    </>
  );
}

// Verdict shows the decision on the candidate in a side.
function Verdict({ row, side }: { row: Row; side: Side }) {
  const candidate = row.at[side.index];
  const label = side.alone ? 'Verdict' : `Verdict of ${side.letter}`;
  if (candidate < 0) return <section class="verdict" aria-label={label}><p><SideBadge side={side} /> Not among the candidates.</p></section>;
  const { selection, stop } = side;
  const place = side.place[candidate];
  const score = selection.scores[candidate];
  const meaning = selection.meanings[side.code[candidate]] ?? '';
  const survivor = selection.survivor?.[candidate];
  return (
    <section class="verdict" aria-label={label}>
      <p class={place > 0 ? 'verdict-in' : 'verdict-out'}>
        <SideBadge side={side} /><strong>{place > 0 ? `${grouped(place)} of ${grouped(stop.window.length)} in the prompt` : 'Left out'}</strong>{side.form[candidate] > 0 && ', cut'}
        {place === 0 && meaning !== '' && `: ${meaning}`}
        {stop.actual ? null : ` with a budget of ${grouped(stop.budget)}`}
      </p>
      <p class="why"><Data text={whyOf(side, candidate)} limit={2000} /></p>
      {survivor !== undefined && <Quiet onPress={() => openDetails(side.rowOf[survivor])}>{side.stale.has(candidate) ? 'Show the newest version' : 'Show the copy that was kept'}</Quiet>}
      <dl class="facts">
        <Fact name={itemOfCandidate(side, candidate).group ? 'Score of the group' : 'Score'}>{exact(score)}</Fact>
        <Fact name="Rank">{side.rank[candidate] > 0 ? `${grouped(side.rank[candidate])} of ${grouped(side.n)}` : 'none'}</Fact>
      </dl>
      {selection.parts.length > 0 && score !== null && <Parts selection={selection} candidate={candidate} />}
    </section>
  );
}

// Members lists the other candidates of a group, which are in or out with this
// one.
function Members({ row, group }: { row: Row; group: string }) {
  const side = page.sides.find(({ index }) => row.at[index] >= 0) ?? page.sides[0];
  const others = page.rows.filter((other) => other !== row && page.items[other.item].group === group && other.at[side.index] >= 0).map((other) => other.at[side.index]);
  const shown = others.slice(0, MEMBERS_SHOWN);
  return (
    <ul class="members">
      {shown.map((candidate) => <li><ChangeButton side={side} candidate={candidate} mark={side.place[candidate] > 0 ? '+' : '−'} /></li>)}
      {others.length > shown.length && <li class="soft">{`and ${counted(others.length - shown.length, 'more item')}`}</li>}
    </ul>
  );
}

function Fact({ name, children }: { name: ComponentChildren; children: ComponentChildren }) {
  return <><dt>{name}</dt><dd>{children}</dd></>;
}

// Parts shows how the parts of a composite add up to its score.
function Parts({ selection, candidate }: { selection: Selection; candidate: number }) {
  const weights = selection.parts.reduce((sum, part) => sum + part.weight, 0);
  return (
    <table class="plain parts">
      <caption class="unseen">Parts of the score</caption>
      <thead><tr><th scope="col">Part</th><th scope="col" class="number">Weight</th><th scope="col" class="number">Score</th><th scope="col">Share</th></tr></thead>
      <tbody>
        {selection.parts.map(({ name, weight, scores }) => (
          <tr>
            <th scope="row"><Data text={name} limit={60} /></th><td class="number">{exact(weight)}</td><td class="number">{exact(scores[candidate])}</td>
            <td><span class="share-box"><span class="share" style={{ width: `${Math.min(100, Math.max(0, 100 * (scores[candidate] ?? 0) * weight / weights))}%` }} /></span></td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function ItemFacts({ row, item }: { row: Row; item: Item }) {
  const sides = page.sides.filter((side) => row.at[side.index] >= 0);
  return (
    <dl class="facts">
      <Fact name="Source"><Data text={item.source} /></Fact>
      {tokensDiffer([row])
        ? sides.map((side) => <Fact name={`Tokens in ${side.letter}`}>{grouped(itemOfCandidate(side, row.at[side.index]).tokens)}</Fact>)
        : <Fact name="Tokens">{grouped(item.tokens)}</Fact>}
      <Fact name="Pinned">{item.pinned ? 'yes' : 'no'}</Fact>
      {item.priority !== undefined && <Fact name="Priority">{grouped(item.priority)}</Fact>}
      {item.hint !== undefined && <Fact name="Relevance hint">{exact(item.hint)}</Fact>}
      {item.timestamp && <Fact name="Timestamp"><Data text={item.timestamp} limit={80} /></Fact>}
      {item.versionOf && <Fact name="Version of"><Data text={item.versionOf} /></Fact>}
      {item.group && <Fact name="Group"><Data text={item.group} /></Fact>}
      {item.tags && item.tags.length > 0 && <Fact name="Tags"><span>{item.tags.map((tag) => <span class="tag"><Data text={tag} limit={60} /></span>)}</span></Fact>}
      {sides.map((side) => <Fact name={side.alone ? 'Candidate' : `Candidate of ${side.letter}`}>{`${grouped(row.at[side.index] + 1)} of ${grouped(side.n)}`}</Fact>)}
    </dl>
  );
}

function Metadata({ item }: { item: Item }) {
  const entries = Object.entries(item.metadata ?? {});
  if (entries.length === 0) return null;
  return (
    <>
      <h3>Metadata</h3>
      <dl class="facts metadata">
        {entries.map(([key, value]) => (
          <Fact name={<Data text={key} limit={80} />}><div><LongText inline limit={2000} text={value} /></div></Fact>
        ))}
      </dl>
    </>
  );
}
