/* SPDX-License-Identifier: Apache-2.0 */
/* Heat maps: a row for each node, or for each core or GPU of a node. What is absent is hatched, never the colour of 0. */
'use strict';

const HEAT_STEPS = 48;

function mixed(a, b, share) {
	const part = (c, i) => parseInt(c.slice(1 + 2 * i, 3 + 2 * i), 16);
	return 'rgb(' + [0, 1, 2].map((i) => Math.round(part(a, i) + (part(b, i) - part(a, i)) * share)).join() + ')';
}

/* From least to most; lightness alone tells the order. */
function heatColours() {
	const [low, middle, high] = ['heat-low', 'heat-middle', 'heat-high'].map(colour);
	return Array.from({ length: HEAT_STEPS }, (_, i) => {
		const share = i / (HEAT_STEPS - 1);
		return share < 0.5 ? mixed(low, middle, 2 * share) : mixed(middle, high, 2 * share - 1);
	});
}

function hatch(ctx) {
	const tile = element('canvas', { width: 6, height: 6 }), pen = tile.getContext('2d');
	pen.strokeStyle = colour('line');
	pen.beginPath();
	pen.moveTo(0, 6);
	pen.lineTo(6, 0);
	pen.stroke();
	return ctx.createPattern(tile, 'repeat');
}

/* A kind of map says rows(): name, x (the ends of its cells), values (null absent); top: the value of the last colour. */
class Heat extends Panel {
	constructor(view, id, title, slot) {
		super(view, id, title, slot);
		this.row = null;
		this.plotBox.classList.add('heat');
		this.plotBox.addEventListener('keydown', (e) => this.key(e));
	}

	load(node) {
		this.node = node;
		this.host.textContent = this.view.other && this.slot !== undefined ? node.spec.host : '';
		this.shown = this.rows();
	}

	build() {
		this.destroy();
		this.plotBox.replaceChildren();
		this.root.hidden = !this.shown.length;
		if (!this.shown.length) return;
		this.rowHeight = Math.min(20, Math.max(2, Math.round(440 / this.shown.length)));
		this.height = this.shown.length * this.rowHeight + 44;
		this.colours = heatColours();
		this.plot = new uPlot(plotOptions(this.view, this.node, this.height, {
			series: [{}, { class: 'plain', stroke: 'transparent', points: { show: false } }],
			scales: { y: { range: () => [0, 1] } },
			axes: [timeAxis(), { size: this.view.gutter, values: () => [], splits: () => [], grid: { show: false }, ticks: { show: false } }],
			hooks: { draw: [(u) => this.paint(u)] },
		}), [this.node.x, this.node.x.map(() => 0)], this.plotBox);
		this.resize();
		this.plot.over.addEventListener('mousemove', (e) => this.point(e));
		this.plot.over.addEventListener('mouseleave', () => this.read(null));
		this.plot.over.addEventListener('mousedown', (e) => { this.pressed = e.clientX; });
		this.plot.over.addEventListener('mouseup', (e) => this.released(e));
		this.read(null);
	}

	paint(u) {
		const ctx = u.ctx, ratio = uPlot.pxRatio, { left, top, width, height } = u.bbox, h = this.rowHeight * ratio;
		ctx.save();
		ctx.beginPath();
		ctx.rect(left, top, width, height);
		ctx.clip();
		ctx.fillStyle = hatch(ctx);
		ctx.fillRect(left, top, width, h * this.shown.length);
		this.shown.forEach((row, r) => this.paintRow(u, row, top + r * h, h));
		this.outline(ctx, u, h);
		ctx.restore();
		this.labels(ctx, u, h);
	}

	paintRow(u, row, y, h) {
		const { left, width } = u.bbox, gap = h > 6 * uPlot.pxRatio ? uPlot.pxRatio : 0;
		let x0 = u.valToPos(row.start ?? 0, 'x', true);
		for (let i = 0; i < row.x.length; i++) {
			const x1 = u.valToPos(row.x[i], 'x', true), v = row.values[i];
			if (typeof v === 'number' && x1 >= left && x0 <= left + width) {
				u.ctx.fillStyle = this.colours[Math.min(HEAT_STEPS - 1, Math.max(0, Math.round(v / this.top * (HEAT_STEPS - 1))))];
				u.ctx.fillRect(Math.floor(x0), y, Math.max(1, Math.ceil(x1) - Math.floor(x0)), h - gap);
			}
			if (v !== undefined) x0 = x1;
		}
	}

	outline(ctx, u, h) {
		const { left, top, width } = u.bbox, at = this.row ?? this.current();
		if (at === null || at < 0) return;
		ctx.strokeStyle = colour(this.row === null ? 'ink' : 'accent');
		ctx.lineWidth = 2 * uPlot.pxRatio;
		ctx.strokeRect(left + 1, top + at * h, width - 2, h);
	}

	labels(ctx, u, h) {
		const ratio = uPlot.pxRatio, every = Math.ceil(12 * ratio / h), room = u.bbox.left - 8 * ratio;
		ctx.save();
		ctx.font = 11 * ratio + LANE_FONT;
		ctx.fillStyle = colour('faint');
		ctx.textAlign = 'right';
		ctx.textBaseline = 'middle';
		for (let r = 0; r < this.shown.length; r += every) {
			let name = this.shown[r].name;
			while (name.length > 3 && ctx.measureText(name).width > room) name = '…' + name.slice(2);
			ctx.fillText(name, u.bbox.left - 6 * ratio, u.bbox.top + (r + 0.5) * h);
		}
		ctx.restore();
	}

