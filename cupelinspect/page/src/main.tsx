import { Fragment, render } from 'preact';
import { useState } from 'preact/hooks';
import { Budgets, Changes } from './budget';
import { Comparison } from './compare';
import { Conversation } from './conversation';
import { Details } from './details';
import { foldWhenIdle, resort } from './filter';
import { counted } from './format';
import { WindowMap } from './map';
import { page, read, type Side } from './model';
import { Overview } from './overview';
import { Data, Still } from './parts';
import { Plot } from './plot';
import { Reasons, Stages } from './run';
import { drawsWith, view } from './state';
import { isConversation, leadOf } from './story';
import { Candidates, showPartsIfTheyFit } from './table';
import { firstShown } from './session';
import { Texts } from './text';
import { Tip } from './tip';
import { Turns } from './turns';
import { fill, type Source } from './wire';

// The page, and its entry point: read the data and draw.

function Page({ source }: { source: Source }) {
  const { sides } = page;
  const two = sides.length === 2;
  const conversation = isConversation();
  const tokens = page.rows.reduce((sum, row) => sum + page.items[row.item].tokens, 0);
  return (
    <div class={two ? 'two' : 'one'}>
      <a class="skip" href="#window">Skip to the window</a>
      <header class="top">
        <p class="mark" aria-hidden="true">cupel</p>
        <h1 id="title"><Data text={page.title} limit={300} /></h1>
        <p id="subtitle" class="soft">{`${counted(page.rows.length, 'candidate')}, ${counted(tokens, 'token')}`}</p>
        <Theme />
      </header>
      <main id="main">
        {source.selections.length > 2 && <Still on={page.shown}>{() => <Turns source={source} />}</Still>}
        <Fragment key={page.shown.join()}>
          {two && <Still on={ats(sides)}>{() => <Comparison conversation={conversation} />}</Still>}
          <section id="selections" class="columns" aria-label="What was selected">
            {sides.map((side) => <Still on={[side.at, view.kind]}>{() => <Overview side={side} lead={conversation && !two ? leadOf(side) : ''} />}</Still>)}
          </section>
          <Budgets />
          <Changes />
          {conversation && !two && <Still on={ats(sides)}>{() => <Conversation side={sides[0]} />}</Still>}
          <section id="window" class="columns" aria-label="The window" tabIndex={-1}>
            {sides.map((side) => <div class="stack"><WindowMap side={side} /><Plot side={side} /><Still on={[...ats(sides), view.from[side.index]]}>{() => <Texts side={side} />}</Still></div>)}
          </section>
          <Candidates />
          <section id="run" class="columns" aria-label="The run">
            {sides.map((side) => <div class="pair"><Still on={[side.at]}>{() => <Reasons side={side} />}</Still><Still on={[]}>{() => <Stages side={side} />}</Still></div>)}
          </section>
        </Fragment>
      </main>
      <footer class="foot soft">
        <p>
          <kbd>/</kbd>{' filter '}<kbd>↑</kbd>{' '}<kbd>↓</kbd>{' move in the table '}<kbd>←</kbd>{' '}<kbd>→</kbd>{' move in the map '}
          <kbd>Enter</kbd>{' details '}<kbd>Esc</kbd>{' close'}
        </p>
        <p>This file contains the whole page. It makes no network requests.</p>
      </footer>
      <Tip />
      <Details />
    </div>
  );
}

function ats(sides: Side[]): number[] {
  return sides.map((side) => side.at);
}

// The colours follow the system until the reader chooses. The choice is stored
// if the browser allows storage for files.
const THEME = 'cupel-theme';

function Theme() {
  const [theme, setTheme] = useState(storedTheme);
  if (theme === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  const choose = (value: string) => {
    setTheme(value);
    try {
      localStorage.setItem(THEME, value);
    } catch {
      // storage is off: the choice lasts as long as the page
    }
  };
  return (
    <fieldset id="theme" class="segments">
      <legend class="unseen">Colours</legend>
      {['Auto', 'Light', 'Dark'].map((name) => (
        <label>
          <input type="radio" autocomplete="off" name="theme" value={name.toLowerCase()} checked={theme === name.toLowerCase()} onChange={(event) => choose(event.currentTarget.value)} />
          <span>{name}</span>
        </label>
      ))}
    </fieldset>
  );
}

function storedTheme(): string {
  try {
    const stored = localStorage.getItem(THEME) ?? '';
    return ['light', 'dark'].includes(stored) ? stored : 'auto';
  } catch {
    return 'auto'; // storage is off
  }
}

// pageKey moves the focus to the filter on a slash, unless the user is typing.
function pageKey(event: KeyboardEvent): void {
  const filter = document.getElementById('filter-text') as HTMLInputElement;
  if (event.key !== '/' || event.ctrlKey || event.altKey || event.metaKey || event.target === filter || view.details >= 0) return;
  event.preventDefault();
  filter.focus();
  filter.select();
}

function start(): void {
  const source = JSON.parse(document.getElementById('data')?.textContent ?? '') as Source;
  fill(source);
  read(source, firstShown(source.selections));
  showPartsIfTheyFit();
  resort();
  const root = document.getElementById('page') as HTMLElement;
  const draw = () => render(<Page source={source} />, root);
  drawsWith(draw);
  draw();
  addEventListener('keydown', pageKey);
  foldWhenIdle();
}

start();
