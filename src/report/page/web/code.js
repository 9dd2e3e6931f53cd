/* SPDX-License-Identifier: Apache-2.0 */
/* Functions by CPU time, or by what threads waited for: an icicle of the stacks, outermost call on top, and the functions of the most time, of
   what is shown (node, process, time range). The root stays in its place while the rest is zoomed into. Shares are of all CPU
   time of the range and the node, or of all time of its threads, as in every other view: CPU time without samples is beside the stacks, by name. */
'use strict';

const CODE_ROW = 18, CODE_LEAST = 1.5, CODE_LIST = 10, CODE_SAMPLES = 20;
/* What there is to see, in its words. */
const CODE_VIEWS = {
	code: { button: 'CPU', title: 'Functions by CPU time', time: 'CPU time', root: 'all CPU time', columns: ['Function', 'Self', 'Total', 'Where', 'Module'],
		caption: 'Functions of the most CPU time; self: in the function, total: with what it calls; shares of all CPU time' },
	waits: { button: 'Waits', title: 'Functions by what threads waited for', time: 'threads\u2019 time', root: 'all time of threads', columns: ['Function', 'Waited', 'Total', 'Where', 'Module'],
		caption: 'The program\u2019s own functions that waited most; total: all time of threads in it and in what it calls; shares of all time of threads' },
};

/* LEB128, as many as there are. */
function decodeVarints(text) {
	const bytes = decodeBase64(text, Uint8Array), out = [];
	let value = 0, scale = 1;
	for (const b of bytes) {
		value += (b & 127) * scale;
		scale *= 128;
		if (b < 128) {
			out.push(value);
			value = 0;
			scale = 1;
		}
	}
	return out;
}

/* The data as arrays: node i of the tree has parent[i] < i, a function and a kind of code; node 0 is all together. */
class Stacks {
	constructor(spec) {
		const tree = decodeVarints(spec.tree), functions = decodeVarints(spec.functions), owners = spec.owners && decodeVarints(spec.owners);
		this.spec = spec;
		this.n = tree.length / 3 + 1;
		this.parent = new Uint32Array(this.n);
		this.of = new Uint32Array(this.n);
		this.kind = new Uint32Array(this.n);
		for (let i = 1; i < this.n; i++) {
			this.parent[i] = i - tree[3 * i - 3];
			this.of[i] = tree[3 * i - 2];
			this.kind[i] = tree[3 * i - 1];
		}
		/* The function that a node's own time counts for: of waits the program's own, and 0 of what is none. */
		this.owner = owners ? [0, ...owners] : this.of;
		this.waits = Boolean(owners);
		const text = (i) => spec.strings[i];
		this.functions = Array.from({ length: functions.length / 4 }, (_, i) => ({ name: text(functions[4 * i]), module: text(functions[4 * i + 1]), file: text(functions[4 * i + 2]), line: functions[4 * i + 3] }));
		this.outermost = new Uint8Array(this.n);
		for (let i = 1; i < this.n; i++) {
			let up = this.parent[i];
			while (up && this.of[up] !== this.of[i]) up = this.parent[up];
			this.outermost[i] = up ? 0 : 1;
		}
		this.cells = new Map();
	}

	/* Seconds of each node itself and of all below it, in a time range, of the groups of a set that are wanted. */
	sum([from, to], set, wanted) {
		const { groups, buckets, cells } = this.spec.sets[set], { end, unit } = this.spec, self = new Float64Array(this.n);
		if (!this.cells.has(set)) this.cells.set(set, decodeVarints(cells));
		const width = end / buckets, c = this.cells.get(set);
		for (let at = 0; at < c.length;) {
			const group = c[at++], used = c[at++], take = wanted(groups[group], group);
			for (let k = 0, bucket = -1; k < used; k++) {
				bucket += c[at++];
				const items = c[at++], start = bucket * width;
				const share = take ? Math.max(0, Math.min(to, start + width) - Math.max(from, start)) / width : 0;
				for (let i = 0, node = 0; i < items; i++) {
					node += c[at++];
					self[node] += c[at++] * share * unit;
				}
			}
		}
		const total = self.slice();
		for (let i = this.n - 1; i > 0; i--) total[this.parent[i]] += total[i];
		return { self, total };
	}

