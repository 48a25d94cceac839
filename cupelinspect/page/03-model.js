'use strict';

// The page's model. The data is read once. A side is one selection and its
// current budget; a row is one candidate, in one or both sides.

const LETTERS = ['A', 'B'];
const KNOWN_KINDS = ['systemprompt', 'message', 'document', 'tooloutput', 'memory'];
const KNOWN_LETTERS = 'SMDTE'; // M is Message, not Memory
const SLOTS = 16; // eight colours, plain and hatched

function buildModel(source) {
  const kinds = kindsOf(source.items);
  const sides = source.selections.map((selection, index) => sideOf(source, selection, index));
  const model = { title: source.title, items: source.items, kinds: kinds.list, kindOf: kinds.of, sides, rows: [], ...unitsOf(source) };
  model.rows = rowsOf(model);
  for (const side of sides) moveTo(side, side.actual);
  return model;
}

// unitsOf says what of groups, smaller forms and versions the page has to show.
function unitsOf({ items, selections }) {
  const sweeps = selections.flatMap((selection) => [selection, ...(selection.sweep?.stops ?? [])]);
  return {
    hasGroups: items.some((item) => item.group),
    hasForms: sweeps.some(({ form }) => form && Object.keys(form).length > 0),
    hasStale: selections.some(({ stale }) => stale?.length > 0),
  };
}

// Kinds are compared under ASCII folding, as in cupel. Well-known kinds come
// first, with the same colours and letters on every page; others follow in
// order of appearance.
function kindsOf(items) {
  const names = new Map(); // by key
  for (const { kind } of items) {
    const key = asciiFolded(kind);
    if (!names.has(key)) names.set(key, kind);
  }
  const keys = [...KNOWN_KINDS.filter((key) => names.has(key)), ...[...names.keys()].filter((key) => !KNOWN_KINDS.includes(key))];
  const taken = new Set();
  for (const letter of KNOWN_LETTERS) taken.add(letter);
  let next = KNOWN_KINDS.length;
  const list = keys.map((key, index) => {
    const known = KNOWN_KINDS.indexOf(key);
    const slot = known >= 0 ? known : next++ % SLOTS;
    return { index, name: names.get(key), slot, letter: known >= 0 ? KNOWN_LETTERS[known] : letterFor(names.get(key), taken) };
  });
  const indexOf = new Map(keys.map((key, index) => [key, index]));
  return { list, of: Int32Array.from(items, (item) => indexOf.get(asciiFolded(item.kind))) };
}

// letterFor returns a letter that no kind uses yet, preferably the first of the
// name.
function letterFor(name, taken) {
  const own = name.replace(/[^A-Za-z0-9]/g, '').slice(0, 100);
  for (const letter of own.toUpperCase() + own.toLowerCase() + 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789') {
    if (!taken.has(letter)) {
      taken.add(letter);
      return letter;
    }
  }
  return '·';
}

const LISTS = ['candidates', 'scores', 'parts', 'window', 'codes', 'code', 'why', 'stages'];

function sideOf(source, selection, index) {
  for (const list of LISTS) selection[list] ??= []; // an empty list may be written as null
  const n = selection.candidates.length;
  const side = {
    index, selection, n,
    letter: LETTERS[index],
    alone: source.selections.length === 1,
    stops: [], actual: 0, at: -1, stop: null,
    place: new Int32Array(n), // position in the prompt from 1; 0 is left out
    code: new Int32Array(n),
    byScore: byScore(selection.scores),
    rank: new Int32Array(n), // by score from 1; 0 is for those without one
    rowOf: new Int32Array(n),
    form: new Int32Array(n), // in the window; 0 is the full one
    stale: new Set(selection.stale),
    came: [], went: [], reshaped: [],
  };
  side.byScore.forEach((candidate, i) => { side.rank[candidate] = i + 1; });
  side.stops = stopsOf(selection, source.items);
  side.actual = side.stops.findIndex((stop) => stop.actual);
  side.pinnedTokens = 0;
  for (const i of selection.candidates) {
    if (source.items[i].pinned) side.pinnedTokens += Math.max(0, source.items[i].tokens);
  }
  return side;
}

// byScore lists the candidates with a score, best first; ties keep the order of
// the candidates.
function byScore(scores) {
  const order = [];
  scores.forEach((score, i) => { if (score !== null) order.push(i); });
  return order.sort((i, j) => scores[j] - scores[i] || i - j);
}

// stopsOf returns the budgets that can be shown: those of the sweep, and the
// run's own in its place among them.
function stopsOf(selection, items) {
  const used = tokensOf(selection, items);
  const actual = {
    actual: true, budget: selection.budget.max, target: selection.budget.target, effective: selection.budget.effective, tokens: used, window: selection.window,
    form: selection.form ?? {}, pinned: selection.pinned, codeAt: (i) => selection.code[i], error: selection.error ?? '',
  };
  const others = (selection.sweep?.stops ?? [])
    .filter((stop) => stop.budget !== actual.budget)
    .map((stop) => ({
      actual: false, budget: stop.budget, target: stop.target, effective: stop.effective, tokens: stop.tokens, window: stop.window ?? [],
      form: stop.form ?? {}, pinned: stop.pinned, codeAt: (i) => (i < stop.codes.length ? stop.codes.charCodeAt(i) - 33 : -1), error: stop.error ?? '',
    }));
  return [...others, actual].sort((a, b) => a.budget - b.budget);
}

function tokensOf(selection, items) {
  let sum = 0;
  for (const candidate of selection.window) {
    const form = selection.forms?.[candidate]?.[selection.form?.[candidate]];
    sum += (form ?? items[selection.candidates[candidate]]).tokens;
  }
  return sum;
}

