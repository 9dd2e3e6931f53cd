/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the page together: theme, toolbar, range and cursor, keyboard, sortable tables, print. */
'use strict';

/* A node without anything. */
const NOTHING = { host: '', x: '', series: {}, missing: {}, maps: {}, processes: [], processes_total: 0, end: 0 };

/* A chart of the job's own numbers: those come first. */
const isOwn = (spec) => spec.unit === 'own';

/* What the charts share: the node shown and the one beside it, the visible range, where the cursor is. */
class View {
	constructor(data) {
		this.list = document.getElementById('chart-list');
		this.absent = element('p', { className: 'soft absent' });
		this.list.after(this.absent);
		this.row = this.proof = this.other = null;
		this.load(data);
		this.toolbar();
		this.keyboard();
		this.arrange();
		new ResizeObserver(() => this.resize()).observe(this.list);
	}

	/* New data; the range stays where it was chosen. */
	load(data) {
		const index = this.node?.index ?? -1, beside = this.other?.index, whole = this.range === this.full;
		this.data = data;
		this.nodes = data.nodes.map((spec, i) => new Node(spec, i));
		this.total = data.total ? new Node({ ...NOTHING, host: 'All ' + data.total.hosts + ' nodes together', ...data.total }, -1) : null;
		this.stacks = Object.fromEntries(Object.keys(CODE_VIEWS).filter((what) => data[what]).map((what) => [what, new Stacks(data[what])]));
		this.node = this.at(index);
		this.other = this.nodes[beside] ?? null;
		this.full = [0, Math.max(data.end, 0.001)];
		if (whole) this.range = this.full;
	}

	/* A node of those in detail; -1: all of them together, of a single one it. */
	at(index) {
		return this.nodes[index] ?? this.total ?? this.nodes[0] ?? new Node(NOTHING, 0);
	}

	get gutter() {
		return this.list.clientWidth < 560 || this.other ? 66 : 74;
	}

	/* Which parts there are: each once, or for both nodes side by side. */
	arrange() {
		const sides = this.other ? [0, 1] : [0], icicle = this.stacks.code ? 'code' : 'waits', has = (id) => this.nodes.some((n) => n.spec.maps[id]);
		const kinds = [
			...this.data.charts.filter(isOwn).map((spec) => (slot) => new Chart(spec, this, slot)),
			...(this.data.spans.length || this.data.marks.length ? [(slot) => new Phases(this, slot)] : []),
			...this.data.charts.filter((spec) => !isOwn(spec)).flatMap((spec) => [(slot) => new Chart(spec, this, slot), ...(spec.id === icicle ? [(slot) => new Code(this, slot)] : [])]),
			...this.data.maps.filter((spec) => has(spec.id)).map((spec) => (slot) => new DeviceMap(spec, this, slot)),
			(slot) => new Lanes(this, slot),
		];
		for (const part of this.parts || []) part.destroy();
		const rows = kinds.map((make) => sides.map(make));
		for (const [left, right] of rows)
			if (right) [left.twin, right.twin] = [right, left];
		const overview = this.nodes.length > 1 ? [new NodesMap(this)] : [];
		this.parts = [...overview, ...rows.flat()];
		this.charts = this.parts.filter((part) => part instanceof Chart);
		this.list.replaceChildren(...overview.map((part) => part.root), ...rows.map((row) => element('div', { className: row.length > 1 ? 'pair' : '' }, ...row.map((part) => part.root))));
		for (const part of this.parts) this.listen(part);
		this.rebuild();
	}

	show(index) {
		this.node = this.at(index);
		if (this.select) this.select.value = this.node.index;
		this.row = null;
		this.rebuild();
	}

	beside(index) {
		this.other = this.nodes[index] ?? null;
		this.arrange();
	}

	rebuild() {
		this.width = this.list.clientWidth;
		for (const part of this.parts) part.load(part.slot ? this.other : this.node);
		/* A plot takes the width of what is shown. */
		for (const chart of this.charts) chart.root.hidden = false;
		for (const part of this.parts) part.build();
		this.fold();
		this.status();
	}

	/* What a node has nothing of is one line below the charts; beside another node it keeps its place. */
	fold() {
		const empty = this.charts.filter((chart) => !chart.hasData && !this.other), reasons = new Map();
		for (const chart of this.charts) chart.root.hidden = empty.includes(chart);
		for (const chart of empty)
			if (!chart.spec.id.startsWith('proof-')) reasons.set(chart.reason(), [...(reasons.get(chart.reason()) ?? []), chart.spec.title]);
		this.absent.textContent = [...reasons].map(([why, titles], i) => (i ? '' : 'Not drawn: ') + titles.join(', ') + ' (' + why + ')').join('; ');
		this.absent.hidden = !reasons.size;
	}

	resize() {
		if (this.width === this.list.clientWidth) return;
		const narrow = this.gutter;
		this.width = this.list.clientWidth;
		if (narrow !== this.lastGutter) this.rebuild();
		else for (const part of this.parts) part.resize();
		this.lastGutter = narrow;
	}

	choice(id, label, none) {
		const select = element('select', { id }, ...(none ? [element('option', { value: -1, textContent: none })] : []), ...this.nodes.map((n, i) => element('option', { value: i, textContent: n.spec.host })));
		document.getElementById('toolbar').append(element('label', { htmlFor: id, textContent: label }), select);
		return select;
	}

