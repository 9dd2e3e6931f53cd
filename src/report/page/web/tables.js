/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that sort and filter: those of the page by what their cells say, that of the processes from the data. */
'use strict';

const FILTER_FROM = 12, PROCESSES_AT_ONCE = 50;

/* Empty is last, whichever way. */
function compared(x, y, isText, down) {
	const empty = (v) => v === '' || v === undefined || v === null;
	if (empty(x) || empty(y)) return empty(x) - empty(y);
	const d = isText ? String(x).localeCompare(String(y)) : Number(x) - Number(y);
	return down ? -d : d;
}

/* Makes the headings buttons; sort(column, down) does the work. Texts begin with A, numbers with the largest. */
function sortButtons(table, sort) {
	[...table.tHead.rows[0].cells].forEach((th, column) => {
		const button = element('button', { type: 'button', textContent: th.textContent });
		th.replaceChildren(button);
		button.addEventListener('click', () => {
			const now = th.getAttribute('aria-sort'), isText = th.dataset.text !== undefined;
			const down = now ? now === 'ascending' : !isText;
			for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
			th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
			sort(column, down, isText);
		});
	});
}

function filterBox(what, changed) {
	const input = element('input', { type: 'search', placeholder: 'Filter', autocomplete: 'off', spellcheck: false });
	const told = element('output', { className: 'soft' });
	input.setAttribute('aria-label', 'Filter ' + what);
	input.addEventListener('input', () => changed());
	return { input, told, box: element('div', { className: 'filter' }, input, told) };
}

/* data-v holds what a cell is sorted by when that is not what it says. */
function keyOf(cell, isText) {
	const key = cell.dataset.v ?? cell.textContent;
	return isText || Number.isFinite(Number(key)) ? key : '';
}

function sortable(table) {
	const body = table.tBodies[0], rows = [...body.rows];
	sortButtons(table, (column, down, isText) => {
		const key = (row) => keyOf(row.cells[column], isText);
		body.append(...[...body.rows].sort((a, b) => compared(key(a), key(b), isText, down)));
	});
	if (rows.length < FILTER_FROM) return;
	const filter = filterBox(table.caption.textContent, () => {
		const wanted = filter.input.value.toLowerCase();
		for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
		filter.told.textContent = wanted ? rows.filter((row) => !row.hidden).length + ' of ' + rows.length : '';
	});
	table.closest('.scroll').before(filter.box);
}

/* All processes that the data has, in place of the few that are in the page itself. */
class Processes {
	constructor(view, section) {
		this.view = view;
		this.shown = PROCESSES_AT_ONCE;
		this.sorted = { column: 1, down: true };
		const many = view.data.nodes_total > 1, bytes = unitOf('bytes').text;
		this.columns = [
			{ title: 'Process', isText: true, key: (p) => p.name },
			{ title: 'CPU time', key: (p) => p.cpu, text: duration },
			{ title: 'Peak memory (RSS)', key: (p) => p.memory, text: bytes },
			{ title: 'Read', key: (p) => p.read, text: bytes },
			{ title: 'Written', key: (p) => p.written, text: bytes },
			{ title: 'Started', key: (p) => p.start, text: duration },
			{ title: 'Ran for', key: (p) => (p.end === undefined ? undefined : p.end - p.start), text: duration, none: 'still running at the end' },
			...(many ? [{ title: 'Node', isText: true, key: (p) => p.host }] : []),
		];
		this.table = element('table', { className: 'sortable' }, element('caption'), element('thead', {}, element('tr', {}, ...this.columns.map((c, i) => {
			const th = element('th', { scope: 'col', textContent: c.title });
			if (c.isText) th.dataset.text = '';
			if (i === 1) th.setAttribute('aria-sort', 'descending');
			return th;
		}))), element('tbody'));
		sortButtons(this.table, (column, down) => {
			this.sorted = { column, down };
			this.fill();
		});
		this.filter = filterBox('the processes', () => {
			this.shown = PROCESSES_AT_ONCE;
			this.fill();
		});
		this.more = element('button', { type: 'button', className: 'further' });
		this.more.addEventListener('click', () => {
			this.shown += 4 * PROCESSES_AT_ONCE;
			this.fill();
		});
		const panel = element('div', { className: 'panel scroll', tabIndex: 0 }, this.table);
		panel.setAttribute('role', 'group');
		panel.setAttribute('aria-label', 'Processes');
		section.querySelectorAll('.panel').forEach((old) => old.remove());
		section.append(this.filter.box, panel, this.more);
		this.load();
	}

	load() {
		this.all = this.view.nodes.flatMap((n) => n.spec.processes.map((p) => ({ ...p, host: n.spec.host, index: n.index })));
		this.total = this.view.nodes.reduce((sum, n) => sum + n.spec.processes_total, 0);
		this.fill();
	}

	fill() {
		const wanted = this.filter.input.value.toLowerCase(), column = this.columns[this.sorted.column];
		const found = this.all.filter((p) => (p.name + '[' + p.pid + '] ' + (p.args ?? '') + ' ' + p.host).toLowerCase().includes(wanted));
		found.sort((a, b) => compared(column.key(a), column.key(b), column.isText, this.sorted.down));
		this.table.tBodies[0].replaceChildren(...found.slice(0, this.shown).map((p) => this.row(p)));
		this.table.caption.textContent = this.all.length < this.total ? 'The ' + this.all.length + ' that used most CPU, of ' + this.total + '; click a name to see its time in the charts' : (this.total === 1 ? 'The only one' : 'All of them') + '; click a name to see its time in the charts';
		this.filter.told.textContent = wanted ? found.length + ' of ' + this.all.length : '';
		this.more.hidden = found.length <= this.shown;
		this.more.textContent = found.length - this.shown + ' more';
	}

	row(p) {
		const name = element('button', { type: 'button', title: p.args ?? p.name }, p.args ?? p.name, element('span', { className: 'soft', textContent: '[' + p.pid + ']' }));
		name.addEventListener('click', () => this.view.life(p));
		const head = element('th', { scope: 'row', className: 'name' }, name);
		return element('tr', {}, head, ...this.columns.slice(1).map((c) => {
			const v = c.key(p);
			if (c.isText) return element('td', { className: 'text', textContent: v });
			if (v === undefined) return element('td', {}, element('span', { className: 'none', textContent: c.none || '–', title: c.none ? '' : 'not known' }));
			const td = element('td', { textContent: c.text(v) });
			td.dataset.v = v;
			return td;
		}));
	}
}
