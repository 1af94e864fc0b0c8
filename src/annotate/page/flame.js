// SPDX-License-Identifier: MIT
// --- flame graph: who called whom, or turned round: who is called by whom -------------------------------------------
// A tree of frames is a list of nodes with parent, symbol, and weights (itself, and with all above it); node 0 is all.
const noWeights = () => report.events.map(() => ({ samples: 0, period: 0 }));
const addWeights = (sum, more) => more.forEach((w, e) => { sum[e].period += Number(w.period); });

// Innermost functions first: each stack the other way round.
let turnedStacks = null;
function turned() {
  if (turnedStacks) return turnedStacks;
  const nodes = [{ parent: null, symbol: null, self: noWeights(), total: report.stacks[0].total }], known = new Map();
  const caller = (parent, symbol_) => {
    const key = `${parent} ${symbol_}`;
    if (!known.has(key)) known.set(key, nodes.push({ parent, symbol: symbol_, self: noWeights(), total: noWeights() }) - 1);
    return known.get(key);
  };
  for (const leaf of report.stacks) {
    if (leaf.symbol === null || leaf.self.every((w) => Number(w.period) === 0)) continue;
    let at = 0;
    for (let node = leaf; node.symbol !== null; node = report.stacks[node.parent]) {
      at = caller(at, node.symbol);
      addWeights(nodes[at].total, leaf.self);
    }
    addWeights(nodes[at].self, leaf.self);
  }
  turnedStacks = nodes;
  return nodes;
}

// The events that colours compare: [before, after]; null where colours go by name.
function comparedEvents() {
  if (state.colours === 'name') return null;
  if (difference) return [state.event - (state.event % 2), state.event - (state.event % 2) + 1];
  return [Number(state.colours), state.event];
}
// Of exact counts the difference counts, of samples that of the shares: in percent.
function growth(node, [before, after]) {
  const part = (e) => percent(Number(node.total[e].period), exact ? report.events[before].period : report.events[e].period);
  return part(after) - part(before);
}
const signed = (p) => (p < 0 ? '−' : '+') + shown(Math.abs(p));

function colourChoice(redraw) {
  const others = report.events.map((e, n) => [String(n), `compared with ${e.name}`]).filter(([n]) => Number(n) !== state.event);
  const choices = difference ? [['change', 'what changed'], ['name', 'by name']] : [['name', 'by name'], ...others];
  if (choices.length < 2) return null;
  if (!choices.some(([value]) => value === state.colours)) state.colours = choices[0][0];
  return make('label', {}, 'Colours ', make('select', { id: 'flame-colours', onchange: (e) => { state.colours = e.target.value; redraw(); } },
    choices.map(([value, text]) => make('option', { value, selected: value === state.colours }, text))));
}
const colourLegend = ([before, after]) => make('div.legend', { id: 'flame-legend' },
  make('span', {}, make('i', { style: 'background:hsl(8 85% 62%)' }), `more in ${report.events[after].name}`),
  make('span', {}, make('i', { style: 'background:hsl(215 85% 66%)' }), `less than in ${report.events[before].name}`),
  make('span', {}, exact ? 'darker: more of a difference in number' : 'darker: more of a difference in share'));

function flame() {
  if (report.stacks.length === 0)
    return make('p.empty', {}, difference ? 'Not both sides have call stacks.' : 'No call stacks in this profile: record it with -g.');
  if (period(report.stacks[0].total) === 0) return make('p.empty', {}, 'No call stacks of this event.');
  const box = make('div');
  const redraw = () => box.replaceChildren(...flameGraph(redraw));
  redraw();
  return box;
}

