// Numbers are formatted without Intl, so that a page reads the same in every
// browser and locale and matches the command's output.

export function grouped(n: number): string {
  if (!Number.isFinite(n)) return '–';
  if (Number.isInteger(n) && !Number.isSafeInteger(n)) {
    return `≈ ${n.toExponential(6)}`; // a double does not hold the last digits
  }
  const [whole, fraction] = String(Math.abs(n)).split('.');
  const digits = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return (n < 0 ? '−' : '') + digits + (fraction ? `.${fraction}` : '');
}

export function counted(n: number, noun: string): string {
  return `${grouped(n)} ${noun}${n === 1 ? '' : 's'}`;
}

export function percent(part: number, whole: number): string {
  return whole > 0 ? `${(100 * part / whole).toFixed(1)}%` : '–';
}

// scoreText is short, for columns; exact is every digit there is.
export function scoreText(score: number | null | undefined): string {
  if (score === null || score === undefined) return '–';
  const size = Math.abs(score);
  if (size >= 1e6 || (size > 0 && size < 5e-4)) return score.toExponential(1).replace('-', '−');
  return score.toFixed(3).replace('-', '−');
}

export function exact(n: number | null | undefined): string {
  return n === null || n === undefined ? 'none' : String(n);
}

export function durationText(ns: number): string {
  if (ns < 1e3) return `${grouped(ns)} ns`;
  if (ns < 1e6) return `${(ns / 1e3).toFixed(1)} µs`;
  if (ns < 1e9) return `${(ns / 1e6).toFixed(2)} ms`;
  return `${(ns / 1e9).toFixed(2)} s`;
}

// Characters that are invisible or change the visible order: control
// characters, direction marks and overrides, zero-width characters, and the tag
// characters that smuggle text past people into models. Tabs and line ends are
// kept. Joiners are legitimate in many scripts and in emoji, and suspicious
// only next to plain ASCII.
const UNSEEN = new RegExp('(' + [
  '[\\u0000-\\u0008\\u000B\\u000C\\u000E-\\u001F\\u007F-\\u009F\\u00AD\\u034F\\u061C\\u115F\\u1160\\u17B4\\u17B5',
  '\\u180B-\\u180F\\u200B\\u200E\\u200F\\u2028-\\u202E\\u2060-\\u206F\\u3164\\uFE00-\\uFE0D\\uFEFF\\uFFA0\\uFFF9-\\uFFFB',
  '\\u{1BCA0}-\\u{1BCA3}\\u{1D173}-\\u{1D17A}\\u{E0000}-\\u{E01EF}]',
  '|\\r(?!\\n)|(?<![^\\u0000-\\u007F\\u200B-\\u200F])[\\u200C\\u200D]',
].join('') + ')\\1*', 'gu');

// eachPiece splits text into visible and invisible pieces. A run of the same
// invisible character is one piece, so a million of them become one badge.
export function eachPiece(text: string, onText: (text: string) => void, onUnseen: (badge: string) => void): void {
  let from = 0;
  for (const found of text.matchAll(UNSEEN)) {
    if (found.index > from) onText(text.slice(from, found.index));
    onUnseen(badgeText(found[1], found[0].length / found[1].length));
    from = found.index + found[0].length;
  }
  if (from < text.length) onText(text.slice(from));
}

function badgeText(character: string, times: number): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `⟪U+${hex}${times > 1 ? ` ×${grouped(times)}` : ''}⟫`;
}

// plain returns text for attributes and options, which cannot hold elements.
export function plain(text: string, limit = 120): string {
  let out = '';
  eachPiece(cut(text, limit), (seen) => { out += seen; }, (badge) => { out += badge; });
  return out;
}

// cut keeps at most limit UTF-16 units and never half a character.
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const last = text.charCodeAt(limit - 1);
  return text.slice(0, last >= 0xD800 && last <= 0xDBFF ? limit - 1 : limit) + '…';
}

// firstLine returns the first line that is not blank, cut to what is ever
// shown: a line may be a megabyte.
export function firstLine(content: string): string {
  const from = content.search(/\S/);
  if (from < 0) return '';
  const [line] = content.slice(from, from + 400).split('\n', 1);
  return cut(line.trimEnd(), 200);
}

// asciiFolded folds as cupel compares kinds: A to Z only.
export function asciiFolded(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
