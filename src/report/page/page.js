/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the page together: theme, toolbar, range and cursor, keyboard, sortable tables, print. */
'use strict';

/* What the charts share: the node shown, the visible range, where the cursor is. */
class View {
	constructor(data) {
		this.data = data;
		this.nodes = data.nodes.map((spec) => new Node(spec));
		this.full = this.range = [0, Math.max(data.end, 0.001)];
		this.row = null;
		this.list = document.getElementById('chart-list');
		this.charts = data.charts.map((spec) => new Chart(spec, this));
		this.lanes = new Lanes(this);
		this.parts = [...this.charts, this.lanes];
		this.list.append(...this.parts.map((part) => part.root));
		this.toolbar();
		this.keyboard();
		this.show(0);
		new ResizeObserver(() => this.resize()).observe(this.list);
	}

	get gutter() {
		return this.list.clientWidth < 560 ? 66 : 74;
	}

	show(index) {
		this.node = this.nodes[index];
		this.rebuild();
	}

	rebuild() {
		this.width = this.list.clientWidth;
		for (const part of this.parts) part.build(this.node);
		this.status();
	}

	resize() {
		if (this.width === this.list.clientWidth) return;
		const narrow = this.gutter;
		this.width = this.list.clientWidth;
		if (narrow !== this.lastGutter) this.rebuild();
		else for (const part of this.parts) part.resize();
		this.lastGutter = narrow;
	}

	toolbar() {
		const bar = document.getElementById('toolbar');
		this.now = element('output', { className: 'now' });
		this.whole = element('button', { type: 'button', textContent: 'Whole run' });
		this.whole.addEventListener('click', () => this.reset());
		if (this.nodes.length > 1) {
			const select = element('select', { id: 'node' }, ...this.nodes.map((n, i) => element('option', { value: i, textContent: n.spec.host })));
			select.addEventListener('change', () => this.show(Number(select.value)));
			bar.append(element('label', { htmlFor: 'node', textContent: 'Node' }), select);
		}
		const hint = element('span', { className: 'hint' }, 'drag to zoom · ', element('kbd', { textContent: '←' }), ' ', element('kbd', { textContent: '→' }), ' move · ',
			element('kbd', { textContent: '+' }), ' ', element('kbd', { textContent: '−' }), ' zoom · ', element('kbd', { textContent: 'Esc' }), ' whole run');
		bar.append(this.now, this.whole, hint);
		bar.hidden = false;
	}

	status() {
		const [from, to] = this.range;
		const range = duration(from) + ' to ' + duration(to);
		this.now.textContent = this.row === null ? range : 'at ' + duration(this.node.x[this.row]);
		this.whole.disabled = from === this.full[0] && to === this.full[1];
	}

	zoom(from, to) {
		const least = this.full[1] / 5000;
		from = Math.max(this.full[0], from);
		to = Math.min(this.full[1], to);
		if (to - from < least) return;
		this.range = [from, to];
		for (const part of this.parts)
			if (part.plot) part.plot.setScale('x', { min: from, max: to });
		for (const chart of this.charts) chart.read(this.row);
		this.status();
	}

	reset() {
		this.zoom(...this.full);
	}

	/* A plot's cursor moved, here or by the others' example. */
	follow(u) {
		const row = u.cursor.idx ?? null;
		const chart = this.charts.find((c) => c.plot === u);
		if (chart) chart.read(u.cursor.left < 0 ? null : row);
		const next = u.cursor.left < 0 ? null : row;
		if (next !== this.row) {
			this.row = next;
			this.status();
		}
	}

	/* Put the cursor of all plots at a row of the node, once they have taken a new range. */
	async cursor(row) {
		await null;
		const part = this.parts.find((p) => p.plot);
		if (!part) return;
		const left = row === null ? -10 : part.plot.valToPos(this.node.x[row], 'x');
		for (const each of this.parts)
			if (each.plot) each.plot.setCursor({ left, top: row === null ? -10 : 10 });
	}

	step(delta) {
		const [from, to] = this.range;
		const start = this.row ?? this.node.nearest(delta > 0 ? from : to);
		const row = Math.min(this.node.x.length - 1, Math.max(0, start + delta));
		const x = this.node.x[row], half = (to - from) / 2;
		if (x < from || x > to) this.zoom(Math.min(Math.max(x - half, 0), this.full[1] - 2 * half), Math.max(Math.min(x + half, this.full[1]), 2 * half));
		return this.cursor(row);
	}

