// SPDX-License-Identifier: MIT
// More at once make the page wait.
const mostListed = 400, rowsAtOnce = 300;

// --- functions: the ranking beside the code of the chosen one --------------------------------------------------
function functions() {
  const all = ranked();
  if (state.chosen === null) state.chosen = all.find(({ s }) => s.function !== null)?.index ?? all[0]?.index ?? null;
  const most = all.length > 0 ? Math.max(share(all[0].s.weights), 1e-9) : 1;
  const list = make('ol', { id: 'functions', 'aria-label': 'Functions, hottest first' });
  const found = make('p.unseen', { role: 'status', id: 'found' });
  const pane = make('section', { 'aria-label': 'Code', id: 'code' });
  const mark = () => {
    const buttons = [...list.querySelectorAll('button')];
    for (const button of buttons) button.setAttribute('aria-current', String(Number(button.dataset.symbol) === state.chosen));
    rove(buttons, buttons.find((b) => b.getAttribute('aria-current') === 'true') ?? buttons[0]);
  };
  const select = (index) => {
    state.chosen = index;
    state.lit = null;
    mark();
    pane.replaceChildren(...code(index));
    remember();
  };
  const item = ({ s, index }) => make('li', {}, make('button', {
    type: 'button', 'data-symbol': index, title: s.name, style: `--width:${percent(share(s.weights), most).toFixed(1)}%`,
    onclick: () => select(index),
  }, make('span.share', {}, shown(share(s.weights))), make('span.name', {}, spoken(s.name), make('span.where', {}, base(moduleOf(s))))));
  const fill = () => {
    const word = state.sought.toLowerCase();
    const fitting = all.filter(({ s }) => s.name.toLowerCase().includes(word) || moduleOf(s).toLowerCase().includes(word));
    list.replaceChildren(...fitting.slice(0, mostListed).map(item));
    if (fitting.length === 0) list.append(make('li.empty', {}, 'No function of this name.'));
    if (fitting.length > mostListed) list.append(make('li.empty', {}, `and ${count(fitting.length - mostListed)} more: search for them`));
    found.textContent = `${count(fitting.length)} of ${count(all.length)} functions`;
    mark();
  };
  const search = make('input', {
    type: 'search', id: 'search', placeholder: `Search ${count(all.length)} functions`, 'aria-label': 'Search functions and modules',
    'aria-controls': 'functions', value: state.sought, oninput: (e) => { state.sought = e.target.value; fill(); },
    onkeydown: (e) => { if (e.key === 'ArrowDown') { e.preventDefault(); list.querySelector('button')?.focus(); } },
  });
  list.addEventListener('keydown', (e) => {
    const item_ = e.target.closest('li');
    const next = { ArrowDown: item_?.nextElementSibling, ArrowUp: item_?.previousElementSibling,
      Home: list.firstElementChild, End: list.lastElementChild }[e.key]?.querySelector('button');
    if (!next) return;
    e.preventDefault();
    next.focus();
    next.click();
  });
  fill();
  if (state.chosen !== null) pane.replaceChildren(...code(state.chosen));
  else pane.append(make('p.empty', {}, 'The profile has no samples.'));
  return make('div.split', {}, make('div.list', {}, search, found, list), pane);
}

function facts(s, f) {
  const text = [`${shown(share(s.weights))} of ${report.events[state.event]?.name ?? ''}`, base(moduleOf(s))];
  if (s.max_coverage > 0) text.push(`hottest instruction seen ${count(s.max_coverage)} times`);
  if (f && f.average_ipc !== null) text.push(`IPC ${f.average_ipc.toFixed(2)} over ${(100 * f.ipc_coverage).toFixed(1)}% of the code`);
  return text.join(' · ');
}

function code(index) {
  const s = symbol(index);
  const f = s.function === null ? null : unpacked(s.function);
  const head = [make('h2', {}, spoken(s.name))];
  if (spoken(s.name) !== s.name) head.push(make('p.signature', { title: s.name }, s.name));
  head.push(make('p.facts', {}, facts(s, f)));
  if (!f) return [...head, make('p.empty', {}, 'This function is not annotated.')];
  if (f.problem) head.push(make('p.facts', {}, f.problem));
  if (f.instructions.length === 0) return head;
  const covered = f.instructions.some((i) => i.heat !== null);
  const [box, rowOf] = listing(s, f, covered);
  if (covered) head.push(strip(f, rowOf), legend());
  return [...head, box];
}

