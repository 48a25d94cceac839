import { Fragment, render } from 'preact';
import { useState } from 'preact/hooks';
import { Budgets, Changes } from './budget';
import { Details } from './details';
import { foldWhenIdle, resort } from './filter';
import { Headline } from './headline';
import { Messages } from './messages';
import { page, read } from './model';
import { Overview } from './overview';
import { Data, Still } from './parts';
import { Plot } from './plot';
import { Reasons, Stages } from './run';
import { Search } from './search';
import { firstShown } from './session';
import { changed, drawsWith, view } from './state';
import { newestOf } from './story';
import { Strip } from './strip';
import { Candidates, showPartsIfTheyFit } from './table';
import { Turns } from './turns';
import { load, type Source } from './wire';

// The page, and its entry point: read the data and draw.

function Page({ source }: { source: Source }) {
  const { sides } = page;
  const two = sides.length === 2;
  return (
    <div class={two ? 'two' : 'one'}>
      <a class="skip" href="#messages">Skip to the messages</a>
      <header class="top">
        <p class="mark" aria-hidden="true">cupel</p>
        <h1 id="title"><Data text={page.title} limit={300} /></h1>
        <Theme />
      </header>
      <main id="main">
        {source.selections.length > 2 && <Still on={page.shown}>{() => <Turns source={source} />}</Still>}
        <Fragment key={page.shown.join()}>
          <section id="selections" class="columns" aria-label="What was sent">
            {sides.map((side) => <Still on={[side.at]}>{() => <Headline side={side} />}</Still>)}
          </section>
          <Budgets />
          <section class="card strips" aria-label="Overview of the whole">{sides.map((side) => <Strip side={side} />)}</section>
          <Search />
          <Still on={[...sides.map((side) => side.at), view.fact, view.from, view.goTo, [...view.open].join(), [...view.unfolded].join()]}>{() => <Messages />}</Still>
          <Advanced />
        </Fragment>
      </main>
      <footer class="foot soft">
        <p>
          <kbd>/</kbd>{' find a value '}<kbd>←</kbd>{' '}<kbd>→</kbd>{' move in the strip '}<kbd>↑</kbd>{' '}<kbd>↓</kbd>{' move in the table '}
          <kbd>Enter</kbd>{' open '}<kbd>Esc</kbd>{' close'}
        </p>
        <p>This file contains the whole page. It makes no network requests.</p>
      </footer>
      <Details />
    </div>
  );
}

// Advanced has scores, stages and reasons. It is not drawn before it is opened.
function Advanced() {
  const { sides } = page;
  const toggle = () => {
    view.advanced = !view.advanced;
    resort();
    changed();
  };
  return (
    <section id="advanced" class="advanced" aria-labelledby="advanced-title">
      <h2><button type="button" id="advanced-title" class="same" aria-expanded={view.advanced} onClick={toggle}>Advanced: scores, stages and reasons</button></h2>
      {view.advanced && (
        <div class="advanced-body">
          <Changes />
          <section class="columns" aria-label="Budget and scores">
            {sides.map((side) => <div class="stack"><Still on={[side.at, view.kind]}>{() => <Overview side={side} />}</Still><Plot side={side} /></div>)}
          </section>
          <Candidates />
          <section id="run" class="columns" aria-label="The run">
            {sides.map((side) => <div class="pair"><Still on={[side.at]}>{() => <Reasons side={side} />}</Still><Still on={[]}>{() => <Stages side={side} />}</Still></div>)}
          </section>
        </div>
      )}
    </section>
  );
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

// pageKey moves the focus to the search on a slash, unless the user is typing.
function pageKey(event: KeyboardEvent): void {
  const field = document.getElementById('fact') as HTMLInputElement;
  const typing = event.target instanceof HTMLInputElement && ['search', 'number'].includes(event.target.type);
  if (event.key !== '/' || event.ctrlKey || event.altKey || event.metaKey || typing || view.details >= 0) return;
  event.preventDefault();
  field.focus();
  field.select();
}

async function start(): Promise<void> {
  const source = await load();
  read(source, firstShown(source.selections));
  view.open = newestOf();
  showPartsIfTheyFit();
  const root = document.getElementById('page') as HTMLElement;
  const draw = () => render(<Page source={source} />, root);
  drawsWith(draw);
  draw();
  addEventListener('keydown', pageKey);
  foldWhenIdle();
}

void start();