function flameGraph(redraw) {
  const tree = state.turned ? turned() : report.stacks;
  const children = tree.map(() => []);
  tree.forEach((node, n) => { if (node.parent !== null) children[node.parent].push(n); });
  const colours = colourChoice(redraw), compared = colours ? comparedEvents() : null;
  const most = compared ? tree.slice(1).reduce((largest, node) => Math.max(largest, Math.abs(growth(node, compared))), 1e-9) : 1;
  const hint = 'Choose a frame to look closer; arrow keys go from frame to frame, Escape goes back to all.';
  const detail = make('p.detail', { role: 'status' }, hint);
  const found = make('span', { role: 'status', id: 'flame-found' });
  const picture = make('div.flame', { role: 'group', 'aria-label': `Flame graph, ${state.turned ? 'innermost' : 'outermost'} functions first` });
  const named = (n) => (tree[n].symbol === null ? 'all' : nameOf(tree[n].symbol));
  const shareOf = (n) => shown(percent(period(tree[n].total), total()));
  const says = (n) => `${named(n)}: ${shareOf(n)}${state.turned ? '' : `, itself ${shown(percent(period(tree[n].self), total()))}`}${
    compared ? `, ${signed(growth(tree[n], compared))} ${exact ? 'of all before' : 'points'}` : ''}`;
  const colour = (n) => {
    if (!compared) return `--hue:${18 + (hash(named(n)) % 38)};--light:${62 + (hash(named(n)) % 13)}%`;
    const change = growth(tree[n], compared), strength = Math.min(1, Math.abs(change) / most);
    return `--hue:${change < 0 ? 215 : 8};--light:${(94 - 30 * strength).toFixed(1)}%`;
  };
  const fits = (n) => state.frame !== '' && named(n).toLowerCase().includes(state.frame.toLowerCase());
  // Each sample once, however many of its frames fit.
  const weightOfFitting = (n) => (fits(n) ? Number(period(tree[n].total)) : children[n].reduce((sum, child) => sum + weightOfFitting(child), 0));
  const mark = () => {
    for (const button of picture.querySelectorAll('button')) button.classList.toggle('found', fits(Number(button.dataset.node)));
    found.textContent = state.frame === '' ? '' : `${shown(percent(weightOfFitting(0), total()))} in frames with “${state.frame}”`;
  };
  const draw = (root) => {
    const levels = frames(tree, root, children);
    const tell = (n) => { detail.textContent = says(n); };
    whole.disabled = root === 0;
    picture.replaceChildren(...levels.map((level) => make('div.row', {}, level.map(([n, left, width]) => make('button', {
      type: 'button', title: says(n), 'aria-label': says(n), 'data-node': n,
      style: `left:${left}%;width:${width}%;${colour(n)}`,
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
  const turn = make('button', { type: 'button', id: 'flame-turn', 'aria-pressed': String(state.turned), title: 'Innermost functions first, and above each who called it',
    onclick: () => { state.turned = !state.turned; redraw(); document.getElementById('flame-turn').focus(); } }, 'Inverted');
  draw(0);
  return [make('div.tools', {}, search, whole, turn, colours, found), compared ? colourLegend(compared) : '', detail, picture];
}

// [node, left, width] in percent, by depth: what `root` is called by over the whole width, then `root` and below.
function frames(tree, root, children) {
  const levels = [], whole = period(tree[root].total) || 1;
  const above = [];
  for (let n = root; n !== null; n = tree[n].parent) above.unshift(n);
  above.forEach((n, depth) => { levels[depth] = n === root ? [] : [[n, 0, 100]]; });
  const byName = (a, b) => nameOf(tree[a].symbol).localeCompare(nameOf(tree[b].symbol));
  const place = (n, depth, left, width) => {
    (levels[depth] ??= []).push([n, left, width]);
    let at = left;
    for (const child of [...children[n]].sort(byName)) {
      const part = (100 * period(tree[child].total)) / whole;
      if (part >= 0.1) place(child, depth + 1, at, part);
      at += part;
    }
  };
  place(root, above.length - 1, 0, 100);
  return levels;
}
const hash = (text) => [...text].reduce((h, c) => (h * 31 + c.codePointAt(0)) >>> 0, 7);