	scale(factor) {
		const [from, to] = this.range;
		const middle = this.row === null ? (from + to) / 2 : this.node.x[this.row];
		this.zoom(middle - (middle - from) * factor, middle + (to - middle) * factor);
		return this.cursor(this.row);
	}

	keyboard() {
		const keys = {
			ArrowRight: (e) => this.step(e.shiftKey ? 10 : 1), ArrowLeft: (e) => this.step(e.shiftKey ? -10 : -1),
			Home: () => this.step(-this.node.x.length), End: () => this.step(this.node.x.length),
			'+': () => this.scale(0.5), '=': () => this.scale(0.5), '-': () => this.scale(2),
			Escape: () => { this.reset(); return this.cursor(null); },
		};
		for (const part of this.parts) {
			part.plotBox.tabIndex = 0;
			part.plotBox.setAttribute('role', 'application');
			part.plotBox.setAttribute('aria-label', part.root.getAttribute('aria-label') + ' over time; arrow keys move the cursor, plus and minus zoom, Escape shows the whole run');
			part.plotBox.addEventListener('keydown', async (e) => {
				const act = !e.ctrlKey && !e.metaKey && !e.altKey && keys[e.key];
				if (!act || !part.plot) return;
				e.preventDefault();
				await act(e);
				if (part.spoken && this.row !== null)
					document.getElementById('spoken').textContent = duration(this.node.x[this.row]) + ': ' + part.spoken(this.row);
			});
		}
		addEventListener('keydown', (e) => e.key === 'Escape' && keys.Escape());
	}
}

/* The dark palette is a style element of its own: its media says when it holds. */
function theme(view) {
	const dark = document.getElementById('dark'), button = document.getElementById('theme');
	const system = matchMedia('(prefers-color-scheme: dark)');
	let chosen = null;
	const isDark = () => (chosen === null ? system.matches : chosen);
	const apply = (on) => {
		dark.media = on ? 'screen' : 'not all';
		button.textContent = on ? 'Light' : 'Dark';
		button.setAttribute('aria-label', 'Switch to the ' + (on ? 'light' : 'dark') + ' colours');
		view.rebuild();
	};
	button.hidden = false;
	button.addEventListener('click', () => {
		chosen = !isDark();
		apply(chosen);
	});
	system.addEventListener('change', () => apply(isDark()));
	apply(isDark());
	/* Paper is light, and narrower than the window. */
	addEventListener('beforeprint', () => {
		view.list.style.width = '690px';
		apply(false);
	});
	addEventListener('afterprint', () => {
		view.list.style.width = '';
		apply(isDark());
	});
}

/* Headings of a table become buttons; data-v holds what a cell is sorted by, empty is last. */
function sortable(table) {
	const body = table.tBodies[0];
	[...table.tHead.rows[0].cells].forEach((th, column) => {
		const button = element('button', { type: 'button', textContent: th.textContent });
		th.replaceChildren(button);
		button.addEventListener('click', () => {
			const down = th.getAttribute('aria-sort') !== 'descending' && !(th.dataset.text !== undefined && !th.hasAttribute('aria-sort'));
			for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
			th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
			const key = (row) => row.cells[column].dataset.v ?? '';
			const order = (a, b) => {
				const x = key(a), y = key(b);
				if (x === '' || y === '') return (x === '') - (y === '');
				const d = th.dataset.text !== undefined ? x.localeCompare(y) : Number(x) - Number(y);
				return down ? -d : d;
			};
			body.append(...[...body.rows].sort(order));
		});
	});
}

const view = new View(JSON.parse(document.getElementById('data').textContent));
theme(view);
document.querySelectorAll('table.sortable').forEach(sortable);
for (const button of document.querySelectorAll('.proof button')) {
	button.hidden = false;
	button.addEventListener('click', () => {
		const from = Number(button.dataset.from), to = Number(button.dataset.to), room = (to - from) * 0.05;
		view.zoom(from - room, to + room);
		document.getElementById('charts').scrollIntoView();
	});
}
document.documentElement.dataset.ready = 'true';
