import { filterByState, reasonCounts } from './filter';
import { durationText, grouped } from './format';
import type { Side } from './model';
import { Card, Data, titled } from './parts';

// The run: how often each reason occurs, and the time of each stage.

const NUMBERS = ['Items', 'Tokens', 'In', 'Out', 'Time'];

function Head({ names }: { names: string[] }) {
  return <thead><tr>{names.map((name) => <th scope="col" class={NUMBERS.includes(name) ? 'number' : undefined}>{name}</th>)}</tr></thead>;
}

export function Reasons({ side }: { side: Side }) {
  const id = `reasons-${side.index}`;
  const counts = reasonCounts(side).filter((count) => count.items > 0);
  return (
    <Card title={titled(side, 'Reasons')} id={id}>
      <table class="plain" aria-labelledby={id}>
        <Head names={['Reason', 'State', 'Items', 'Tokens']} />
        <tbody>
          {counts.map(({ code, name, items, tokens, in: taken }) => (
            <tr>
              <th scope="row">
                <button type="button" class="link" title="Show these candidates" onClick={() => filterByState(`code:${side.index}:${code}`)}><Data text={name || 'unknown'} limit={80} /></button>
              </th>
              <td><span class={taken > 0 ? 'state in' : 'state'}>{taken > 0 ? 'in' : 'out'}</span>{taken === 0 && <span class="soft">{` ${side.selection.meanings[code] ?? ''}`}</span>}</td>
              <td class="number">{grouped(items)}</td><td class="number">{grouped(tokens)}</td>
            </tr>
          ))}
          {counts.length === 0 && <tr><td colSpan={4} class="soft">There were no candidates.</td></tr>}
        </tbody>
      </table>
    </Card>
  );
}

// Stages draws the start and duration of each stage to scale. Times are always
// those of the run, not of the current budget.
export function Stages({ side }: { side: Side }) {
  const { stages, total } = side.selection;
  const id = `stages-${side.index}`;
  const whole = Math.max(1, total, ...stages.map((stage) => stage.start + stage.duration));
  return (
    <Card title={titled(side, 'Stages')} id={id}>
      {stages.length === 0 ? <p class="empty">The times of this run are unknown.</p> : (
        <table class="plain stages" aria-labelledby={id}>
          <Head names={['Stage', 'In', 'Out', 'Time', 'When']} />
          <tbody>
            {stages.map((stage) => (
              <tr>
                <th scope="row"><Data text={stage.name} limit={60} /></th><td class="number">{grouped(stage.in)}</td><td class="number">{grouped(stage.out)}</td>
                <td class="number">{durationText(stage.duration)}</td>
                <td class="timeline"><span class="time-bar" style={{ marginInlineStart: `${100 * stage.start / whole}%`, width: `${100 * stage.duration / whole}%` }} /></td>
              </tr>
            ))}
            <tr class="total"><th scope="row">Run</th><td /><td /><td class="number">{durationText(total)}</td><td /></tr>
          </tbody>
        </table>
      )}
    </Card>
  );
}
