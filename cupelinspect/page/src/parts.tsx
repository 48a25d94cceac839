import type { ComponentChildren, RefObject } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { counted, cut, eachPiece, firstLine, grouped } from './format';
import type { Kind, Side } from './model';
import type { Item } from './wire';

// What every part of the page is built from. Data is only ever text, never
// parsed as markup.

// visible marks each invisible character of a text with a badge.
export function visible(text: string): ComponentChildren[] {
  const list: ComponentChildren[] = [];
  eachPiece(text, (seen) => list.push(seen), (badge) => list.push(<span class="unseen-character">{badge}</span>));
  return list;
}

// Data is one line of text from the data, such as a name, isolated from the
// text around it.
export function Data({ text, limit = 200 }: { text: string; limit?: number }) {
  return <bdi>{visible(cut(text, limit))}</bdi>;
}

const SHOWN_AT_ONCE = 4000; // UTF-16 units: a screen or two

// LongText shows the beginning of a text at first: a browser takes seconds to
// break a line of a megabyte.
export function LongText({ text, limit, scrolls = false, inline = false }: { text: string; limit: number; scrolls?: boolean; inline?: boolean }) {
  const [all, setAll] = useState(false);
  const box = useRef<HTMLPreElement>(null);
  const Tag = inline ? 'bdi' : 'pre';
  // What scrolls takes the focus.
  const stop = scrolls ? { tabIndex: 0, role: 'group' as const, 'aria-label': 'Content' } : { tabIndex: -1 };
  const press = () => {
    setAll(true);
    box.current?.focus();
  };
  return (
    <>
      <Tag ref={box} dir={inline ? undefined : 'auto'} {...stop}>{visible(all ? text : cut(text, limit))}</Tag>
      {!all && text.length > limit && <button type="button" class="more" onClick={press}>{`Show all ${grouped(text.length)} characters`}</button>}
    </>
  );
}

export function Content({ item, limit = SHOWN_AT_ONCE, scrolls = true }: { item: Item; limit?: number; scrolls?: boolean }) {
  const missing = item.cut ?? 0;
  return (
    <div class="content">
      {item.content !== '' && <LongText text={item.content} limit={limit} scrolls={scrolls} />}
      {missing > 0 && <p class="note">{`${counted(missing, item.content === '' ? 'byte' : 'more byte')} of this content ${missing === 1 ? 'is' : 'are'} not in this file.`}</p>}
    </div>
  );
}

// LineText is one line that identifies an item, or says why it has none.
export function LineText({ item, limit = 120 }: { item: Item; limit?: number }) {
  const line = firstLine(item.content);
  return <span class="line-text">{line !== '' ? <Data text={line} limit={limit} /> : <em class="soft">{missingText(item)}</em>}</span>;
}

function missingText(item: Item): string {
  return (item.cut ?? 0) > 0 ? 'not in this file' : 'white space';
}

export function Card({ title, id, children }: { title: string; id: string; children: ComponentChildren }) {
  return <section class="card" aria-labelledby={id}><h3 id={id}>{title}</h3>{children}</section>;
}

// titled begins the title of one of two sides with its letter.
export function titled(side: Side, title: string): string {
  return side.alone ? title : `${side.letter}: ${title.charAt(0).toLowerCase()}${title.slice(1)}`;
}

// KindChip shows the colour and letter of a kind.
export function KindChip({ kind }: { kind: Kind }) {
  return <span class={`chip k${kind.slot}`} aria-hidden="true">{kind.letter}</span>;
}

export function SideBadge({ side }: { side: Side }) {
  return side.alone ? null : <span class={`side-badge side-${side.index}`}>{side.letter}</span>;
}

export function Quiet({ children, onPress, disabled = false }: { children: ComponentChildren; onPress: () => void; disabled?: boolean }) {
  return <button type="button" class="quiet" disabled={disabled} onClick={onPress}>{children}</button>;
}

// Copy copies a text unchanged, with its invisible characters. Copying from the
// page by hand would copy their badges. The clipboard API asks for permission;
// the copy event does not.
export function Copy({ text, name = 'Copy' }: { text: () => string; name?: string }) {
  const [said, say] = useState('');
  const put = (event: ClipboardEvent) => {
    event.preventDefault();
    event.stopImmediatePropagation();
    event.clipboardData?.setData('text/plain', text());
  };
  const press = () => {
    addEventListener('copy', put, { capture: true, once: true });
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- nothing else copies without asking
    say(document.execCommand('copy') ? ' Copied.' : ' The browser refused to copy.');
    removeEventListener('copy', put, { capture: true });
  };
  return (
    <span class="copy">
      <button type="button" class="quiet" title="Copies unchanged, including invisible characters" onClick={press}>{name}</button>
      <span role="status" class="soft">{said}</span>
    </span>
  );
}

// Still keeps what it shows until one of its dependencies changes.
export function Still({ on, children }: { on: readonly unknown[]; children: () => ComponentChildren }) {
  return useMemo(children, on as unknown[]) as preact.VNode;
}

// useWidth returns the width of a box, 0 before it has one. Drawing code takes
// it from here: reading it while the page changes would force a layout.
export function useWidth(): [RefObject<HTMLDivElement | null>, number] {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const node = box.current;
    if (!node) return undefined;
    const observer = new ResizeObserver(() => { if (node.clientWidth > 0) setWidth(node.clientWidth); });
    observer.observe(node);
    return () => observer.disconnect();
  }, []);
  return [box, width];
}
