// SPDX-License-Identifier: MIT
// --- the other views ---------------------------------------------------------------------------------------------
const shareColumns = (weights) => [
  ['Share', (row) => shown(share(weights(row))), 'number', (row) => period(weights(row))],
  ['', (row) => bar([[share(weights(row)), '']], shown(share(weights(row)))), 'hide-small'],
];

const lines = () => table('Source lines by samples', [
  ...shareColumns((l) => l.weights),
  ['Line', (l) => open(l.symbol, null, lineOf(l.where)), ''],
  ['Function', (l) => short(spoken(nameOf(l.symbol)), nameOf(l.symbol)), ''],
  ['Source', (l) => make('code', {}, short(sourceOf(l.where).trim())), 'hide-small'],
], report.lines);

const modules = () => table('Modules by samples', [
  ...shareColumns((m) => m.weights),
  ['Module', (m) => short(m.path), ''],
  ['Build id', (m) => m.build_id.slice(0, 12), 'hide-small'],
  ['Missing', (m) => m.problem, 'wide'],
], report.modules);

const hasPrediction = (b) => b.predicted + b.mispredicted > 0;
const branches = () => table('Branches by how often branch stacks show them', [
  ['Seen', (b) => count(b.taken), 'number', (b) => b.taken],
  ['Mispredicted', (b) => (hasPrediction(b) ? shown(percent(b.mispredicted, b.predicted + b.mispredicted)) : 'not recorded'), 'number',
    (b) => (hasPrediction(b) ? b.mispredicted / (b.predicted + b.mispredicted) : -1)],
  ['', (b) => bar([[percent(b.predicted, b.taken), 'good'], [percent(b.mispredicted, b.taken), 'bad']],
    hasPrediction(b) ? `${count(b.predicted)} predicted, ${count(b.mispredicted)} mispredicted` : 'prediction not recorded'), 'hide-small'],
  ['Cycles', (b) => (b.timed > 0 ? (b.cycles / b.timed).toFixed(1) : ''), 'number', (b) => (b.timed > 0 ? b.cycles / b.timed : -1)],
  ['From', (b) => open(b.from.symbol, b.from.address, short(placeOf(b.from))), ''],
  ['To', (b) => open(b.to.symbol, b.to.address, short(placeOf(b.to))), ''],
  ['Line', (b) => lineOf(b.from.where), 'hide-small'],
], report.branches);

// --- hot paths: a card for each, its steps in the order of execution ---------------------------------------------
function paths() {
  if (report.paths.length === 0) return make('p.empty', {}, 'No branch stacks in this profile: record it with -b.');
  const most = Math.max(...report.paths.flatMap((p) => p.steps.map((step) => step.executions)));
  return make('div', {}, report.paths.map((path, n) => pathCard(path, n, most)));
}

function pathCard(path, n, most) {
  const through = [...new Set(path.steps.map((step) => spoken(nameOf(step.first.symbol))))];
  const size = `${path.steps.length} ${path.steps.length === 1 ? 'step' : 'steps'}`;
  return make('article.path', { id: `path-${n}`, 'aria-labelledby': `path-name-${n}` },
    make('h2', { id: `path-name-${n}` }, make('span.rank', {}, n + 1), path.is_loop ? 'Loop' : 'Path', ' ',
      make('small', {}, `seen ${count(path.executions)} times · ${size} · ${through.join(', ')}`)),
    make('ol', {}, path.steps.flatMap((step, k) => {
      const last = k + 1 === path.steps.length;
      return [make('li', {}, stepButton(step, most)), make('li.arrow', {}, arrowOf(path, step, last))];
    })));
}

const stepButton = (step, most) => make('button.step', {
  type: 'button', style: heat(percent(step.executions, most)),
  onclick: () => show('functions', step.first.symbol, step.first.address),
}, make('span', {}, make('b', {}, spoken(nameOf(step.first.symbol))), offsetOf(step.first)),
make('code', {}, sourceOf(step.first.where).trim()),
make('small', {}, `${lineOf(step.first.where)} · ${count(step.executions)}×`));

// Where the branch at the end of a step goes.
function arrowOf(path, step, last) {
  const taken = `${count(step.taken)}×`;
  if (!last) return [make('span', { 'aria-hidden': 'true' }, '→'), make('small', {}, taken)];
  if (path.is_loop) return [make('span', { 'aria-hidden': 'true' }, '↺'), make('small', {}, `${taken} back to the start`)];
  if (path.joins === null) return [make('span', { 'aria-hidden': 'true' }, '⇢'), make('small', {}, taken)];
  return [make('span', { 'aria-hidden': 'true' }, '→'), make('small', {}, `${taken} `,
    make('button.link', { type: 'button', onclick: () => document.getElementById(`path-${path.joins}`).scrollIntoView() }, `joins ${path.joins + 1}`))];
}
