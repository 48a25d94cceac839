'use strict';

// The page is built only from elements and text nodes. Data is never parsed as
// markup. The content security policy forbids style attributes, so styles that
// depend on data are set through el.style, one property at a time.

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

// appendData appends text from the data, isolated from the text around it, with
// a badge for each invisible character.
function appendData(parent, text) {
  eachPiece(text, (seen) => parent.append(seen), (badge) => parent.append(el('span', { class: 'unseen-character' }, badge)));
  return parent;
}

// data returns one line of text from the data, such as a name.
function data(text, limit = 200) {
  return appendData(el('bdi', {}), cut(text, limit));
}

const SHOWN_AT_ONCE = 4000; // UTF-16 units: a screen or two

// longText shows the beginning of a text at first: a browser takes seconds to
// break a line of a megabyte.
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

// contentOf shows a content in a pre, which takes the focus if it scrolls.
function contentOf(item, { limit = SHOWN_AT_ONCE, scrolls = true } = {}) {
  const box = el('div', { class: 'content' });
  if (item.content !== '') {
    const stop = scrolls ? { tabindex: '0', role: 'group', 'aria-label': 'Content' } : { tabindex: '-1' };
    const pre = el('pre', { dir: 'auto', ...stop });
    box.append(...longText(pre, item.content, limit));
  }
  if (item.unmade) box.append(el('p', { class: 'note' }, 'A function makes this form when it is chosen; it was not called for this budget.'));
  if (item.cut > 0) {
    box.append(el('p', { class: 'note' }, `${counted(item.cut, item.content === '' ? 'byte' : 'more byte')} of this content ${item.cut === 1 ? 'is' : 'are'} not in this file.`));
  }
  return box;
}

// update replaces only the children that differ, so that the browser need not
// lay out the others again. Listeners are not compared: what they act on must
// show in an attribute.
function update(parent, children) {
  const last = parent.childNodes;
  children.forEach((child, i) => {
    if (i >= last.length) parent.append(child);
    else if (!last[i].isEqualNode(child)) last[i].replaceWith(child);
  });
  while (last.length > children.length) parent.lastChild.remove();
}

function card(title, id, ...children) {
  return el('section', { class: 'card', 'aria-labelledby': id }, el('h3', { id }, title), ...children);
}

function emptyState(text) {
  return el('p', { class: 'empty' }, text);
}

// kindChip shows the colour and letter of a kind.
function kindChip(kind) {
  return el('span', { class: `chip k${kind.slot}`, 'aria-hidden': 'true' }, kind.letter);
}

// onWidth calls draw with the width of a box, now and on each change. Drawing
// code stores the width: reading it while changing the page would force a
// layout each time.
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

// oncePerFrame merges calls into one before the next frame.
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
