import { UnitBadges } from './columns';
import { counted, grouped, scoreText } from './format';
import { isOnlyHere, kindOfCandidate, page, shownItem, type Side } from './model';
import { openDetails } from './open';
import { Card, Content, Data, KindChip, titled } from './parts';
import { calm, changed, view } from './state';

// The window as it will be sent: contents in prompt order, one page at a time.

const TEXTS_SHOWN = 40;
const TEXT_CUT = 1200;

export function Texts({ side }: { side: Side }) {
  const { window } = side.stop;
  if (view.from[side.index] >= window.length) view.from[side.index] = 0;
  const from = view.from[side.index];
  const shown = window.slice(from, from + TEXTS_SHOWN);
  return (
    <Card title={titled(side, 'As it will be sent')} id={`text-title-${side.index}`}>
      <div class="pager" id={`pager-${side.index}`}>{window.length > TEXTS_SHOWN && <Pager side={side} from={from} />}</div>
      <ol class="texts" id={`texts-${side.index}`} start={from + 1}>
        {shown.map((candidate, i) => <Text key={candidate} side={side} candidate={candidate} position={from + i} />)}
        {shown.length === 0 && <li><p class="empty">The window is empty at this budget.</p></li>}
      </ol>
    </Card>
  );
}

function Text({ side, candidate, position }: { side: Side; candidate: number; position: number }) {
  const item = shownItem(side, candidate);
  const kind = kindOfCandidate(side, candidate);
  const row = side.rowOf[candidate];
  return (
    <li class={`text k${kind.slot}`} data-position={position} data-row={row}>
      <button type="button" class="line" title="Details" onClick={() => openDetails(row)}>
        <span class="number soft">{grouped(position + 1)}</span><KindChip kind={kind} /><Data text={kind.name} limit={40} />
        <span class="soft">{`${counted(item.tokens, 'token')}, ${item.pinned ? 'pinned' : `score ${scoreText(side.selection.scores[candidate])}`}`}</span>
        <UnitBadges side={side} candidate={candidate} />
        {!side.alone && isOnlyHere(page.rows[row], side) && <span class={`only side-${side.index}`}>{`only in ${side.letter}`}</span>}
      </button>
      <Content item={item} limit={TEXT_CUT} scrolls={false} />
    </li>
  );
}

function Pager({ side, from }: { side: Side; from: number }) {
  const n = side.stop.window.length;
  const to = Math.min(n, from + TEXTS_SHOWN);
  const turn = (by: number) => {
    view.from[side.index] += by;
    changed();
    document.getElementById(`texts-${side.index}`)?.scrollTo(0, 0);
    // A button that is disabled now gives the focus to the other one.
    const pager = document.getElementById(`pager-${side.index}`);
    (pager?.querySelector<HTMLElement>(`[data-by="${by}"]:enabled`) ?? pager?.querySelector<HTMLElement>(':enabled'))?.focus();
  };
  return (
    <>
      <button type="button" class="quiet" disabled={from === 0} data-by={-TEXTS_SHOWN} onClick={() => turn(-TEXTS_SHOWN)}>Earlier</button>
      <span class="soft">{`${grouped(from + 1)} to ${grouped(to)} of ${grouped(n)}`}</span>
      <button type="button" class="quiet" disabled={to === n} data-by={TEXTS_SHOWN} onClick={() => turn(TEXTS_SHOWN)}>Later</button>
    </>
  );
}

// showTextOf scrolls the text of a position into view within its list, but
// never scrolls the page.
export function showTextOf(side: Side, position: number): void {
  const from = view.from[side.index];
  if (position < from || position >= from + TEXTS_SHOWN) {
    view.from[side.index] = Math.floor(position / TEXTS_SHOWN) * TEXTS_SHOWN;
    changed();
  }
  const list = document.getElementById(`texts-${side.index}`);
  const entry = list?.querySelector<HTMLElement>(`[data-position="${position}"]`);
  if (list && entry) list.scrollTo({ top: entry.offsetTop - list.offsetTop, behavior: calm.matches ? 'auto' : 'smooth' });
}
