// SPDX-License-Identifier: MIT
const report = JSON.parse(document.getElementById('report').textContent);
const sources = JSON.parse(document.getElementById('sources').textContent);
const why = JSON.parse(document.getElementById('why').textContent);
const difference = JSON.parse(document.getElementById('difference').textContent);
const exact = difference?.exact ?? false;
// What the reader has chosen: event, view, function, word sought, instruction to point at, how the flame graph is drawn.
const state = { event: difference ? 1 : 0, view: 'functions', chosen: null, sought: '', frame: '', lit: null, turned: false, colours: null };

// --- small words -----------------------------------------------------------------------------------------
const count = (n) => Number(n).toLocaleString('en-US');
const brief = (n) => (n < 10000 ? count(n) : Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 }).format(n));
const percent = (part, whole) => (whole > 0 ? (100 * part) / whole : 0);
const shown = (p) => p.toFixed(2) + '%';
// Numbers beyond 2^53 come as text.
const hex = (n) => BigInt(n).toString(16);
const offset = (a, b) => Number(BigInt(a) - BigInt(b));
const base = (path) => path.slice(path.lastIndexOf('/') + 1) || path;

// An element: tag.class, attributes and listeners, children (text or elements; nothing where null).
function make(what, attributes = {}, ...children) {
  const [tag, ...classes] = what.split('.');
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (name === 'style') node.style.cssText = value;
    else if (value !== false && value !== null) node.setAttribute(name, value === true ? '' : value);
  }
  if (classes.length) node.className = classes.join(' ');
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}
const svg = (tag, attributes = {}) => {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
};

// --- what the report says ----------------------------------------------------------------------------------
const total = () => report.events[state.event]?.period ?? 0;
const period = (weights) => weights[state.event]?.period ?? 0;
const share = (weights) => percent(period(weights), total());
const symbol = (index) => (index === null ? null : report.symbols[index] ?? null);
const nameOf = (index) => symbol(index)?.name ?? '[unknown]';
// Without the list of parameters, as people say it.
function spoken(name) {
  let depth = 0, end = name.lastIndexOf(')');
  for (let at = end; at > 0; --at) {
    if (name[at] === ')') ++depth;
    if (name[at] === '(' && --depth === 0) return name.slice(0, at).replaceAll('(anonymous namespace)::', '');
  }
  return name;
}
const moduleOf = (s) => (s.module === null ? '[unknown]' : report.modules[s.module].path);
const lineOf = (where) => (where ? `${base(report.files[where.file])}:${where.line}` : '');
const sourceOf = (where) => sources[where?.file]?.[where?.line] ?? '';
const offsetOf = (place) => `+0x${hex(offset(place.address, symbol(place.symbol)?.start ?? 0))}`;
const placeOf = (place) => (symbol(place.symbol) ? spoken(nameOf(place.symbol)) + offsetOf(place) : `0x${hex(place.address)}`);
// Symbols by the chosen event, those with neither samples nor executions left out.
const ranked = () =>
  report.symbols
    .map((s, index) => ({ s, index, period: period(s.weights) }))
    .filter(({ s, period: p }) => p > 0 || s.max_coverage > 0)
    .sort((a, b) => b.period - a.period || a.index - b.index);

