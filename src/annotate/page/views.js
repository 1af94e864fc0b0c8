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

// --- flame graph ---------------------------------------------------------------------------------------------------
function flame() {
  if (report.stacks.length === 0)
    return make('p.empty', {}, 'No call stacks in this profile: record it with --call-graph lbr.');
  if (period(report.stacks[0].total) === 0) return make('p.empty', {}, 'No call stacks of this event.');
  const children = report.stacks.map(() => []);
  report.stacks.forEach((node, n) => { if (node.parent !== null) children[node.parent].push(n); });
  const hint = 'Choose a frame to look closer; arrow keys go from frame to frame, Escape goes back to all.';
  const detail = make('p.detail', { role: 'status' }, hint);
  const found = make('span', { role: 'status', id: 'flame-found' });
  const picture = make('div.flame', { role: 'group', 'aria-label': 'Flame graph, outermost functions first' });
  const named = (n) => (report.stacks[n].symbol === null ? 'all' : nameOf(report.stacks[n].symbol));
  const shareOf = (n) => shown(percent(period(report.stacks[n].total), total()));
  const says = (n) => `${named(n)}: ${shareOf(n)}, itself ${shown(percent(period(report.stacks[n].self), total()))}`;
  const fits = (n) => state.frame !== '' && named(n).toLowerCase().includes(state.frame.toLowerCase());
  // Each sample once, however many of its frames fit.
  const weightOfFitting = (n) => (fits(n) ? period(report.stacks[n].total) : children[n].reduce((sum, child) => sum + weightOfFitting(child), 0));
  const mark = () => {
    for (const button of picture.querySelectorAll('button')) button.classList.toggle('found', fits(Number(button.dataset.node)));
    found.textContent = state.frame === '' ? '' : `${shown(percent(weightOfFitting(0), total()))} in frames with “${state.frame}”`;
  };
  const draw = (root) => {
    const levels = frames(root, children);
    const tell = (n) => { detail.textContent = says(n); };
    whole.disabled = root === 0;
    picture.replaceChildren(...levels.map((level) => make('div.row', {}, level.map(([n, left, width]) => make('button', {
      type: 'button', title: says(n), 'aria-label': says(n), 'data-node': n,
      style: `left:${left}%;width:${width}%;--hue:${18 + (hash(named(n)) % 38)};--light:${62 + (hash(named(n)) % 13)}%`,
      onclick: () => draw(n), onfocus: () => tell(n), onmouseenter: () => tell(n),
    }, `${spoken(named(n))} ${shareOf(n)}`)))));
    rove([...picture.querySelectorAll('button')], picture.querySelector('button'));
    mark();
  };
  picture.addEventListener('keydown', (e) => {
    if (e.key === 'Escape') { draw(0); picture.querySelector('button').focus(); return; }
    const row = e.target.parentElement;
    const next = { ArrowRight: e.target.nextElementSibling, ArrowLeft: e.target.previousElementSibling,
      ArrowDown: row.nextElementSibling?.firstElementChild, ArrowUp: row.previousElementSibling?.firstElementChild }[e.key];
    if (!next) return;
    e.preventDefault();
    rove([...picture.querySelectorAll('button')], next);
    next.focus();
  });
  const search = make('input', { type: 'search', id: 'flame-search', placeholder: 'Search frames', 'aria-label': 'Search frames',
    value: state.frame, oninput: (e) => { state.frame = e.target.value; mark(); } });
  const whole = make('button', { type: 'button', id: 'flame-all', onclick: () => { detail.textContent = hint; draw(0); } }, 'Show all');
  draw(0);
  return make('div', {}, make('div.tools', {}, search, whole, found), detail, picture);
}

// [node, left, width] in percent, by depth: what `root` is called by over the whole width, then `root` and below.
function frames(root, children) {
  const levels = [], whole = period(report.stacks[root].total) || 1;
  const above = [];
  for (let n = root; n !== null; n = report.stacks[n].parent) above.unshift(n);
  above.forEach((n, depth) => { levels[depth] = n === root ? [] : [[n, 0, 100]]; });
  const byName = (a, b) => nameOf(report.stacks[a].symbol).localeCompare(nameOf(report.stacks[b].symbol));
  const place = (n, depth, left, width) => {
    (levels[depth] ??= []).push([n, left, width]);
    let at = left;
    for (const child of [...children[n]].sort(byName)) {
      const part = (100 * period(report.stacks[child].total)) / whole;
      if (part >= 0.1) place(child, depth + 1, at, part);
      at += part;
    }
  };
  place(root, above.length - 1, 0, 100);
  return levels;
}
const hash = (text) => [...text].reduce((h, c) => (h * 31 + c.codePointAt(0)) >>> 0, 7);