const legend = () => make('div.legend', { 'aria-hidden': 'true' },
  make('span', {}, make('i.scale'), 'never to most often seen in branch stacks'),
  make('span', {}, make('i', { style: 'background:var(--good)' }), 'taken, predicted'),
  make('span', {}, make('i', { style: 'background:var(--bad)' }), 'taken, mispredicted'));

// The whole function at a glance: a stripe for each run of instructions that branch stacks show equally often.
function strip(f, rowOf) {
  const runs = [];
  f.instructions.forEach((i, n) => {
    const last = runs.at(-1);
    if (last && last.coverage === i.coverage) last.size += 1;
    else runs.push({ n, size: 1, coverage: i.coverage, heat: i.heat ?? 0 });
  });
  return make('div.strip', { 'aria-hidden': 'true' }, runs.slice(0, 2000).map((r) => make('i', {
    style: `flex-grow:${r.size};${heat(100 * r.heat)}`, title: `${hex(f.instructions[r.n].address)}: ${count(r.coverage)}×`,
    onclick: () => rowOf[r.n]?.scrollIntoView({ block: 'center' }),
  })));
}

function listing(s, f, covered) {
  const whole = f.instructions.reduce((sum, i) => sum + period(i.weights), 0);
  const most = f.instructions.reduce((largest, i) => Math.max(largest, period(i.weights)), 0);
  const blockAt = new Map(f.blocks.map((b) => [b.last, b]));
  const timed = f.blocks.length > 0;
  const rowOf = [];
  const columns = 4 + (covered ? 2 : 0) + (timed ? 1 : 0);
  const body = make('tbody', { role: 'rowgroup' });
  const keyOf = (i) => (i.where ? `${i.where.file}:${i.where.line}:${i.inlined}` : null);
  const append = (n) => {
    const i = f.instructions[n], key = keyOf(i);
    if (key && (n === 0 || key !== keyOf(f.instructions[n - 1]))) body.append(sourceRow(i, f, columns));
    rowOf[n] = instructionRow(s, i, { whole, most, covered, timed }, blockAt.get(n));
    body.append(rowOf[n]);
  };
  const headings = [['Share', 'number'], covered && ['Seen', 'number', 'how often branch stacks show it: a sample of its executions'], ['Address', 'address'], ['Instruction', ''],
    covered && ['Branch', 'remark'], timed && ['Cycles (IPC)', 'number.hide-small']].filter(Boolean);
  const all = make('table', { role: 'table' }, make('caption.unseen', {}, `Code of ${s.name}`),
    make('thead', { role: 'rowgroup' }, make('tr', { role: 'row' }, make('td.arrows', { role: 'cell' }),
      headings.map(([h, kind, title]) => make(kind ? `th.${kind}` : 'th', { scope: 'col', role: 'columnheader', title: title ?? null }, h)))), body);
  const box = make(covered ? 'div.code' : 'div.code.plain', {}, all);
  const finish = () => {
    if (!box.isConnected) return;
    arrows(box, f, rowOf);
    if (state.lit === null) return;
    const at = f.instructions.findIndex((i) => String(i.address) === String(state.lit));
    if (at >= 0) { rowOf[at].classList.add('lit'); rowOf[at].scrollIntoView({ block: 'center' }); }
  };
  // Long functions come piece by piece, the first at once.
  const more = (from) => {
    const end = Math.min(from + rowsAtOnce, f.instructions.length);
    for (let n = from; n < end; ++n) append(n);
    if (end === f.instructions.length) setTimeout(finish);
    else setTimeout(() => { if (box.isConnected) more(end); });
  };
  more(0);
  return [box, rowOf];
}

function sourceRow(i, f, columns) {
  const stack = i.inlined === null ? null : f.inline_stacks[i.inlined];
  return make('tr.source', { role: 'row' }, make('td.arrows', { role: 'cell' }), make('td', { colspan: columns - 1, role: 'cell' },
    make('span.line', {}, lineOf(i.where)), make('span', {}, sourceOf(i.where).replace(/^ {16,}/, '    ')),
    stack ? make('span.inlined', { title: `inlined: ${stack.join(' → ')}` }, `inlined ${spoken(stack.at(-1))}`) : null));
}

