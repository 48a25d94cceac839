'use strict';

// The entry point: read the data, build the page, draw it.

let page = null;

function start() {
  buildTheme();
  page = buildModel(JSON.parse(byId('data').textContent));
  buildTitle();
  buildDetails();
  for (const side of page.sides) byId('selections').append(buildOverview(side));
  buildBudget();
  for (const side of page.sides) {
    byId('window').append(el('div', { class: 'stack' }, buildMap(side), buildPlot(side), buildText(side)));
    byId('run').append(el('div', { class: 'pair' }, buildReasons(side), buildStages(side)));
  }
  buildTable();
  document.body.classList.add(page.sides.length === 2 ? 'two' : 'one');
  addEventListener('keydown', pageKey);
  redraw();
  foldWhenIdle();
}

function buildTitle() {
  byId('title').replaceChildren(data(page.title, 300));
  const tokens = page.rows.reduce((sum, row) => sum + page.items[row.item].tokens, 0);
  byId('subtitle').textContent = `${counted(page.rows.length, 'candidate')}, ${counted(tokens, 'token')}`;
}

// redraw draws everything that depends on the current budget.
function redraw() {
  for (const side of page.sides) {
    markChanges(side);
    side.counts = reasonCounts(side);
    drawBudget(side);
    drawOverview(side);
    drawMap(side);
    drawPlot(side);
    drawText(side);
    drawReasons(side);
  }
  drawChanges();
  drawStates();
  resort();
}

// markChanges sets 1 for candidates that came with the current budget and 2 for
// those that went.
function markChanges(side) {
  side.changed = null;
  if (side.stop.actual) return;
  side.changed = new Uint8Array(side.n);
  for (const candidate of side.came) side.changed[candidate] = 1;
  for (const candidate of side.went) side.changed[candidate] = 2;
}

// pageKey moves the focus to the filter on a slash, unless the user is typing.
function pageKey(event) {
  if (event.key !== '/' || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.target === page.filter.text || page.details.dialog.open) return;
  event.preventDefault();
  page.filter.text.focus();
  page.filter.text.select();
}

// The colours follow the system until the reader chooses. The choice is stored
// if the browser allows storage for files.
function buildTheme() {
  const apply = (theme) => {
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
  };
  const stored = remembered('cupel-theme');
  for (const radio of document.querySelectorAll('#theme input')) {
    if (radio.value === stored) radio.checked = true;
    radio.addEventListener('change', () => {
      apply(radio.value);
      remember('cupel-theme', radio.value);
    });
  }
  apply(stored);
}

function remembered(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null; // storage is off
  }
}

function remember(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch {
    // storage is off: the choice lasts as long as the page
  }
}

start();