// moveTo changes the budget of a side.
function moveTo(side, at) {
  if (side.at === at) return false;
  const stop = side.stops[at];
  side.at = at;
  side.stop = stop;
  side.place.fill(0);
  stop.window.forEach((candidate, i) => { side.place[candidate] = i + 1; });
  side.form.fill(0);
  for (const [candidate, form] of Object.entries(stop.form)) side.form[candidate] = form;
  for (let i = 0; i < side.n; i++) side.code[i] = stop.codeAt(i);
  compareWithActual(side);
  return true;
}

function compareWithActual(side) {
  side.came = [];
  side.went = [];
  side.reshaped = [];
  if (side.stop.actual) return;
  const { form } = side.stops[side.actual];
  const before = new Uint8Array(side.n);
  for (const candidate of side.stops[side.actual].window) before[candidate] = 1;
  for (let i = 0; i < side.n; i++) {
    if (side.place[i] > 0 && !before[i]) side.came.push(i);
    if (side.place[i] === 0 && before[i]) side.went.push(i);
    if (side.place[i] > 0 && before[i] && side.form[i] !== (form[i] ?? 0)) side.reshaped.push(i);
  }
}

// nearestStop returns the computed budget nearest to the requested one.
function nearestStop(side, budget) {
  let best = 0;
  side.stops.forEach((stop, i) => {
    if (Math.abs(stop.budget - budget) < Math.abs(side.stops[best].budget - budget)) best = i;
  });
  return best;
}

// rowsOf pairs the candidates of two sides, first by item and then by content,
// since two reports read from files share no items.
function rowsOf({ items, sides }) {
  const [a, b] = sides;
  const rows = Array.from(a.selection.candidates, (item, candidate) => rowOf(item, candidate, -1));
  if (b) pairRows(items, rows, a, b);
  for (const side of sides) {
    rows.forEach((row, i) => { if (row.at[side.index] >= 0) side.rowOf[row.at[side.index]] = i; });
  }
  rows.forEach((row, i) => { row.index = i; });
  return rows;
}

function rowOf(item, a, b) {
  return { index: 0, item, at: [a, b] }; // at: the candidate in each side, or -1
}

function pairRows(items, rows, a, b) {
  let left = pairForms(items, rows, a.selection, b.selection);
  const itemOf = (candidate) => b.selection.candidates[candidate];
  for (const keyOf of [(item) => item, (item) => `${asciiFolded(items[item].kind)}\n${items[item].content}`]) {
    const free = new Map();
    for (const row of rows) {
      if (row.at[1] < 0) mapList(free, keyOf(row.item)).push(row);
    }
    left = left.filter((candidate) => {
      const row = free.get(keyOf(itemOf(candidate)))?.shift();
      if (row) row.at[1] = candidate;
      return !row;
    });
  }
  for (const candidate of left) rows.push(rowOf(itemOf(candidate), -1, candidate));
}

// pairForms pairs what is in a smaller form in one of two reports, by position in
// their runs: its content is not that of the item. It returns the other candidates
// of b.
function pairForms(items, rows, a, b) {
  const left = new Set(b.candidates.keys());
  if (!a.origin || !b.origin) return [...left];
  const at = new Map([...left].map((candidate) => [b.origin[candidate], candidate]));
  const itemIn = (selection, candidate) => {
    const item = items[selection.candidates[candidate]];
    return { ...item, tokens: selection.full?.[candidate] ?? item.tokens };
  };
  for (const row of rows) {
    const [candidate] = row.at;
    const other = at.get(a.origin[candidate]);
    if (other === undefined || a.origin[candidate] < 0 || !(a.form?.[candidate] || b.form?.[other])) continue;
    const x = itemIn(a, candidate);
    const y = itemIn(b, other);
    const same = x.group || y.group ? x.group === y.group : x.tokens === y.tokens && x.versionOf === y.versionOf && asciiFolded(x.kind) === asciiFolded(y.kind);
    if (!same) continue;
    row.at[1] = other;
    left.delete(other);
  }
  return [...left];
}

function mapList(map, key) {
  if (!map.has(key)) map.set(key, []);
  return map.get(key);
}

// tokensDiffer reports whether the sides have different token counts for the
// same contents, because of different tokenizers.
function tokensDiffer({ items, sides, rows }) {
  const tokensIn = (row, side) => items[side.selection.candidates[row.at[side.index]]].tokens;
  return sides.length === 2 && rows.some((row) => row.at[0] >= 0 && row.at[1] >= 0 && tokensIn(row, sides[0]) !== tokensIn(row, sides[1]));
}

function itemOfCandidate(side, candidate) {
  return page.items[side.selection.candidates[candidate]];
}

// shownItem returns the candidate as it is in the window: in its form there.
function shownItem(side, candidate) {
  const item = itemOfCandidate(side, candidate);
  const form = side.selection.forms?.[candidate]?.[side.form[candidate]];
  return form ? { ...item, cut: 0, unmade: false, ...form } : item;
}

function shownTokens(side, candidate) {
  return (side.selection.forms?.[candidate]?.[side.form[candidate]] ?? itemOfCandidate(side, candidate)).tokens;
}

function kindOfCandidate(side, candidate) {
  return page.kinds[page.kindOf[side.selection.candidates[candidate]]];
}

function isIn(row, side) {
  return row.at[side.index] >= 0 && side.place[row.at[side.index]] > 0;
}

// reasonOf returns the name of a candidate's reason at the current budget.
function reasonOf(side, candidate) {
  return side.selection.codes[side.code[candidate]] ?? '';
}

// whyOf returns the whole sentence. Only the run itself has one: at other
// budgets its numbers would be wrong.
function whyOf(side, candidate) {
  return side.stop.actual ? side.selection.why[candidate] ?? '' : reasonOf(side, candidate);
}
