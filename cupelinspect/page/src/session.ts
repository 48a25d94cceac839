import { asciiFolded } from './format';
import { sentOf } from './model';
import type { Item, Selection } from './wire';

// What a session did: a selection that is a turn of one says it in a line.

export interface Turn {
  number: number; // 0 is none of a session
  reason: string; // of a break or of another choice, in a word; '' without one
  why: string; // the reason in plain words
  broke: boolean;
  price: number; // in tokens of plain input; NaN if unknown
}

const REASONS: Record<string, string | undefined> = {
  changed: 'what was sent before is gone, was edited or has moved',
  forced: 'what was sent before no longer fits, or lacks a part that must be in',
  free: 'nothing of it was in the cache, so that choosing again cost nothing',
  'worth it': 'choosing again saves more than it costs',
};

export function turnOf({ session = '' }: Selection): Turn {
  const found = /^(?:turn \d+: )?(break|chosen again) \(([^)]+)\)/.exec(session);
  const reason = found?.[2] ?? '';
  return {
    number: Number(/^turn (\d+):/.exec(session)?.[1] ?? 0), reason, why: REASONS[reason] ?? reason, broke: found?.[1] === 'break',
    price: Number(/cost (\d+)/.exec(session)?.[1] ?? NaN),
  };
}

// nameOf names a selection among several.
export function nameOf(selection: Selection, at: number): string {
  const { number } = turnOf(selection);
  return number > 0 ? `Turn ${number}` : selection.name || `${at + 1}`;
}

// Window is one of a selection's, at the budget of the run or at another.
export interface Window {
  window: number[];
  form?: Record<number, number>;
}

export interface Prefix {
  items: number;
  tokens: number;
}

// keptPrefix measures what two windows begin with, in the same forms.
export function keptPrefix(items: Item[], a: Selection, b: Selection, from: Window = a, to: Window = b): Prefix {
  const kept = { items: 0, tokens: 0 };
  while (kept.items < Math.min(from.window.length, to.window.length)) {
    const x = sentAs(items, a, from, kept.items);
    const y = sentAs(items, b, to, kept.items);
    if (x.text !== y.text || x.tokens !== y.tokens || asciiFolded(x.item.kind) !== asciiFolded(y.item.kind) || x.item.cut !== y.item.cut) break;
    kept.items++;
    kept.tokens += x.tokens;
  }
  return kept;
}

function sentAs(items: Item[], selection: Selection, { window, form }: Window, at: number): { item: Item; text: string; tokens: number } {
  const candidate = window[at];
  const n = form?.[candidate] ?? 0;
  const item = items[selection.candidates[candidate]];
  return { item, text: sentOf(items, selection, candidate, n), tokens: selection.forms?.[candidate]?.[n - 1]?.tokens ?? item.tokens };
}

// firstShown are the selections that a page begins with: the last break and the turn
// before it, or the last two.
export function firstShown(selections: Selection[]): number[] {
  const breaks = [...selections.keys()].filter((i) => i > 0 && turnOf(selections[i]).broke);
  const end = breaks.at(-1) ?? selections.length - 1;
  return end < 1 ? [end] : [end - 1, end];
}

