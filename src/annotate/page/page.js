// SPDX-License-Identifier: MIT
// --- the page ----------------------------------------------------------------------------------------------------------
const everyView = [
  ...whyViews,
  ['functions', 'Functions', functions], ['lines', 'Lines', lines], ['branches', 'Branches', branches],
  ['paths', 'Hot paths', paths], ['flame', 'Flame graph', flame], ['modules', 'Modules', modules],
];
// A replay that counts everything has no branch stacks, a comparison no code.
const views = difference ? differenceViews() : everyView.filter(([key]) => !why || !['branches', 'paths'].includes(key));

function show(name, index = null, address = null) {
  if (name === undefined) return;
  state.view = name;
  if (index !== null) { state.chosen = index; state.lit = address; }
  const tabs = [...document.querySelectorAll('[role=tab]')];
  for (const tab of tabs) tab.setAttribute('aria-selected', String(tab.dataset.view === name));
  rove(tabs, tabs.find((tab) => tab.dataset.view === name));
  const panel = document.getElementById('view');
  panel.setAttribute('aria-labelledby', `tab-${name}`);
  panel.replaceChildren(views.find(([key]) => key === name)[2]());
  remember();
}
const remember = () =>
  history.replaceState(null, '', `#${state.view}${state.view === 'functions' && state.chosen !== null ? `=${state.chosen}` : ''}`);

// The figures at the top: name, value, and what it means in full.
function figures() {
  const event = report.events[state.event], t = report.totals;
  const all = [];
  if (difference) all.push(...sides());
  else if (why) all.push(['Cycles', why.total.cycles], ['Instructions', why.total.instructions], ['IPC', ipcOf({ counts: why.total }).toFixed(2)]);
  else if (event) all.push(['Samples', event.samples], [event.name, event.period]);
  if (t.branch_entries > 0) {
    const right = report.branches.reduce((sum, b) => sum + b.predicted, 0), wrong = report.branches.reduce((sum, b) => sum + b.mispredicted, 0);
    all.push(['Branches seen', t.branch_entries]);
    if (right + wrong > 0) all.push(['Mispredicted', shown(percent(wrong, right + wrong))]);
  }
  document.getElementById('figures').replaceChildren(...all.map(([name, value]) =>
    make('div', {}, make('dt', {}, name), make('dd', { title: typeof value === 'string' ? value : count(value) }, typeof value === 'string' ? value : brief(value)))));
}

// Of a comparison: the chosen event on both sides.
function sides() {
  const change = difference.events.length > 0 ? chosenChange() : null;
  return change ? [['Before', Number(change.before)], ['After', Number(change.after)], ['Change', relativeText(change)]] : [];
}

// The code of the hottest function, at its hottest instruction.
function showHottest() {
  if (difference) { show(views[0]?.[0]); return; }
  const hottest = ranked().find(({ s }) => s.function !== null);
  if (!hottest) { show('functions'); return; }
  const { instructions } = unpacked(hottest.s.function);
  const heaviest = instructions.reduce((a, b) => (a && period(a.weights) >= period(b.weights) ? a : b), null);
  show('functions', hottest.index, heaviest && period(heaviest.weights) > 0 ? heaviest.address : null);
}

function makeTabs() {
  const tabs = document.getElementById('tabs');
  tabs.append(...views.map(([key, title]) => make('button', {
    type: 'button', role: 'tab', id: `tab-${key}`, 'aria-controls': 'view', 'data-view': key, onclick: () => show(key),
  }, title)));
  tabs.addEventListener('keydown', (e) => {
    const at = views.findIndex(([key]) => key === state.view);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1 + views.length, Home: 0, End: views.length - 1 }[e.key];
    if (next === undefined) return;
    e.preventDefault();
    show(views[next % views.length][0]);
    tabs.querySelector('[aria-selected="true"]').focus();
  });
}

function makeTheme() {
  const root = document.documentElement, button = document.getElementById('theme');
  const isDark = () => (root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches);
  button.setAttribute('aria-pressed', String(isDark()));
  button.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    button.setAttribute('aria-pressed', String(isDark()));
  });
}

function makeEvents() {
  if (report.events.length < 2) return;
  document.getElementById('event-choice').hidden = false;
  const select = document.getElementById('event');
  select.append(...report.events.map((e, n) => make('option', { value: n, selected: n === state.event }, e.name)));
  select.addEventListener('change', () => { state.event = Number(select.value); state.chosen = null; figures(); show(state.view); });
}

function begin() {
  const title = difference ? report.input : base(report.input);
  document.title = `${title} – ${difference ? 'difference' : why ? 'why' : 'profile'}`;
  document.getElementById('last-view').textContent = views.length;
  document.getElementById('title').textContent = title;
  document.getElementById('about').title = `${report.input}: ${report.command_line}`;
  document.getElementById('about').replaceChildren(make('code', {}, report.command_line), report.cpu ? ` on ${report.cpu}` : '');
  if (report.notes.length > 0) {
    const notes = document.getElementById('notes');
    notes.hidden = false;
    notes.append(...report.notes.map((note) => make('p', {}, note)));
  }
  figures();
  makeTabs();
  makeTheme();
  makeEvents();
  makeSheet();
  document.addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT)$/.test(e.target.tagName)) return;
    if (e.key === '/' && !difference) { e.preventDefault(); show('functions'); document.getElementById('search').focus(); }
    const number = Number(e.key);
    if (number >= 1 && number <= views.length) show(views[number - 1][0]);
  });
  const [, wanted, index] = /^#([a-z]+)(?:=(\d+))?$/.exec(location.hash) ?? [];
  const known = views.some(([key]) => key === wanted);
  if (known) show(wanted, index !== undefined && report.symbols[index] ? Number(index) : null);
  else showHottest();
}
begin();