function instructionRow(s, i, { whole, most, covered, timed }, block) {
  const p = percent(period(i.weights), whole);
  const cells = [make('td.arrows', { role: 'cell' }),
    make('td.number.part', { role: 'cell', style: `--part:${percent(period(i.weights), most).toFixed(1)}%` }, p > 0 ? shown(p) : '')];
  if (covered)
    cells.push(make(i.heat ? 'td.number.hot' : 'td.number', i.heat ? { role: 'cell', style: heat(100 * i.heat) } : { role: 'cell' },
      i.coverage > 0 ? count(i.coverage) : ''));
  cells.push(make('th.address', { scope: 'row', role: 'rowheader' }, hex(i.address)), instructionCell(s, i.text));
  if (covered) cells.push(make('td.remark', { role: 'cell' }, remark(i)));
  if (timed) cells.push(make('td.number.hide-small', { role: 'cell' }, block ? cycles(block) : ''));
  const row = make('tr', { 'data-address': hex(i.address), role: 'row' }, cells);
  if (i.join) row.classList.add('target');
  if (covered && !i.heat) row.classList.add('cold');
  return row;
}
// Places in the function itself are named by their offset alone.
function instructionCell(s, whole) {
  const text = whole.replace(`<${s.name}+`, '<+'), end = text.indexOf(' ');
  const attributes = { role: 'cell', title: text.length > 30 ? whole : null };
  return end < 0 ? make('td.text', attributes, make('b', {}, text)) : make('td.text', attributes, make('b', {}, text.slice(0, end)), text.slice(end));
}
const cycles = (b) => `${Math.floor(b.cycles.sum / b.cycles.executions)}${b.ipc !== null ? ` (${b.ipc.toFixed(2)})` : ''}`;

// As perf annotate prints it, with a bar for the branch.
function remark(i) {
  const parts = [];
  if (i.join && i.join.percent > 0.1) parts.push(make('span.join', {}, `+${shown(i.join.percent)} `));
  if (i.leave && i.leave.percent > 0.1) {
    const { percent: taken, predicted_percent: right } = i.leave;
    if (right === null) parts.push(bar([[taken, 'unknown']], `taken ${shown(taken)}, prediction not recorded`), ` -${shown(taken)}`);
    else
      parts.push(bar([[(taken * right) / 100, 'good'], [(taken * (100 - right)) / 100, 'bad']],
        `taken ${shown(taken)}, of those predicted ${shown(right)}`), ` -${shown(taken)} (p:${shown(right)})`);
  }
  return parts;
}

// The jumps taken most often, as arcs left of the code: short ones inside, those of the row pointed at stand out.
function arrows(box, f, rowOf) {
  const hottest = f.jumps.slice(0, 24);
  if (hottest.length === 0 || !rowOf.length || rowOf[0].cells[0].offsetWidth === 0) return;
  const width = rowOf[0].cells[0].offsetWidth - 6, top = box.getBoundingClientRect().top;
  const middle = (n) => { const r = rowOf[n].getBoundingClientRect(); return r.top - top + r.height / 2; };
  const most = hottest[0].taken;
  const picture = svg('svg', { width, height: box.scrollHeight, 'aria-hidden': 'true' });
  const marker = svg('marker', { id: 'tip', viewBox: '0 0 6 6', refX: 6, refY: 3, markerWidth: 8, markerHeight: 8, markerUnits: 'userSpaceOnUse', orient: 'auto' });
  marker.append(svg('path', { d: 'M0,0L6,3L0,6z' }));
  const definitions = svg('defs');
  definitions.append(marker);
  picture.append(definitions);
  const arcs = new Map();
  const byLength = [...hottest].sort((a, b) => Math.abs(a.from - a.to) - Math.abs(b.from - b.to));
  byLength.forEach((jump, n) => {
    const from = middle(jump.from), to = middle(jump.to), strength = jump.taken / most;
    const x = width - 14 - ((n + 0.5) * (width - 18)) / byLength.length, bend = 5 * Math.sign(to - from);
    const arc = svg('path', {
      class: jump.to <= jump.from ? 'back' : 'forth',
      d: `M${width},${from}H${x + 5}Q${x},${from} ${x},${from + bend}V${to - bend}Q${x},${to} ${x + 5},${to}H${width - 1}`,
      'stroke-width': (1.2 + 2 * strength).toFixed(2), 'stroke-opacity': (0.3 + 0.7 * strength).toFixed(2), 'marker-end': 'url(#tip)',
    });
    for (const end of [jump.from, jump.to]) arcs.set(rowOf[end], [...(arcs.get(rowOf[end]) ?? []), arc]);
    picture.append(arc);
  });
  box.append(picture);
  for (const [type, on] of [['mouseover', true], ['mouseout', false]])
    box.addEventListener(type, (e) => {
      for (const arc of arcs.get(e.target.closest('tr')) ?? []) arc.classList.toggle('pointed', on);
    });
}
