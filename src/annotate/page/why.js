// SPDX-License-Identifier: MIT
// --- what `pmusim why` knows beside a profile ------------------------------------------------------------------------
const cyclesOf = (row) => row.counts.cycles;
const ofAll = (cycles_) => percent(cycles_, why.total.cycles);
const ofSlots = (row, slots) => percent(slots, cyclesOf(row) * why.slots_per_cycle);
const ipcOf = (row) => (cyclesOf(row) > 0 ? row.counts.instructions / cyclesOf(row) : 0);
const symbolOf = (row) =>
  report.symbols.findIndex((s) => s.linkage_name === row.linkage_name && s.name === row.function && moduleOf(s) === row.module);
const functionLink = (row, label = spoken(row.function)) => open(symbolOf(row), null, short(label, row.function));
const rangeOf = (row) => {
  if (row.file === null) return `0x${hex(row.address ?? 0)}`;
  const first = row.line ?? row.first_line, last = row.last_line ?? first;
  return `${base(row.file)}:${first}${last > first ? `-${last}` : ''}`;
};
const shareOfCycles = [
  ['Share', (row) => shown(ofAll(cyclesOf(row))), 'number', cyclesOf],
  ['', (row) => bar([[ofAll(cyclesOf(row)), '']], shown(ofAll(cyclesOf(row)))), 'hide-small'],
];
const cycleColumns = [
  ['Cycles', (row) => count(cyclesOf(row)), 'number', cyclesOf],
  ['IPC', (row) => (cyclesOf(row) > 0 ? ipcOf(row).toFixed(2) : ''), 'number', ipcOf],
];

function findings() {
  if (why.findings.length === 0) return make('p.empty', {}, 'Nothing holds up 1 % of the cycles on one line.');
  return make('ol.findings', {}, why.findings.map((f) => make('li', {}, make('p', {},
    bar([[ofAll(f.cycles), '']], `${shown(ofAll(f.cycles))} of all cycles`), ' ',
    make('b', {}, `${ofAll(f.cycles).toFixed(0)} % of all cycles`), make('span.cause', {}, f.cause.replaceAll('_', ' ')),
    functionLink(f)), make('p', {}, f.sentence))));
}

const loops = () => table('Loops by cycles', [
  ...shareOfCycles,
  ['Loop', (l) => short(rangeOf(l), l.file ?? ''), ''],
  ['Function', (l) => functionLink(l), ''],
  ['Most cycles go to', (l) => (l.cause ?? '').replaceAll('_', ' '), ''],
  ...cycleColumns,
  ['Entries', (l) => (l.entries > 0 ? count(l.entries) : ''), 'number', (l) => l.entries],
  ['Rounds: median', (l) => (l.entries > 0 ? count(l.trips.median) : ''), 'number', (l) => l.trips.median],
  ['p90', (l) => (l.entries > 0 ? count(l.trips.p90) : ''), 'number', (l) => l.trips.p90],
  ['Most', (l) => (l.entries > 0 ? count(l.trips.max) : ''), 'number', (l) => l.trips.max],
  ['Cycles a round', (l) => (l.timed_rounds > 0 ? (l.round_cycles / l.timed_rounds).toFixed(1) : ''), 'number',
    (l) => (l.timed_rounds > 0 ? l.round_cycles / l.timed_rounds : 0)],
], why.loops);

// The tree of the whole program beside those of functions. A node opens to its events.
const topdownParts = () => [why.topdown.whole, ...why.topdown.functions];
function topdownNode(node, n) {
  const counts = Object.keys(node.events).map((event) => make('li', {}, `${event}: `,
    topdownParts().map((part) => part.nodes[n].events[event]).map((c) => (c === null ? 'not counted' : count(c))).join(', ')));
  return make('details', { style: `margin-left:${1.5 * (node.level - 1)}em` },
    make('summary', { title: node.meaning }, node.metric), node.not_counted && make('p', {}, `Not counted: ${node.not_counted}`),
    make('ul', {}, counts));
}
function topdownShare(node) {
  if (node.percent === null) return '';
  return make(node.above_threshold ? 'b' : 'span', { title: node.above_threshold ? 'above its threshold' : null },
    shown(node.percent), node.above_threshold ? ' *' : '');
}
function topdown() {
  if (why.topdown.problem) return make('p.empty', {}, why.topdown.problem);
  const heading = (part) => (part.function === undefined ? 'Whole program' : functionLink(part));
  const rows_ = why.topdown.whole.nodes.map((node, n) => make('tr', {}, make('td', {}, topdownNode(node, n)),
    topdownParts().map((part) => make('td.number', {}, topdownShare(part.nodes[n])))));
  return make('div.scroll', { tabindex: 0, role: 'region', 'aria-label': 'Top-down tree' }, make('table.ranking', {},
    make('caption.unseen', {}, 'Top-down tree, in percent of the slots'),
    make('thead', {}, make('tr', {}, make('th', { scope: 'col' }, 'Node'),
      topdownParts().map((part) => make('th.number', { scope: 'col' }, heading(part))))),
    make('tbody', {}, rows_)),
    make('p', {}, 'In percent of the slots of each; * is above the threshold of the method. A node opens to the events behind it.'));
}

// A column for each kind of count that the program has.
const countColumns = () => why.columns.map((c) => [c.head, (row) => {
  const value = c.of.reduce((sum, name) => sum + row.counts[name], 0);
  return value === 0 ? '' : c.slots ? shown(ofSlots(row, value)) : make('span', { title: count(value) }, brief(value));
}, 'number', (row) => { const value = c.of.reduce((sum, name) => sum + row.counts[name], 0); return c.slots ? ofSlots(row, value) : value; }]);

const linesWithCauses = () => table('Source lines by cycles', [
  ...shareOfCycles,
  ['Line', (l) => short(l.line === 0 ? 'no line known' : rangeOf(l), l.file ?? ''), ''],
  ['Function', (l) => functionLink(l), ''],
  ...cycleColumns,
  ['Instr', (l) => make('span', { title: count(l.counts.instructions) }, brief(l.counts.instructions)), 'number', (l) => l.counts.instructions],
  ...countColumns(),
], why.lines);

const whyViews = why ? [['why', 'Why', findings], ...(why.topdown ? [['topdown', 'Top-down', topdown]] : []), ['loops', 'Loops', loops], ['costs', 'Costs by line', linesWithCauses]] : [];
