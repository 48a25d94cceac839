'use strict';

// The page is built from elements and text nodes alone. Nothing that comes from
// the data is ever parsed as markup, and style attributes, which the content
// security policy forbids, are never written: el.style is set property by
// property where a value comes from the data.

const SVG = 'http://www.w3.org/2000/svg';

function byId(id) {
  return document.getElementById(id);
}

function setAttributes(node, attributes) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === false || value === null || value === undefined) continue;
    node.setAttribute(name, value === true ? '' : value);
  }
}

// el builds an element. Strings among the children become text.
function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  setAttributes(node, attributes);
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== ''));
  return node;
}

function svg(tag, attributes, ...children) {
  const node = document.createElementNS(SVG, tag);
  setAttributes(node, attributes);
  node.append(...children);
  return node;
}

function button(text, attributes, onPress) {
  const node = el('button', { type: 'button', ...attributes }, text);
  node.addEventListener('click', onPress);
  return node;
}

// appendData shows text of the data: isolated from the text around it, with a
// badge in the place of every character that cannot be seen.
function appendData(parent, text) {
  eachPiece(text, (seen) => parent.append(seen), (badge) => parent.append(el('span', { class: 'unseen-character' }, badge)));
  return parent;
}

// data is a piece of one line; names and lines of the data go through it.
function data(text, limit = 200) {
  return appendData(el('bdi', {}), cut(text, limit));
}

const SHOWN_AT_ONCE = 4000; // UTF-16 units: a screen or two

// longText shows a text in an element, the beginning of it at first: a browser
// takes seconds to break a line of a megabyte.
function longText(node, text, limit) {
  appendData(node, cut(text, limit));
  if (text.length <= limit) return [node];
  return [node, button(`Show all ${grouped(text.length)} characters`, { class: 'more' }, (event) => {
    node.replaceChildren();
    appendData(node, text);
    event.currentTarget.remove();
    node.focus();
  })];
}

// contentOf shows a content in a pre. The tab key stops at it where it scrolls.
function contentOf(item, { limit = SHOWN_AT_ONCE, scrolls = true } = {}) {
  const box = el('div', { class: 'content' });
  if (item.content !== '') {
    const stop = scrolls ? { tabindex: '0', role: 'group', 'aria-label': 'Content' } : { tabindex: '-1' };
    const pre = el('pre', { dir: 'auto', ...stop });
    box.append(...longText(pre, item.content, limit));
  }
  if (item.cut > 0) {
    box.append(el('p', { class: 'note' }, `${counted(item.cut, item.content === '' ? 'byte' : 'more byte')} of this content ${item.cut === 1 ? 'is' : 'are'} not in this file.`));
  }
  return box;
}

function card(title, id, ...children) {
  return el('section', { class: 'card', 'aria-labelledby': id }, el('h3', { id }, title), ...children);
}

function emptyState(text) {
  return el('p', { class: 'empty' }, text);
}

// kindChip is the sign of a kind: its colour and its letter.
function kindChip(kind) {
  return el('span', { class: `chip k${kind.slot}`, 'aria-hidden': 'true' }, kind.letter);
}

// onWidth calls draw with the width of a box now and whenever it changes. Those
// who draw remember it: asking a box for its size while the page is being
// changed has the browser lay out everything on the spot, each time.
function onWidth(box, draw) {
  let last = -1;
  new ResizeObserver(() => {
    const width = box.clientWidth;
    if (width > 0 && width !== last) {
      last = width;
      draw(width);
    }
  }).observe(box);
}

// oncePerFrame makes of many calls one, before the next frame is drawn.
function oncePerFrame(work) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      work();
    });
  };
}

const calm = matchMedia('(prefers-reduced-motion: reduce)');