	toolbar() {
		const bar = document.getElementById('toolbar');
		this.now = element('output', { className: 'now' });
		this.whole = element('button', { type: 'button', textContent: 'Whole run' });
		this.whole.addEventListener('click', () => this.reset());
		if (this.total) {
			this.select = this.choice('node', 'Node', this.total.spec.host);
			this.select.addEventListener('change', () => this.show(Number(this.select.value)));
			const other = this.choice('beside', 'beside', 'none');
			other.addEventListener('change', () => this.beside(Number(other.value)));
		}
		const hint = element('span', { className: 'hint' }, 'drag to zoom · ', element('kbd', { textContent: '←' }), ' ', element('kbd', { textContent: '→' }), ' move · ',
			element('kbd', { textContent: '+' }), ' ', element('kbd', { textContent: '−' }), ' zoom · ', element('kbd', { textContent: 'Esc' }), ' whole run');
		bar.append(this.now, this.whole, hint);
		bar.hidden = false;
	}

	/* Where a metric is to be seen; null: nowhere. */
	chartOf(metric) {
		return this.parts.find((p) => p.spec && !p.slot && (p.spec.metric === metric || p.spec.lines?.some((l) => l.metric === metric)) && (p.hasData ?? true)) ?? null;
	}

	/* Zoom to what proves a verdict, mark it in its chart and go there. */
	prove(proof) {
		const node = this.nodes.find((n) => n.id === proof.node) ?? (this.total?.spec.series[proof.metric] ? this.total : this.nodes.find((n) => n.spec.series[proof.metric]));
		if (node && node !== this.node) this.show(node.index);
		this.proof = proof;
		this.rebuild();
		const room = (proof.to - proof.from) * 0.15;
		if (proof.to > proof.from) this.zoom(proof.from - room, proof.to + room);
		else this.reset();
		this.go(this.chartOf(proof.metric));
	}

	/* Once the plots have taken their heights: those above would push it down. On a busy machine some take them in the frame after. */
	async go(part) {
		await null;
		if (!part) return;
		const show = () => part.root.scrollIntoView({ block: 'center', behavior: 'instant' });
		show();
		part.plotBox.focus({ preventScroll: true });
		requestAnimationFrame(show);
	}

	/* The life of a process in the charts. */
	life(p) {
		const end = p.end ?? this.nodes[p.index].spec.end, room = Math.max((end - p.start) * 0.05, this.full[1] / 2000);
		if (this.node.index !== p.index) this.show(p.index);
		this.zoom(p.start - room, end + room);
		this.go(this.parts.find((part) => part instanceof Lanes));
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
		for (const part of this.parts) {
			if (part.plot) part.plot.setScale('x', { min: from, max: to });
			part.ranged?.();
		}
		for (const chart of this.charts) chart.read(this.row);
		this.status();
	}

	reset() {
		this.zoom(...this.full);
	}

	/* A plot's cursor moved, here or by the others' example. */
	follow(u) {
		const part = this.parts.find((p) => p.plot === u), row = u.cursor.left < 0 ? null : u.cursor.idx ?? null;
		if (part instanceof Chart) part.read(row);
		if (!part || part.slot || row === this.row) return;
		this.row = row;
		this.status();
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
		this.keys = {
			ArrowRight: (e) => this.step(e.shiftKey ? 10 : 1), ArrowLeft: (e) => this.step(e.shiftKey ? -10 : -1),
			Home: () => this.step(-this.node.x.length), End: () => this.step(this.node.x.length),
			'+': () => this.scale(0.5), '=': () => this.scale(0.5), '-': () => this.scale(2),
			Escape: () => {
				const proof = this.proof;
				this.proof = null;
				if (proof) this.rebuild();
				this.reset();
				return this.cursor(null);
			},
		};
		addEventListener('keydown', (e) => e.key === 'Escape' && !e.target.matches('input') && this.keys.Escape());
	}

	listen(part) {
		part.plotBox.tabIndex = 0;
		part.plotBox.setAttribute('role', 'application');
		part.plotBox.setAttribute('aria-label', part.root.getAttribute('aria-label') + ' over time; arrow keys move the cursor, plus and minus zoom, Escape shows the whole run');
		part.plotBox.addEventListener('keydown', async (e) => {
			const act = !e.ctrlKey && !e.metaKey && !e.altKey && this.keys[e.key];
			if (!act || !part.plot) return;
			e.preventDefault();
			e.stopPropagation();
			await act(e);
			if (part.spoken && this.row !== null)
				document.getElementById('spoken').textContent = duration(this.node.x[this.row]) + ': ' + part.spoken(this.row);
		});
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

/* The buttons of the verdicts; one whose metric is not drawn goes to its row among all metrics. */
function proofs(view) {
	const rowOf = (metric) => [...document.querySelectorAll('#metrics th.name')].find((th) => th.textContent === metric);
	for (const button of document.querySelectorAll('.proof button')) {
		const { metric, from, to, threshold, node } = button.dataset, number = (text) => (text === undefined ? undefined : Number(text));
		const isDrawn = () => view.chartOf(metric) || (view.data.charts.some((c) => c.lines.some((l) => l.metric === metric)) && view.nodes.some((n) => n.spec.series[metric]));
		button.hidden = !isDrawn() && !rowOf(metric);
		/* One, however often a live page comes here. */
		button.onclick = () => {
			if (isDrawn()) {
				view.prove({ metric, from: number(from), to: number(to), threshold: number(threshold), node: number(node) });
				return;
			}
			const row = rowOf(metric);
			row.closest('details').open = true;
			row.tabIndex = -1;
			row.focus();
		};
	}
}

/* Without uPlot the charts are images, which nothing moves. */
const view = typeof uPlot === 'undefined' ? null : new View(JSON.parse(document.getElementById('data').textContent));
if (view) theme(view);
const processes = view?.nodes.some((n) => n.spec.processes.length) ? new Processes(view, document.getElementById('processes')) : null;
for (const table of document.querySelectorAll('table.sortable')) if (table !== processes?.table) sortable(table);
if (view) proofs(view);
document.documentElement.dataset.ready = 'true';
