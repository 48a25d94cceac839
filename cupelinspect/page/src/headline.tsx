import { counted, grouped } from './format';
import { page, sentOf, type Side } from './model';
import { Copy, Data, SideBadge, Still } from './parts';
import { nameOf } from './session';
import { countsOf, isConversation, keptOf } from './story';

// The first thing to read: how many tokens there were and are, what became of the
// messages, and the price.

export function Headline({ side }: { side: Side }) {
  const { selection, stop } = side;
  const counts = countsOf(side);
  const id = `selection-${side.index}`;
  const noun = isConversation() ? 'message' : 'candidate';
  const share = counts.before > 0 ? ` (${(100 * stop.tokens / counts.before).toFixed(0)}%)` : '';
  const states = ([['in', counts.in, 'whole'], ['outline', counts.outline, 'cut'], ['out', counts.out, 'out']] as const).filter(([, n]) => n > 0);
  const sent = selection.request && stop.actual ? 'Copy request' : 'Copy what is sent';
  return (
    <section class="card headline" aria-labelledby={id}>
      <h2 id={id}><SideBadge side={side} /><Data text={selection.session ? nameOf(selection, side.index) : selection.name || 'Selection'} /></h2>
      <p class="banner bad" role="alert" hidden={stop.error === ''}>
        {stop.error !== '' && <span><strong>{stop.actual ? 'The run failed. ' : 'At this budget the run fails. '}</strong><Data text={stop.error} limit={2000} /></span>}
      </p>
      <p class="lead"><strong>{`${grouped(counts.before)} → ${grouped(stop.tokens)}`}</strong>{` tokens${share}, with a budget of ${grouped(stop.budget)}`}</p>
      <p class="counts">
        {`${counted(side.n, noun)}: `}
        {states.map(([state, n, text], i) => <>{i > 0 && ', '}<span class={`state-${state}`}>{`${grouped(n)} ${text}`}</span></>)}
        {isConversation() && stop.window.length > 0 && counts.out + counts.outline > 0 && `; ${keptOf(side)}`}{'.'}
      </p>
      <p class="cost">
        {`The price: ${counted(Math.max(0, counts.before - stop.tokens), 'token')} of the input ${isConversation() ? 'the model does not see' : 'are left out'}.`}
        {selection.session && <>{' '}<Data text={selection.session} limit={400} /></>}
      </p>
      {[selection.overflowed, ...(selection.shortfalls ?? [])].map((note) => note && <p class="banner warn"><Data text={note} /></p>)}
      {stop.window.length > 0 && <Still on={[sent]}>{() => <Copy text={() => requestOf(side)} name={sent} />}</Still>}
    </section>
  );
}

// requestOf is the body that was sent or, where the page has none, the texts in the
// order of the prompt.
function requestOf(side: Side): string {
  const { request } = side.selection;
  if (request && side.stop.actual) return request;
  return side.stop.window.map((candidate) => sentOf(page.items, side.selection, candidate, side.form[candidate])).filter(Boolean).join('\n\n');
}
