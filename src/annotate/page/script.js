'use strict';
(() => {
  const report = JSON.parse(document.getElementById('report').textContent);
  const sources = JSON.parse(document.getElementById('sources').textContent);
  let event = 0;

  // --- small words -------------------------------------------------------------------------------------
  const count = (n) => Number(n).toLocaleString('en-US');
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
    if (classes.length) node.className = classes.join(' ');
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
      else if (name === 'style') node.style.cssText = value;
      else if (value !== false && value !== null) node.setAttribute(name, value === true ? '' : value);
    }
    node.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return node;
  }
  const svg = (tag, attributes = {}) => {
    const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    return node;
  };

  // --- what the report says ------------------------------------------------------------------------------
  const total = () => report.events[event]?.period ?? 0;
  const period = (weights) => weights[event]?.period ?? 0;
  const share = (weights) => percent(period(weights), total());
  const symbol = (index) => (index === null ? null : report.symbols[index]);
  const nameOf = (index) => symbol(index)?.name ?? '[unknown]';
  const moduleOf = (s) => (s.module === null ? '[unknown]' : report.modules[s.module].path);
  const lineOf = (where) => (where ? `${base(report.files[where.file])}:${where.line}` : '');
  function placeOf(place) {
    const s = symbol(place.symbol);
    return s ? `${s.name}+0x${hex(offset(place.address, s.start))}` : `0x${hex(place.address)}`;
  }
  // Symbols by the chosen event, those with neither samples nor executions left out.
  const ranked = () =>
    report.symbols
      .map((s, index) => ({ s, index, period: period(s.weights) }))
      .filter(({ s, period: p }) => p > 0 || s.max_coverage > 0)
      .sort((a, b) => b.period - a.period || a.index - b.index);

  const bar = (parts, label) =>
    make('span.bar', { role: 'img', 'aria-label': label },
      parts.map(([p, kind]) => make(kind ? `i.${kind}` : 'i', { style: `width:${Math.min(p, 100)}%` })));
  const heat = (p) => `background: rgb(var(--heat) / ${Math.min(0.85, (p / 100) * 0.8 + 0.06).toFixed(3)})`;

  // --- tables ------------------------------------------------------------------------------------------
  // columns: [heading, cell of row, class]
  function table(caption, columns, rows) {
    if (rows.length === 0) return make('p.empty', {}, 'Nothing of this in the profile.');
    return make('div.scroll', {},
      make('table.ranking', {}, make('caption', { hidden: true }, caption),
        make('thead', {}, make('tr', {}, columns.map(([heading, , kind]) => make(kind ? `th.${kind}` : 'th', { scope: 'col' }, heading)))),
        make('tbody', {}, rows.map((row) =>
          make('tr', {}, columns.map(([, cell, kind]) => make(kind ? `td.${kind}` : 'td', {}, cell(row))))))));
  }
  const open = (index, address, label) => {
    const s = symbol(index);
    if (!s || s.function === null) return label;
    return make('button.link', { type: 'button', onclick: () => show('functions', index, address) }, label);
  };

  // --- functions ---------------------------------------------------------------------------------------
  let chosen = null, sought = '', lit = null;

  function functions() {
    const rows = ranked();
    if (chosen === null) chosen = rows.find(({ s }) => s.function !== null)?.index ?? rows[0]?.index ?? null;
    const list = make('ol', { id: 'functions' });
    const pane = make('section', { 'aria-label': 'Code', id: 'code' });
    const select = (index) => {
      chosen = index;
      for (const button of list.querySelectorAll('button'))
        button.setAttribute('aria-current', String(Number(button.dataset.symbol) === index));
      pane.replaceChildren(...code(index));
      remember();
    };
    const fill = () => {
      const word = sought.toLowerCase();
      const fitting = rows.filter(({ s }) => s.name.toLowerCase().includes(word) || moduleOf(s).toLowerCase().includes(word));
      list.replaceChildren(...fitting.slice(0, 2000).map(({ s, index }) =>
        make('li', {}, make('button', {
          type: 'button', 'data-symbol': index, 'aria-current': String(index === chosen), title: s.name,
          onclick: () => { lit = null; select(index); },
        }, make('span.share', {}, shown(share(s.weights))),
        make('span.name', {}, s.name, make('span.where', {}, base(moduleOf(s))))))));
      if (fitting.length === 0) list.append(make('li.empty', {}, 'No function of this name.'));
    };
    const search = make('input', {
      type: 'search', id: 'search', placeholder: 'Function or module', 'aria-label': 'Search functions', value: sought,
      oninput: (e) => { sought = e.target.value; fill(); },
    });
    list.addEventListener('keydown', (e) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
      const next = step && e.target.closest('li')?.[step > 0 ? 'nextElementSibling' : 'previousElementSibling']?.querySelector('button');
      if (!next) return;
      e.preventDefault();
      next.focus();
      next.click();
    });
    fill();
    if (chosen !== null) pane.replaceChildren(...code(chosen));
    else pane.append(make('p.empty', {}, 'The profile has no samples.'));
    return make('div.split', {}, make('div.list', {}, search, list), pane);
  }

  function facts(s, f) {
    const text = [`${shown(share(s.weights))} of ${report.events[event]?.name ?? ''}`, base(moduleOf(s))];
    if (s.max_coverage > 0) text.push(`most executed instruction seen ${count(s.max_coverage)} times`);
    if (f && f.average_ipc !== null) text.push(`IPC ${f.average_ipc.toFixed(2)} over ${(100 * f.ipc_coverage).toFixed(1)}% of the code`);
    return text.join(' · ');
  }

  function code(index) {
    const s = symbol(index);
    const f = s.function === null ? null : report.functions[s.function];
    const head = [make('h2', {}, s.name), make('p.facts', {}, facts(s, f))];
    if (!f) return [...head, make('p.empty', {}, 'This function is not annotated.')];
    if (f.problem) head.push(make('p.facts', {}, f.problem));
    if (f.instructions.length === 0) return head;
    const covered = f.instructions.some((i) => i.heat !== null);
    if (covered)
      head.push(make('div.legend', { 'aria-hidden': 'true' },
        make('span', {}, make('i', { style: heat(100) }), 'executed most'),
        make('span', {}, make('i', { style: heat(30) }), 'now and then'),
        make('span', {}, make('i', { style: 'border:1px solid var(--line)' }), 'never seen'),
        make('span', {}, make('i', { style: 'background:var(--good)' }), 'taken, predicted'),
        make('span', {}, make('i', { style: 'background:var(--bad)' }), 'taken, mispredicted')));
    return [...head, listing(s, f, covered)];
  }

  function listing(s, f, covered) {
    const whole = f.instructions.reduce((sum, i) => sum + period(i.weights), 0);
    const blockAt = new Map(f.blocks.map((b) => [b.first_instruction + b.instructions - 1, b]));
    const timed = f.blocks.some((b) => b.cycles !== null);
    const rowOf = [];
    const body = make('tbody');
    const columns = 4 + (covered ? 2 : 0) + (timed ? 1 : 0);
    let last = null;
    f.instructions.forEach((i, n) => {
      const key = i.where ? `${i.where.file}:${i.where.line}` : null;
      if (key && key !== last) body.append(sourceRow(i, f, columns));
      last = key;
      const row = instructionRow(s, i, whole, covered, timed ? blockAt.get(n) : undefined, timed);
      rowOf[n] = row;
      body.append(row);
    });
    const headings = ['', 'Share', covered ? 'Executed' : null, 'Address', 'Instruction', covered ? 'Branch' : null, timed ? 'Cycles (IPC)' : null];
    const all = make('table', {}, make('caption', { hidden: true }, `Code of ${s.name}`),
      make('thead', {}, make('tr', {}, headings.filter((h) => h !== null).map((h, n) => n === 0 ? make('td.arrows') : make('th', { scope: 'col' }, h)))), body);
    const box = make('div.code.scroll', {}, all);
    requestAnimationFrame(() => {
      arrows(box, f, rowOf);
      if (lit !== null) {
        const at = f.instructions.findIndex((i) => String(i.address) === String(lit));
        if (at >= 0) { rowOf[at].classList.add('lit'); rowOf[at].scrollIntoView({ block: 'center' }); }
      }
    });
    return box;
  }

  function sourceRow(i, f, columns) {
    const { file, line } = i.where;
    const text = sources[file]?.[line] ?? '';
    const inlined = i.inlined !== null ? ` (inlined: ${f.inline_stacks[i.inlined].map((frame) => frame.function).join(' → ')})` : '';
    return make('tr.source', {}, make('td.arrows'), make('td', { colspan: columns - 1 },
      make('span.line', {}, `${lineOf(i.where)}${inlined}  `), text));
  }

  function instructionRow(s, i, whole, covered, block, timed) {
    const p = percent(period(i.weights), whole);
    const cells = [make('td.arrows'), make('td.number', p > 0 ? { style: heat(p) } : {}, p > 0 ? shown(p) : '')];
    if (covered) cells.push(make('td.number', i.heat ? { style: heat(100 * i.heat) } : {}, i.coverage > 0 ? count(i.coverage) : ''));
    cells.push(make('td.address', {}, hex(i.address)), make('td', {}, i.text));
    if (covered) cells.push(make('td.remark', {}, remark(i)));
    if (timed) cells.push(make('td.number.hide-small', {}, block && block.cycles ? cycles(block) : ''));
    const row = make('tr', { 'data-address': hex(i.address) }, cells);
    if (i.join) row.classList.add('target');
    return row;
  }
  const cycles = (b) => `${Math.floor(b.cycles.sum / b.cycles.executions)}${b.ipc !== null ? ` (${b.ipc.toFixed(2)})` : ''}`;

  // As perf annotate prints it, with a bar for the branch.
  function remark(i) {
    const parts = [];
    if (i.join && i.join.percent > 0.1) parts.push(make('span', {}, `+${shown(i.join.percent)} `));
    if (i.leave && i.leave.percent > 0.1) {
      const { percent: taken, predicted_percent: right } = i.leave;
      const label = `taken ${shown(taken)}, of those predicted ${shown(right)}`;
      parts.push(bar([[(taken * right) / 100, 'good'], [(taken * (100 - right)) / 100, 'bad']], label), ` -${shown(taken)} (p:${shown(right)})`);
    }
    return parts;
  }

  // The jumps taken most often, as arcs left of the code.
  function arrows(box, f, rowOf) {
    const hottest = f.jumps.slice(0, 24);
    if (hottest.length === 0 || !rowOf.length || rowOf[0].cells[0].offsetWidth === 0) return;
    const width = rowOf[0].cells[0].offsetWidth - 6, top = box.getBoundingClientRect().top - box.scrollTop;
    const middle = (n) => { const r = rowOf[n].getBoundingClientRect(); return r.top - top + r.height / 2; };
    const most = hottest[0].taken;
    const picture = svg('svg', { width, height: box.scrollHeight, 'aria-hidden': 'true' });
    const marker = svg('marker', { id: 'tip', viewBox: '0 0 6 6', refX: 6, refY: 3, markerWidth: 5, markerHeight: 5, orient: 'auto' });
    marker.append(svg('path', { d: 'M0,0L6,3L0,6z' }));
    const definitions = svg('defs');
    definitions.append(marker);
    picture.append(definitions);
    const byLength = [...hottest].sort((a, b) => Math.abs(a.from - a.to) - Math.abs(b.from - b.to));
    byLength.forEach((jump, n) => {
      const from = middle(jump.from), to = middle(jump.to), strength = jump.taken / most;
      const x = width - 12 - ((n + 1) * (width - 18)) / byLength.length;
      picture.append(svg('path', {
        d: `M${width},${from}H${x + 4}Q${x},${from} ${x},${from + Math.sign(to - from) * 4}V${to - Math.sign(to - from) * 4}Q${x},${to} ${x + 4},${to}H${width - 2}`,
        'stroke-width': (1 + 2 * strength).toFixed(2), 'stroke-opacity': (0.25 + 0.75 * strength).toFixed(2), 'marker-end': 'url(#tip)',
      }));
    });
    box.append(picture);
  }

  // --- the other views -----------------------------------------------------------------------------------
  const shareColumns = (weights) => [
    ['Share', (row) => shown(share(weights(row))), 'number'],
    ['', (row) => bar([[share(weights(row)), '']], shown(share(weights(row)))), 'hide-small'],
  ];

  const lines = () => table('Source lines by samples', [
    ...shareColumns((l) => l.weights),
    ['Line', (l) => open(l.symbol, null, lineOf(l.where)), ''],
    ['Function', (l) => nameOf(l.symbol), 'wide'],
    ['Source', (l) => sources[l.where?.file]?.[l.where?.line]?.trim() ?? '', 'wide.hide-small'],
  ], report.lines);

  const modules = () => table('Modules by samples', [
    ...shareColumns((m) => m.weights),
    ['Module', (m) => m.path, 'wide'],
    ['Build id', (m) => m.build_id.slice(0, 12), 'hide-small'],
    ['', (m) => m.problem, 'wide'],
  ], report.modules);

  const branches = () => table('Branches by executions', [
    ['Taken', (b) => count(b.taken), 'number'],
    ['Mispredicted', (b) => shown(percent(b.mispredicted, b.predicted + b.mispredicted)), 'number'],
    ['', (b) => bar([[percent(b.predicted, b.taken), 'good'], [percent(b.mispredicted, b.taken), 'bad']],
      `${count(b.predicted)} predicted, ${count(b.mispredicted)} mispredicted`), 'hide-small'],
    ['Cycles', (b) => (b.timed > 0 ? (b.cycles / b.timed).toFixed(1) : ''), 'number'],
    ['From', (b) => open(b.from.symbol, b.from.address, placeOf(b.from)), 'wide'],
    ['To', (b) => open(b.to.symbol, b.to.address, placeOf(b.to)), 'wide'],
    ['Line', (b) => lineOf(b.from.where), 'hide-small'],
  ], report.branches);

  function paths() {
    if (report.paths.length === 0) return make('p.empty', {}, 'No branch stacks in this profile: record it with -b.');
    const most = Math.max(...report.paths.flatMap((p) => p.steps.map((step) => step.executions)));
    return make('div', {}, report.paths.map((path, n) => make('article.path', {},
      make('h2', {}, `${n + 1}. ${path.is_loop ? 'Loop' : 'Path'} of ${path.steps.length} ${path.steps.length === 1 ? 'block' : 'blocks'}, ${count(path.executions)} times`),
      make('ol', {}, path.steps.map((step, k) => make('li', {},
        make('button.step', {
          type: 'button', style: `--warmth:${(0.6 * step.executions / most).toFixed(3)}`,
          onclick: () => show('functions', step.first.symbol, step.first.address),
        }, placeOf(step.first), make('small', {}, `${lineOf(step.first.where)} ${count(step.executions)}×`)),
        k + 1 < path.steps.length || path.is_loop
          ? make('span.arrow', {}, `${k + 1 < path.steps.length ? '→' : '↺'} ${count(step.taken)}×`) : null))))));
  }

  function flame() {
    if (report.stacks.length === 0)
      return make('p.empty', {}, 'No call stacks in this profile: record it with --call-graph lbr.');
    const children = report.stacks.map(() => []);
    report.stacks.forEach((node, n) => { if (node.parent !== null) children[node.parent].push(n); });
    const detail = make('p.detail', { role: 'status' }, 'Choose a frame to look closer.');
    const picture = make('div.flame');
    const draw = (root) => {
      const rows = [];
      const whole = period(report.stacks[root].total) || 1;
      const above = [];
      for (let n = root; n !== null; n = report.stacks[n].parent) above.unshift(n);
      const place = (n, depth, left, width) => {
        (rows[depth] ??= []).push([n, left, width]);
        let at = left;
        for (const child of [...children[n]].sort((a, b) => nameOf(report.stacks[a].symbol).localeCompare(nameOf(report.stacks[b].symbol)))) {
          const part = (100 * period(report.stacks[child].total)) / whole;
          if (part >= 0.1) place(child, depth + 1, at, part);
          at += part;
        }
      };
      above.forEach((n, depth) => { if (n !== root) rows[depth] = [[n, 0, 100]]; });
      place(root, above.length - 1, 0, 100);
      picture.replaceChildren(...rows.map((row) => make('div.row', {}, row.map(([n, left, width]) => {
        const node = report.stacks[n];
        const name = node.symbol === null ? 'all' : nameOf(node.symbol);
        const says = `${name}: ${shown(percent(period(node.total), total()))}, itself ${shown(percent(period(node.self), total()))}`;
        const tell = () => { detail.textContent = says; };
        return make('button', {
          type: 'button', title: says, 'aria-label': says,
          style: `left:${left}%;width:${width}%;background:hsl(${18 + (hash(name) % 38)} 85% ${62 + (hash(name) % 13)}%)`,
          onclick: () => draw(n), onfocus: tell, onmouseenter: tell,
        }, name);
      }))));
    };
    draw(0);
    return make('div', {}, detail, picture);
  }
  const hash = (text) => [...text].reduce((h, c) => (h * 31 + c.codePointAt(0)) >>> 0, 7);

  // --- the page --------------------------------------------------------------------------------------------
  const views = [
    ['functions', 'Functions', functions], ['lines', 'Lines', lines], ['branches', 'Branches', branches],
    ['paths', 'Hot paths', paths], ['flame', 'Flame graph', flame], ['modules', 'Modules', modules],
  ];
  let view = 'functions';

  function show(name, index = null, address = null) {
    view = name;
    if (index !== null) { chosen = index; lit = address; }
    for (const tab of document.querySelectorAll('nav button')) {
      const selected = tab.dataset.view === view;
      tab.setAttribute('aria-selected', String(selected));
      tab.tabIndex = selected ? 0 : -1;
    }
    const main = document.getElementById('main');
    main.setAttribute('aria-label', views.find(([key]) => key === view)[1]);
    main.replaceChildren(views.find(([key]) => key === view)[2]());
    remember();
  }
  const remember = () => history.replaceState(null, '', `#${view}${view === 'functions' && chosen !== null ? `=${chosen}` : ''}`);

  function begin() {
    document.title = `${base(report.input)} – profile`;
    document.getElementById('title').textContent = report.input;
    document.getElementById('about').textContent = [report.command_line, report.cpu, `${count(report.totals.samples)} samples`,
      report.totals.branch_entries > 0 ? `${count(report.totals.branch_entries)} branches` : null].filter(Boolean).join(' · ');
    const tabs = document.getElementById('tabs');
    tabs.append(...views.map(([key, title]) => make('button', { type: 'button', role: 'tab', 'aria-controls': 'main', 'data-view': key, onclick: () => show(key) }, title)));
    tabs.addEventListener('keydown', (e) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
      if (!step) return;
      const at = views.findIndex(([key]) => key === view);
      show(views[(at + step + views.length) % views.length][0]);
      tabs.querySelector('[aria-selected="true"]').focus();
    });
    if (report.notes.length > 0) {
      const notes = document.getElementById('notes');
      notes.hidden = false;
      notes.append(...report.notes.map((note) => make('p', {}, note)));
    }
    if (report.events.length > 1) {
      document.getElementById('event-choice').hidden = false;
      const select = document.getElementById('event');
      select.append(...report.events.map((e, n) => make('option', { value: n }, e.name)));
      select.addEventListener('change', () => { event = Number(select.value); chosen = null; show(view); });
    }
    document.getElementById('theme').addEventListener('click', () => {
      const root = document.documentElement;
      const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
      root.dataset.theme = dark ? 'light' : 'dark';
    });
    document.addEventListener('keydown', (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT)$/.test(e.target.tagName)) return;
      if (e.key === '/') { e.preventDefault(); show('functions'); document.getElementById('search').focus(); }
      const number = Number(e.key);
      if (number >= 1 && number <= views.length) show(views[number - 1][0]);
    });
    const [, wanted, index] = /^#([a-z]+)(?:=(\d+))?$/.exec(location.hash) ?? [];
    const known = views.some(([key]) => key === wanted);
    show(known ? wanted : 'functions', index !== undefined && report.symbols[index] ? Number(index) : null);
  }
  begin();
})();
