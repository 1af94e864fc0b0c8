// SPDX-License-Identifier: MIT
// --- on paper: one sheet with the head of each table, in light colours --------------------------------------------
const rankedFunctions = () => table('Functions by samples', [
  ...shareColumns(({ s }) => s.weights),
  ['Function', ({ s }) => short(spoken(s.name)), ''],
  ['Module', ({ s }) => short(base(moduleOf(s))), ''],
], ranked());

// The view of functions is code, which fills sheets; a table has their place.
function sheetParts() {
  const tables = views.filter(([key]) => !['functions', 'modules', 'costs'].includes(key));
  return (difference ? tables : [['ranking', 'Functions', rankedFunctions], ...tables])
    .map(([, title, view]) => [title, view()])
    .filter(([, content]) => !content.classList.contains('empty') && !content.querySelector(':scope > .empty:only-child'));
}

function makeSheet() {
  const sheet = document.getElementById('sheet'), root = document.documentElement;
  let theme;
  addEventListener('beforeprint', () => {
    theme = root.dataset.theme;
    root.dataset.theme = 'light';
    const parts = sheetParts();
    sheet.style.setProperty('--parts', parts.length);
    sheet.replaceChildren(...parts.map(([title, content]) => make('section', {}, make('h2', {}, title), content)));
  });
  addEventListener('afterprint', () => {
    if (theme === undefined) delete root.dataset.theme; else root.dataset.theme = theme;
    sheet.replaceChildren();
  });
}
