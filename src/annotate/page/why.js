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

const whyViews = why ? [['why', 'Why', findings], ['loops', 'Loops', loops], ['costs', 'Costs by line', linesWithCauses]] : [];