	/* A function's own time and that of what it called, which a call of itself does not count twice; the most of its own first. */
	list({ self, total }) {
		const rows = this.functions.map((f) => ({ f, self: 0, total: 0, most: -1, node: 0 }));
		for (let i = 1; i < this.n; i++) {
			const row = rows[this.owner[i]];
			row.self += self[i];
			if (this.outermost[i]) rows[this.of[i]].total += total[i];
			if (self[i] > row.most) {
				row.most = self[i];
				row.node = i;
			}
		}
		return rows.filter((row, i) => row.self > 0 && (i || !this.waits)).sort((a, b) => b.self - a.self);
	}
}

/* As cell_share of report/cell.c. */
const shareText = (p) => (p > 0 && p < 0.01 ? 'under 1 %' : Math.round(100 * p) + ' %');
/* "solve.c:44" */
const placeOf = (f) => (f.file ? f.file.replace(/.*\//, '') + (f.line ? ':' + f.line : '') : '');

class Code extends Panel {
	constructor(view, slot) {
		super(view, 'functions', '', slot);
		this.what = Object.keys(CODE_VIEWS).find((what) => view.stacks[what]);
		this.switch = element('span', { className: 'switch' });
		this.zoomed = this.at = 0;
		this.box = element('div', { className: 'icicle' });
		this.table = element('tbody');
		this.process = element('select', { id: 'code-process' + (slot ? '-beside' : '') });
		this.search = element('input', { type: 'search', placeholder: 'Search functions', autocomplete: 'off', spellcheck: false });
		this.search.setAttribute('aria-label', 'Search functions');
		this.found = element('output', { className: 'soft' });
		this.out = element('button', { type: 'button', textContent: 'All functions' });
		const bar = element('div', { className: 'filter code-bar' }, this.switch, element('label', { htmlFor: this.process.id, className: 'unseen', textContent: 'Process' }), this.process, this.search, this.found, this.out);
		this.columns = element('tr');
		this.caption = element('caption');
		this.plotBox.append(this.box);
		this.root.insertBefore(bar, this.plotBox);
		this.root.append(element('div', { className: 'scroll' }, element('table', { className: 'code-list' }, this.caption, element('thead', {}, this.columns), this.table)));
		this.process.addEventListener('change', () => this.ranged());
		this.search.addEventListener('input', () => this.ranged());
		this.out.addEventListener('click', () => this.enter(0));
		this.plotBox.addEventListener('keydown', (e) => this.key(e), true);
		this.box.addEventListener('click', (e) => this.enter(Number(e.target.closest('g')?.dataset.i ?? this.zoomed)));
		this.box.addEventListener('mousemove', (e) => this.read(Number(e.target.closest('g')?.dataset.i ?? 0)));
		this.box.addEventListener('mouseleave', () => this.read(0));
		this.dress();
	}

	/* CPU or waits: the words, and which of both is chosen. */
	dress() {
		const { title, columns, caption } = CODE_VIEWS[this.what], both = Object.keys(CODE_VIEWS).filter((what) => this.view.stacks[what]);
		this.head.querySelector('h3').textContent = title;
		this.root.setAttribute('aria-label', title);
		this.box.classList.toggle('waits', this.what === 'waits');
		this.caption.textContent = caption;
		this.columns.replaceChildren(...columns.map((text, i) => element('th', { scope: 'col', textContent: text, ...(i === 1 || i === 2 ? {} : { 'data-text': '' }) })));
		this.switch.hidden = both.length < 2;
		if (this.switch.childElementCount !== both.length)
			this.switch.replaceChildren(...both.map((what) => {
				const button = element('button', { type: 'button', textContent: CODE_VIEWS[what].button });
				button.addEventListener('click', () => this.turn(what));
				return button;
			}));
		both.forEach((what, i) => this.switch.children[i].setAttribute('aria-pressed', what === this.what));
	}

	turn(what) {
		this.what = what;
		this.load(this.node);
		this.build();
	}

	get stacks() {
		return this.view.stacks[this.what];
	}

	/* All processes of the node, or a rank, or the processes of a name, of all nodes. */
	load(node) {
		const chosen = this.process.selectedOptions[0]?.textContent, { sets } = this.stacks.spec, many = this.view.nodes.length > 1 ? ', all nodes' : '';
		const options = ['rank', 'command'].flatMap((set) => (sets[set]?.groups ?? []).map((g, i) => ({ ...g, value: set + ':' + i })).filter((g) => g.name !== null));
		this.dress();
		this.node = node;
		if (this.known !== this.stacks) this.zoomed = this.at = 0; /* its nodes have other numbers */
		this.known = this.stacks;
		this.host.textContent = this.view.other ? node.spec.host : '';
		this.process.replaceChildren(element('option', { value: '', textContent: 'all processes' }), ...options.map((o) => element('option', { value: o.value, textContent: o.name + many })));
		this.process.selectedIndex = Math.max(0, [...this.process.options].findIndex((o) => o.textContent === chosen));
	}

	build() {
		this.width = this.box.clientWidth || 600;
		this.ranged();
	}

	resize() {
		this.build();
	}

	destroy() {
	}

	get words() {
		return CODE_VIEWS[this.what];
	}

	/* What is shown has changed: the range, the process, the search. */
	ranged() {
		const [set, one] = this.process.value.split(':'), here = (g) => this.node.id < 0 || g.node === this.node.id;
		this.sums = this.stacks.sum(this.view.range, set || 'node', (g, i) => (set ? i === Number(one) : here(g)));
		if (this.zoomed && !(this.sums.total[this.zoomed] > 0)) this.zoomed = 0;
		this.sampled = set ? this.stacks.sum(this.view.range, 'node', here).total[0] : this.sums.total[0];
		this.account();
		this.samples = this.stacks.waits ? Infinity : this.sampled / this.stacks.spec.period;
		const step = this.stacks.spec.end / this.stacks.spec.sets[set || 'node'].buckets, [from, to] = this.view.range, own = this.sums.total[0];
		const of = set ? this.process.selectedOptions[0].textContent + ': ' + this.share(own) + ', ' + duration(own) + ', of ' : '';
		const sampled = this.stacks.waits ? '' : ', ' + duration(this.sampled) + ' of it in ' + Math.round(this.samples) + ' samples';
		this.note.textContent = of + duration(this.all) + ' of ' + this.words.time + sampled + (this.samples < CODE_SAMPLES ? ', too few to say which code it was' : '') + '; outermost call on top, click to zoom'
			+ (to - from < 4 * step ? '; known in stretches of ' + duration(step) + ' only' : '');
		this.match();
		this.draw();
		this.fill();
		this.read(0);
	}

	/* All CPU time of the range and the node, whatever process is chosen, and what of it has no samples. */
	account() {
		if (this.stacks.waits) {
			this.all = this.sampled;
			this.rest = [];
			return;
		}
		const [whole, short, rest, kernel] = this.stacks.spec.whole, { range, full, nodes } = this.view;
		const without = (name, seconds, tone) => ({ name, seconds, tone });
		if (range[0] <= full[0] && range[1] >= full[1] && (this.node.id < 0 || nodes.length === 1)) {
			this.all = whole;
			this.rest = [without('processes too short to be sampled', short, 'pale'), without('user time without samples', rest, 'pale'), without('kernel', kernel, 'ink')];
			return;
		}
		this.all = Math.max(this.sampled, this.used(range) ?? 0);
		this.rest = [without('kernel and time without samples', this.all - this.sampled, 'ink')];
	}

	/* CPU seconds of the job on the node in a range, by the cores that it used; null: not known. */
	used([from, to]) {
		const { x } = this.node, values = this.node.values('job.cpu_cores', 'mean');
		if (!values) return null;
		return bridged(values, x).reduce((sum, v, i) => sum + (typeof v === 'number' ? v * Math.max(0, Math.min(to, x[i]) - Math.max(from, i ? x[i - 1] : 0)) : 0), 0);
	}

	/* With half its 95 % interval. */
	share(seconds) {
		const p = this.sampled ? Math.min(1, seconds / this.sampled) : 0, part = this.all ? this.sampled / this.all : 0;
		const points = 100 * part * Math.min(1, Math.max(1.96 * Math.sqrt(p * (1 - p) / this.samples), 1 / this.samples));
		return this.plain(seconds) + (Number.isFinite(points) && points > 0 ? ' ± ' + (points < 0.95 ? Number(points.toPrecision(1)) : Math.round(points)) : '');
	}

	plain(seconds) {
		return shareText(this.all ? seconds / this.all : 0);
	}

	/* Share of what is found: a stack counts once, at the outermost match. */
	match() {
		const wanted = this.search.value.trim().toLowerCase(), { n, parent, of, functions } = this.stacks;
		const hit = functions.map((f) => wanted !== '' && (f.name + ' ' + f.module).toLowerCase().includes(wanted));
		const below = new Uint8Array(n);
		let sum = 0;
		this.hits = new Uint8Array(n);
		for (let i = 1; i < n; i++) {
			this.hits[i] = hit[of[i]] ? 1 : 0;
			below[i] = below[parent[i]] || this.hits[i];
			if (this.hits[i] && !below[parent[i]]) sum += this.sums.total[i];
		}
		this.found.textContent = wanted ? this.share(sum) + ' of the ' + this.words.time : '';
	}

	/* The rows from the root down to what is zoomed to are as wide as all; below, each is as wide as its time. */
	layout() {
		const { n, parent } = this.stacks, { total } = this.sums, boxes = [], left = new Float64Array(n), depth = new Uint16Array(n), inside = new Uint8Array(n);
		const whole = !this.zoomed && !this.process.value, scale = this.width / ((whole ? Math.max(this.all, total[0]) : total[this.zoomed]) || 1), path = new Set();
		for (let i = this.zoomed; i; i = parent[i]) path.add(i);
		path.add(0);
		inside[this.zoomed] = 1;
		const next = new Float64Array(n);
		for (let i = 0; i < n; i++) {
			const up = parent[i];
			if (i) depth[i] = depth[up] + 1;
			if (path.has(i)) {
				boxes.push({ i, x: 0, w: this.width, y: depth[i], dim: i !== this.zoomed });
				continue;
			}
			if (!inside[up] || !(total[i] > 0)) continue;
			const w = total[i] * scale;
			left[i] = left[up] + next[up];
			next[up] += w;
			if (w < CODE_LEAST) continue;
			inside[i] = 1;
			boxes.push({ i, x: left[i], w, y: depth[i] });
		}
		let x = total[0] * scale;
		for (const [k, { seconds }] of whole ? this.rest.entries() : []) {
			const w = Math.max(0, seconds) * scale;
			if (w >= CODE_LEAST) boxes.push({ i: -1 - k, x, w: Math.min(w, this.width - x), y: 1 });
			x += w;
		}
		return boxes;
	}

	draw() {
		this.out.disabled = !this.zoomed;
		const boxes = this.sums.total[0] > 0 ? this.layout() : [], rows = boxes.reduce((most, b) => Math.max(most, b.y), 0) + 1;
		if (!boxes.length) {
			this.box.replaceChildren(element('p', { className: 'empty', textContent: this.stacks.waits ? 'No thread was watched in this range.' : 'No samples in this range.' }));
			return;
		}
		const height = rows * CODE_ROW, colours = this.stacks.spec.colours.map(colour), grey = colour('grey');
		this.boxes = boxes;
		this.box.replaceChildren(svg('svg', { width: this.width, height, viewBox: '0 0 ' + this.width + ' ' + height, 'aria-hidden': 'true' }, ...boxes.map((b) => this.bar(b, b.i > 0 ? colours[this.stacks.kind[b.i]] : b.i ? colour(this.rest[-1 - b.i].tone) : grey))));
	}

	bar({ i, x, w, y, dim }, fill) {
		const name = i < 0 ? this.rest[-1 - i].name : i ? this.stacks.functions[this.stacks.of[i]].name : this.rootName(), room = Math.floor((w - 7) / 6.3);
		const g = svg('g', { 'data-i': i, class: (this.hits[i] ? 'hit ' : '') + (i === this.at && i ? 'at ' : '') + (dim ? 'dim' : '') });
		g.append(svg('rect', { x: x.toFixed(1), y: y * CODE_ROW, width: Math.max(w - 0.6, 0.6).toFixed(1), height: CODE_ROW - 1, rx: 2, fill, stroke: fill }));
		if (room > 2) {
			const text = svg('text', { x: (x + 4).toFixed(1), y: y * CODE_ROW + 12.5 });
			text.textContent = name.length > room ? name.slice(0, room - 1) + '…' : name;
			g.append(text);
		}
		return g;
	}

	/* Of the outermost bar: all that is shown. */
	rootName() {
		return this.process.value ? this.process.selectedOptions[0].textContent : this.words.root;
	}

	/* In words. */
	told(i) {
		if (i < 0) return this.rest[-1 - i].name + ' · ' + this.plain(this.rest[-1 - i].seconds) + ', ' + duration(this.rest[-1 - i].seconds) + ', no samples';
		if (!i && !this.process.value) return this.words.root + ' · ' + duration(this.all) + (this.stacks.waits ? '' : ', ' + this.plain(this.sampled) + ' of it sampled');
		const f = this.stacks.functions[this.stacks.of[i]], { self, total } = this.sums, where = placeOf(f);
		return (i ? f.name + (where ? ' · ' + where : '') + (f.module ? ' · ' + f.module.replace(/.*\//, '') : '') + ' · ' + this.stacks.spec.classes[this.stacks.kind[i]] : this.rootName()) + ' · ' + this.share(total[i]) + ', ' + duration(total[i]) + (i && self[i] && !this.stacks.waits ? ', ' + duration(self[i]) + ' self' : '');
	}

	read(i) {
		this.reading.textContent = this.told(i || this.at || this.zoomed);
	}

	enter(i) {
		if (i < 0) return;
		this.zoomed = i === this.zoomed && i ? this.stacks.parent[i] : i;
		this.at = this.zoomed;
		this.draw();
		this.read(this.zoomed);
	}

	/* Up and down go along a stack, left and right to the neighbours, Enter zooms, Escape shows all. */
	key(e) {
		if (e.ctrlKey || e.metaKey || e.altKey || !this.boxes) return;
		const moves = { ArrowDown: () => this.child(), ArrowUp: () => this.stacks.parent[this.at], ArrowRight: () => this.beside(1), ArrowLeft: () => this.beside(-1) };
		if (moves[e.key]) this.at = moves[e.key]() ?? this.at;
		else if (e.key === 'Enter') this.enter(this.at);
		else if (e.key === 'Escape' && this.zoomed) this.enter(0);
		else return;
		e.preventDefault();
		e.stopPropagation();
		this.draw();
		this.read(this.at);
		document.getElementById('spoken').textContent = this.told(this.at);
		this.box.querySelector('.at')?.scrollIntoView({ block: 'nearest' });
	}

	child() {
		const below = this.boxes.filter((b) => b.i && this.stacks.parent[b.i] === this.at);
		return below.reduce((most, b) => (most === null || this.sums.total[b.i] > this.sums.total[most] ? b.i : most), null);
	}

	beside(step) {
		const row = this.boxes.filter((b) => b.i && this.stacks.parent[b.i] === this.stacks.parent[this.at]);
		return row[row.findIndex((b) => b.i === this.at) + step]?.i;
	}

	fill() {
		const rows = this.samples < CODE_SAMPLES ? [] : this.stacks.list(this.sums).slice(0, CODE_LIST);
		this.table.closest('.scroll').hidden = !rows.length;
		this.table.replaceChildren(...rows.map((row) => {
			const { f } = row;
			const button = element('button', { type: 'button', textContent: f.name, title: f.name });
			button.addEventListener('click', () => this.enter(row.node));
			return element('tr', {}, element('th', { scope: 'row', className: 'name' }, button), element('td', { textContent: this.share(row.self) }), element('td', { textContent: this.plain(row.total) }),
				element('td', { className: 'text', textContent: placeOf(f) }), element('td', { className: 'text', textContent: f.module.replace(/.*\//, '') }));
		}));
	}
}