// --- functions, packed to be short: the reverse of packed() in packed_function.cpp ---------------------------
// Rows of `width` values, which begin with the number of an instruction.
function* rows(flat, width) {
  for (let at = 0; at < flat.length; at += width) yield flat.slice(at, at + width);
}
// For each of `size` instructions the row in force there.
function filled(flat, width, size) {
  const all = new Array(size);
  let last = null, next = 0;
  for (const row of rows(flat, width)) {
    for (; next < row[0]; ++next) all[next] = last;
    last = row;
  }
  for (; next < size; ++next) all[next] = last;
  return all;
}
const unpackedFunctions = new Map();
function unpacked(index) {
  if (!unpackedFunctions.has(index)) unpackedFunctions.set(index, unpack(report.functions[index]));
  return unpackedFunctions.get(index);
}
function unpack(f) {
  const size = f.bytes.length, texts = size > 0 ? f.texts.split('\n') : [];
  const where = filled(f.where, 3, size), inlined = filled(f.inlined, 2, size), coverage = filled(f.coverage, 3, size);
  const addresses = new Map(rowsByNumber(f.addresses, 2));
  const none = report.events.map(() => ({ samples: 0, period: 0 }));
  let address = 0n;
  const instructions = texts.map((text, n) => {
    address = addresses.has(n) ? BigInt(addresses.get(n)[1]) : address;
    const i = {
      address, text, bytes: f.bytes[n], where: where[n][1] === null ? null : { file: where[n][1], line: where[n][2] },
      inlined: inlined[n][1], coverage: coverage[n][1], heat: coverage[n][2], weights: none, join: null, leave: null,
    };
    address += BigInt(f.bytes[n]);
    return i;
  });
  for (const [n, ...w] of rows(f.weights, 1 + 2 * report.events.length))
    instructions[n].weights = report.events.map((_, e) => ({ samples: w[2 * e], period: w[2 * e + 1] }));
  for (const [n, entries, p] of rows(f.joins, 3)) instructions[n].join = { entries, percent: p };
  for (const [n, taken, predicted, mispredicted, p, q] of rows(f.leaves, 6))
    instructions[n].leave = { taken, predicted, mispredicted, percent: p, predicted_percent: q };
  const blocks = [...rows(f.blocks, 7)].map(([first, size_, executions, sum, min, max, ipc]) =>
    ({ last: first + size_ - 1, cycles: { executions, sum, min, max }, ipc }));
  const jumps = [...rows(f.jumps, 5)].map(([from, to, taken, predicted, mispredicted]) => ({ from, to, taken, predicted, mispredicted }));
  return { ...f, instructions, blocks, jumps };
}
function* rowsByNumber(flat, width) {
  for (const row of rows(flat, width)) yield [row[0], row];
}

// --- pieces of every view ------------------------------------------------------------------------------------
const bar = (parts, label) =>
  make('span.bar', { role: 'img', 'aria-label': label },
    parts.map(([p, kind]) => make(kind ? `i.${kind}` : 'i', { style: `width:${Math.min(p, 100)}%` })));
const heat = (p) => `--heat:${Math.min(100, p).toFixed(1)}%`;

// What does not fit is cut off by its style, and whole at hover and focus.
const short = (text, whole = text) =>
  make('span.short', { title: whole, tabindex: text.length > 32 ? 0 : null }, text);

// columns: [heading, cell of row, class, what to sort by (else the text)]
function table(caption, columns, items) {
  if (items.length === 0) return make('p.empty', {}, 'Nothing of this in the profile.');
  const body = make('tbody'), headings = [];
  let rows_ = items;
  const fill = () => body.replaceChildren(...rows_.slice(0, mostRows).map((row) =>
    make('tr', {}, columns.map(([, cell, kind]) => make(kind ? `td.${kind}` : 'td', {}, cell(row))))));
  const sort = (n) => {
    const [, cell, , by] = columns[n], was = headings[n].getAttribute('aria-sort');
    const textOf = (row) => { const c = cell(row); return c?.textContent ?? (Array.isArray(c) ? '' : String(c ?? '')); };
    const key = new Map(items.map((row) => [row, by ? by(row) : textOf(row)]));
    const up = was === 'descending' || (was === 'none' && !by);
    rows_ = [...items].sort((a, b) => (up ? 1 : -1) *
      (by ? key.get(a) - key.get(b) : key.get(a).localeCompare(key.get(b), 'en', { numeric: true })));
    for (const th of headings) if (th.hasAttribute('aria-sort')) th.setAttribute('aria-sort', 'none');
    headings[n].setAttribute('aria-sort', up ? 'ascending' : 'descending');
    fill();
  };
  columns.forEach(([heading, , kind], n) => headings.push(heading === ''
    ? make(kind ? `th.${kind}` : 'th', { scope: 'col' })
    : make(kind ? `th.${kind}` : 'th', { scope: 'col', 'aria-sort': 'none' },
      make('button.sort', { type: 'button', title: `Sort by ${heading}`, onclick: () => sort(n) }, heading))));
  fill();
  return make('div', {}, make('div.scroll', { tabindex: 0, role: 'region', 'aria-label': caption },
    make('table.ranking', {}, make('caption.unseen', {}, caption), make('thead', {}, make('tr', {}, headings)), body)),
  items.length > mostRows ? make('p.empty', {}, `The first ${count(mostRows)} of ${count(items.length)} rows.`) : null);
}
const mostRows = 1000;
const open = (index, address, label) => {
  const s = symbol(index);
  if (!s || s.function === null) return label;
  return make('button.link', { type: 'button', onclick: () => show('functions', index, address) }, label);
};
// Of a group of buttons one can be tabbed to; arrow keys go on from there.
function rove(buttons, current) {
  buttons.forEach((b) => { b.tabIndex = b === current ? 0 : -1; });
}
