// SPDX-License-Identifier: MIT
// --- what `pmusim diff` says of two sides ------------------------------------------------------------------------------
// [symbol, before, after, file, line], null where a side has none of it: the reverse of packed_places().
const unpackedPlace = (event) => ([number, before, after, file, line]) => {
  const share_ = (part, whole) => (part === null ? null : percent(Number(part), Number(whole)));
  const place = {
    symbol: nameOf(number), module: moduleOf(symbol(number)), file, line, before: Number(before ?? 0), after: Number(after ?? 0),
    before_percent: share_(before, event.before), after_percent: share_(after, event.after),
  };
  return { ...place, delta: (place.after_percent ?? 0) - (place.before_percent ?? 0) };
};
const more = (change) => Number(change.after) - Number(change.before);
const signedCount = (n) => (n < 0 ? '−' : '+') + count(Math.abs(n));
const relative = (change) => (Number(change.before) > 0 ? (100 * more(change)) / Number(change.before) : Number.MAX_VALUE);
const relativeText = (change) =>
  (more(change) === 0 ? '=' : Number(change.before) === 0 ? 'new' : signed(relative(change)));

const eventsChanged = () => table('Events', [
  ['Event', (c) => short(c.event), ''],
  ['Before', (c) => count(Number(c.before)), 'number', (c) => Number(c.before)],
  ['After', (c) => count(Number(c.after)), 'number', (c) => Number(c.after)],
  ['Difference', (c) => signedCount(more(c)), 'number', more],
  ['Change', (c) => relativeText(c), 'number', relative],
  ...(difference.events.some((c) => c.p !== null)
    ? [['p', (c) => (c.p === null ? '' : c.p.toPrecision(2)), 'number', (c) => c.p ?? 2]] : []),
], difference.events);

const chosenChange = () => difference.events[Math.floor(state.event / 2)];
const sizeOf = (place) => (exact ? percent(more(place), Number(chosenChange().before)) : place.delta);
// To the left what became less, to the right what became more.
const changeBar = (place, most) => {
  const p = sizeOf(place), width = (50 * Math.abs(p)) / most;
  return make('span.bar.change', { role: 'img', 'aria-label': signed(p) },
    make(p < 0 ? 'i.less' : 'i.more', { style: `width:${width}%;margin-left:${p < 0 ? 50 - width : 50}%` }));
};

function placesChanged(caption, rows_, columns) {
  const places = rows_.map(unpackedPlace(chosenChange()));
  const most = Math.max(1e-9, ...places.map((place) => Math.abs(sizeOf(place))));
  const shareText = (p) => (p === null ? '' : shown(p));
  const figures_ = exact
    ? [['Before', (c) => count(Number(c.before)), 'number', (c) => Number(c.before)],
      ['After', (c) => count(Number(c.after)), 'number', (c) => Number(c.after)],
      ['Difference', (c) => signedCount(more(c)), 'number', more],
      ['Change', relativeText, 'number', relative],
      ['Of all', (c) => signed(sizeOf(c)), 'number', sizeOf]]
    : [['Before', (c) => shareText(c.before_percent), 'number', (c) => c.before_percent ?? 0],
      ['After', (c) => shareText(c.after_percent), 'number', (c) => c.after_percent ?? 0],
      ['Points', (c) => signed(c.delta), 'number', (c) => c.delta]];
  return table(`${caption} by what changed of ${chosenChange().event}`, [
    ...figures_, ['', (c) => changeBar(c, most), 'hide-small'], ...columns], places);
}
const functionColumns = [
  ['Function', (c) => short(spoken(c.symbol), c.symbol), ''],
  ['Module', (c) => short(c.module), 'hide-small'],
];
const functionsChanged = () => placesChanged('Functions', chosenChange().symbols, functionColumns);
const linesChanged = () => placesChanged('Lines', chosenChange().lines,
  [['Line', (c) => short(`${c.file}:${c.line}`), ''], ...functionColumns]);

function differenceViews() {
  if (!difference || difference.events.length === 0) return [];
  const has = (what) => difference.events.some((c) => c[what].length > 0);
  return [
    ...(has('symbols') ? [['changes', 'Functions', functionsChanged]] : []),
    ...(has('lines') ? [['linechanges', 'Lines', linesChanged]] : []),
    ['events', 'Events', eventsChanged],
    ...(has('symbols') ? [['flame', 'Flame graph', flame]] : []),
  ];
}