	/* A press that drew no range opens a row, when the plot is done with the event: the row may be another plot's. */
	released(e) {
		const row = this.rowAt(e);
		if (e.button === 0 && Math.abs(e.clientX - this.pressed) < 4) setTimeout(() => this.open(row), 0);
	}

	rowAt(e) {
		const r = Math.floor((e.clientY - this.plot.over.getBoundingClientRect().top) / this.rowHeight);
		return r >= 0 && r < this.shown.length ? r : null;
	}

	point(e) {
		const time = this.plot.posToVal(e.clientX - this.plot.over.getBoundingClientRect().left, 'x');
		this.read(this.rowAt(e), time);
	}

	/* In words: whose value at which time. */
	told(r, time) {
		const row = this.shown[r], i = row.x.findIndex((end, k) => end >= time && row.values[k] !== undefined);
		const v = i < 0 || time < (row.start ?? 0) ? null : row.values[i];
		return row.name + ' · at ' + duration(Math.max(0, time)) + ' · ' + (typeof v === 'number' ? this.text(v) : 'no value');
	}

	read(r, time) {
		if (r !== null) {
			this.reading.textContent = this.told(r, time);
			return;
		}
		const ramp = element('span', { className: 'ramp' });
		ramp.style.background = 'linear-gradient(90deg,' + ['heat-low', 'heat-middle', 'heat-high'].map(colour).join() + ')';
		this.reading.replaceChildren('0', ramp, this.text(this.top));
	}

	/* Up and down choose a row, Enter opens it; the view has the other keys. */
	key(e) {
		const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
		if (!this.plot || e.ctrlKey || e.metaKey || e.altKey || (!step && e.key !== 'Enter')) return;
		e.preventDefault();
		if (step) this.row = Math.min(this.shown.length - 1, Math.max(0, (this.row ?? this.current() ?? -step) + step));
		else this.open(this.row ?? this.current());
		if (!this.plot) return;
		this.plot.redraw(false);
		document.getElementById('spoken').textContent = this.spoken(this.view.row);
	}

	spoken(at) {
		const r = this.row ?? this.current() ?? 0;
		const told = this.told(r, at === null ? this.view.range[1] : this.node.x[at]);
		this.reading.textContent = told;
		return told;
	}

	current() {
		return null;
	}

	open() {
	}
}

/* All nodes by one metric that is drawn of them. */
class NodesMap extends Heat {
	constructor(view) {
		super(view, 'nodes', 'Nodes over time');
		this.choice = element('select', { id: 'nodes-metric' });
		this.host.replaceWith(element('label', { htmlFor: 'nodes-metric', className: 'unseen', textContent: 'Metric of the node map' }), this.choice);
		this.choice.addEventListener('change', () => {
			this.load(this.view.node);
			this.build();
		});
		const { nodes_total: all, nodes } = view.data;
		this.note.textContent = (all > nodes.length ? 'the ' + nodes.length + ' of ' + all + ' nodes that differ most; ' : '') + 'click a row, or choose it with the arrow keys and Enter, to open the node';
		for (const chart of view.data.charts)
			for (const line of chart.lines)
				if (view.nodes.some((n) => n.spec.series[line.metric]) && ![...this.choice.options].some((o) => o.value === line.metric))
					this.choice.append(element('option', { value: line.metric, textContent: chart.title + ': ' + line.label }));
		const job = [...this.choice.options].find((o) => o.value.startsWith('job.'));
		if (job) this.choice.value = job.value;
	}

	rows() {
		const metric = this.choice.value, chart = this.view.data.charts.find((c) => c.lines.some((l) => l.metric === metric));
		if (!chart) return [];
		this.text = unitOf(chart.unit).text;
		const rows = this.view.nodes.map((n) => ({ name: n.spec.host, x: n.x, start: 0, values: n.values(metric, 'mean') ?? n.values(metric, 'max') ?? [] }));
		this.top = rows.reduce((most, row) => row.values.reduce((m, v) => (v > m ? v : m), most), 0) || 1;
		return rows;
	}

	current() {
		return this.view.node.index < 0 ? null : this.view.node.index;
	}

	open(row) {
		if (row !== null) this.view.show(row);
	}
}

/* The cores, or the GPUs, of one node. */
class DeviceMap extends Heat {
	constructor(spec, view, slot) {
		super(view, 'map-' + spec.id, spec.title, slot);
		this.spec = spec;
		this.top = 1;
		this.text = unitOf('ratio').text;
		this.note.textContent = 'share of time busy, by all users';
	}

	rows() {
		const map = this.node.spec.maps[this.spec.id];
		if (!map) return [];
		const cells = decodeBase64(map.cells, Uint8Array);
		const x = Array.from({ length: map.columns }, (_, i) => (i + 1) * map.end / map.columns);
		return map.names.map((name, r) => ({ name, x, start: 0, values: Array.from(cells.subarray(r * map.columns, (r + 1) * map.columns), (v) => (v === 255 ? null : v / 250)) }));
	}
}
