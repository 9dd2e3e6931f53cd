/* SPDX-License-Identifier: Apache-2.0 */
/* The charts: one uPlot each, one range and one cursor for all of them. Absent values are gaps. */
'use strict';

const AXIS_FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';

function colour(name) {
	return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
}

function decodeBase64(text, type) {
	const raw = atob(text), bytes = new Uint8Array(raw.length);
	for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
	return new type(bytes.buffer);
}

/* What page_pack.h writes: 16 bits with 11 of fraction, times a power of two. */
function decodePacked({ scale, values }) {
	return Array.from(decodeBase64(values, Uint16Array), (bits) => {
		const exponent = bits >> 11, fraction = bits & 2047;
		if (bits === 65535) return null;
		return (exponent ? (fraction + 2048) * 2 ** (exponent - 1) : fraction) * 2 ** scale;
	});
}

/* The numbers as they were sent, absent ones as null. */
function decodeNumbers(spec, n) {
	if (spec === null || typeof spec === 'number') return new Array(n).fill(spec);
	if (typeof spec === 'object') return decodePacked(spec);
	return Array.from(decodeBase64(spec, Float32Array), (v) => (Number.isNaN(v) ? null : v));
}

/* A metric read less often than the others has absences between all its values: those are joined
 * (undefined), longer ones are gaps (null). What a job says now and then has no gaps. */
function joined(values, always) {
	const at = [];
	values.forEach((v, i) => v !== null && at.push(i));
	const steps = at.slice(1).map((i, k) => i - at[k]).sort((a, b) => a - b);
	const usual = steps.length ? steps[steps.length >> 1] : 1;
	for (let k = 1; (always || usual > 1) && k < at.length; k++)
		if (always || at[k] - at[k - 1] < 2 * usual) values.fill(undefined, at[k - 1] + 1, at[k]);
	return values;
}

class Node {
	constructor(spec, index) {
		this.spec = spec;
		this.index = index;
		this.id = spec.id ?? -1;
		this.x = Array.from(decodeBase64(spec.x, Float64Array));
		this.cache = new Map();
	}
	values(metric, which) {
		const series = this.spec.series[metric];
		if (!series || series[which] === undefined || series[which] === null) return null;
		const key = metric + ' ' + which;
		if (!this.cache.has(key)) this.cache.set(key, joined(decodeNumbers(series[which], this.x.length), metric.startsWith('own:')));
		return this.cache.get(key);
	}
	/* Whether an event of the data is this node's; of all nodes together each is. */
	has(event) {
		return this.id < 0 || event.node === this.id;
	}
	/* Index of the sample nearest to a time. */
	nearest(time) {
		let low = 0, high = this.x.length - 1;
		while (high - low > 1) {
			const middle = (low + high) >> 1;
			if (this.x[middle] <= time) low = middle;
			else high = middle;
		}
		return time - this.x[low] <= this.x[high] - time ? low : high;
	}
}

/* The last known value at or before i, across absences that are no gaps. */
function valueAt(values, i) {
	while (i > 0 && values[i] === undefined) i--;
	return values[i];
}

/* What is joined, as numbers: on the line from the value before to the one after. */
function bridged(values, x) {
	const out = values.slice();
	let last = -1;
	values.forEach((v, i) => {
		if (typeof v !== 'number') return;
		for (let k = last + 1; last >= 0 && k < i; k++)
			if (values[k] === undefined) out[k] = values[last] + (v - values[last]) * (x[k] - x[last]) / (x[i] - x[last]);
		last = i;
	});
	return out;
}

/* Cumulated layers; a layer that is absent adds nothing, a row without any layer is a gap. */
function stacked(parts, x) {
	const layers = parts.map((values) => bridged(values, x));
	const sum = new Array(x.length).fill(0);
	const any = new Array(x.length).fill(false);
	layers.forEach((layer) => layer.forEach((v, i) => { if (typeof v === 'number') any[i] = true; }));
	return layers.map((layer) => layer.map((v, i) => {
		sum[i] += typeof v === 'number' ? v : 0;
		return any[i] ? sum[i] : null;
	}));
}

function timeAxis() {
	return {
		scale: 'x', stroke: colour('faint'), font: AXIS_FONT, size: 28, gap: 4, space: 76, incrs: STEPS.time,
		grid: { stroke: colour('grid'), width: 1 }, ticks: { show: false },
		/* A label that would be cut at the right edge is left out. */
		values: (u, splits, axis, space, step) => splits.map((v) => (u.valToPos(v, 'x') > u.bbox.width / uPlot.pxRatio - 20 ? '' : clock(v, step))),
	};
}

/* More would hide what is drawn. */
const MARKS_PAINTED = 60;

/* Lines are told apart without colours, too. */
const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 5], [1, 5]];

/* Phases as bands, marks as dashed lines with a flag, and the stretch that proves a verdict. */
function paintEvents(u, view, node) {
	const ctx = u.ctx, { left, top, width, height } = u.bbox, ratio = uPlot.pxRatio;
	const at = (seconds) => Math.min(Math.max(u.valToPos(seconds, 'x', true), left - 9), left + width + 9);
	ctx.save();
	ctx.beginPath();
	ctx.rect(left, top, width, height);
	ctx.clip();
	ctx.fillStyle = colour('ink');
	view.data.spans.forEach((span, i) => {
		if (node.id < 0 || !node.has(span)) return;
		const from = at(span.from), to = at(span.to ?? node.spec.end);
		ctx.globalAlpha = i % 2 ? 0.05 : 0.1;
		ctx.fillRect(from, top, to - from, height);
	});
	ctx.globalAlpha = 1;
	ctx.strokeStyle = colour('soft');
	ctx.fillStyle = colour('soft');
	ctx.lineWidth = ratio;
	ctx.setLineDash([3 * ratio, 3 * ratio]);
	const marks = view.data.marks.filter((mark) => node.has(mark));
	for (const mark of marks.length > MARKS_PAINTED ? [] : marks) {
		const x = at(mark.at);
		ctx.beginPath();
		ctx.moveTo(x, top);
		ctx.lineTo(x, top + height);
		ctx.stroke();
		ctx.beginPath();
		ctx.moveTo(x, top);
		ctx.lineTo(x + 6 * ratio, top + 4 * ratio);
		ctx.lineTo(x, top + 8 * ratio);
		ctx.fill();
	}
	ctx.restore();
}

function paintProof(u, view, lines) {
	const proof = view.proof, ctx = u.ctx, { left, top, width, height } = u.bbox, ratio = uPlot.pxRatio;
	if (!proof || !lines.some((l) => l.metric === proof.metric)) return;
	ctx.save();
	ctx.beginPath();
	ctx.rect(left, top, width, height);
	ctx.clip();
	ctx.strokeStyle = ctx.fillStyle = colour('bad');
	ctx.lineWidth = 1.5 * ratio;
	const [first, last] = proof.to > proof.from ? [proof.from, proof.to] : view.full;
	const from = u.valToPos(first, 'x', true), to = u.valToPos(last, 'x', true);
	ctx.strokeRect(from, top + ratio, to - from, height - 2 * ratio);
	if (proof.threshold !== undefined) {
		const y = u.valToPos(proof.threshold, 'y', true);
		ctx.setLineDash([6 * ratio, 4 * ratio]);
		ctx.beginPath();
		ctx.moveTo(left, y);
		ctx.lineTo(left + width, y);
		ctx.stroke();
		ctx.font = 11 * ratio + 'px system-ui, sans-serif';
		ctx.textAlign = 'right';
		ctx.fillText('threshold', left + width - 4 * ratio, y < top + 16 * ratio ? y + 12 * ratio : y - 4 * ratio);
	}
	ctx.restore();
}

/* What every plot shares: range, cursor, drag to zoom, bands. `view` is the View that owns it. */
function plotOptions(view, node, height, more) {
	return {
		width: 600, height, padding: [8, 10, 0, 0], legend: { show: false },
		scales: { x: { time: false, auto: false, range: () => view.range }, ...more.scales },
		cursor: {
			y: false, drag: { x: true, y: false, setScale: false }, points: { size: 7 },
			sync: { key: 'sonde', setSeries: false, filters: { pub: (type) => type === 'mousemove' || type === 'mouseleave' } },
			bind: { dblclick: () => () => view.reset() },
		},
		axes: more.axes, series: more.series, bands: more.bands,
		hooks: {
			drawClear: [(u) => paintEvents(u, view, node)],
			setCursor: [(u) => view.follow(u)],
			setSelect: [(u) => {
				if (u.select.width < 4) return;
				const from = u.posToVal(u.select.left, 'x'), to = u.posToVal(u.select.left + u.select.width, 'x');
				u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
				view.zoom(from, to);
			}],
			...more.hooks,
		},
	};
}

function svg(tag, attributes, ...children) {
	const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
	for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
	e.append(...children);
	return e;
}

/* How a line looks, beside its name. */
function swatch(line) {
	const box = svg('svg', { width: 20, height: 11, 'aria-hidden': 'true' });
	if (line.role === 'stack') box.append(svg('rect', { x: 4, width: 11, height: 11, rx: 3, fill: colour(line.colour) }));
	else box.append(svg('line', { x1: 0, x2: 20, y1: 5.5, y2: 5.5, stroke: colour(line.colour), 'stroke-width': 2.5, 'stroke-dasharray': line.dash.join(' ') }));
	return box;
}

/* What stands on the page beside the charts: a heading with what is read at the pointer, and a plot that is as high as `height`. */
class Panel {
	constructor(view, id, title, slot) {
		this.view = view;
		this.slot = slot;
		this.plotBox = element('div', { className: 'plot' });
		this.reading = element('p', { className: 'reading line' });
		this.host = element('span', { className: 'host' });
		this.note = element('span', { className: 'note' });
		this.head = element('div', { className: 'chart-head' }, element('h3', { textContent: title }), this.host, this.note, this.reading);
		this.root = element('section', { className: 'chart panel', id: 'chart-' + id + (slot ? '-beside' : '') }, this.head, this.plotBox);
		this.root.setAttribute('role', 'group');
		this.root.setAttribute('aria-label', title);
	}

	resize() {
		if (this.plot) this.plot.setSize({ width: this.plotBox.clientWidth || 600, height: this.height });
	}

	destroy() {
		if (this.plot) this.plot.destroy();
		this.plot = null;
	}
}

/* Of instances that nothing can add up: from the least to the most of them. */
function valuesOf(line, node) {
	const of = (which) => node.values(line.metric, which), values = of('mean');
	if (values || !of('min')) return { ...line, values, max: of('max') };
	return { ...line, role: 'line', label: line.label + ', minimum to maximum of ' + node.spec.series[line.metric].instances, values: of('max'), least: of('min') };
}

/* One chart of the table in the data: panel, legend with values, plot. twin: the same of the node beside. */
class Chart {
	constructor(spec, view, slot) {
		this.spec = spec;
		this.view = view;
		this.slot = slot;
		this.unit = unitOf(spec.unit);
		this.hidden = new Set();
		this.plotBox = element('div', { className: 'plot' });
		this.legend = element('ul', { className: 'legend' });
		this.reading = element('span', { className: 'reading' });
		this.host = element('span', { className: 'host' });
		const layers = spec.lines.filter((line) => line.role === 'stack').length;
		this.root = element('section', { className: 'chart panel', id: 'chart-' + spec.id + (slot ? '-beside' : '') },
			element('div', { className: 'chart-head' }, element('h3', { textContent: spec.title }), this.host,
				element('span', { className: 'note', textContent: [spec.note, layers > 1 ? 'layers from bottom to top' : ''].filter(Boolean).join('; ') }), this.reading),
			this.legend, this.plotBox);
		this.root.setAttribute('role', 'group');
		this.root.setAttribute('aria-label', spec.title);
	}

	load(node) {
		this.node = node;
		this.host.textContent = this.view.other ? node.spec.host : '';
		let lines = 0;
		this.lines = this.spec.lines.map((line) => ({ ...valuesOf(line, node), dash: line.role === 'stack' ? [] : DASHES[lines++ % DASHES.length] }));
		/* As on paper. */
		this.tooFew = node.x.length < 3 && !isOwn(this.spec) && this.lines.some((l) => l.values);
		this.hasData = !this.tooFew && this.lines.some((l) => l.values);
		const limit = this.spec.limit && node.spec[this.spec.limit.of];
		if (limit && this.hasData)
			this.lines.push({ label: this.spec.limit.label, colour: 'soft', role: 'limit', dash: [5, 5], values: new Array(node.x.length).fill(limit) });
		const layers = stacked(this.lines.filter((l) => l.role === 'stack' && l.values).map((l) => l.values), node.x);
		const largest = (values) => values.reduce((most, v) => (v > most ? v : most), 0);
		const least = (values) => values.reduce((most, v) => (v < most ? v : most), 0);
		this.low = Math.min(0, ...this.lines.flatMap((l) => [l.values, l.least]).filter(Boolean).map(least));
		this.high = Math.max(0, ...layers.map(largest), ...this.lines.filter((l) => l.role !== 'stack').flatMap((l) => [l.values, l.max]).filter(Boolean).map(largest));
	}

	build() {
		this.destroy();
		this.plotBox.replaceChildren();
		this.legend.replaceChildren(...this.legendItems());
		this.reading.hidden = !this.hasData;
		if (!this.hasData) {
			this.legend.replaceChildren();
			this.plotBox.append(this.emptyText());
			return;
		}
		this.draw();
	}

	/* Why there is nothing to draw. */
	reason() {
		const reasons = [...new Set(this.spec.lines.map((l) => this.node.spec.missing[l.metric]))].filter(Boolean);
		return this.tooFew ? 'too few samples' : reasons.join('; ') || 'this recording has none of these metrics';
	}

	emptyText() {
		return element('p', { className: 'empty', textContent: 'Nothing to draw: ' + this.reason() + '.' });
	}

	/* What has values, then what was zero throughout, then what is missing and why. */
	legendItems() {
		const isZero = (line) => line.role === 'stack' && line.values && !line.values.some((v) => v);
		const note = (text) => element('li', { className: 'none', textContent: text });
		const zero = this.lines.filter(isZero), missing = new Map();
		for (const line of this.lines.filter((l) => !l.values)) {
			const why = this.node.spec.missing[line.metric] || 'not recorded';
			missing.set(why, [...(missing.get(why) || []), line.label]);
		}
		this.lines = this.lines.filter((line) => line.values && !isZero(line));
		const items = this.lines.map((line) => this.legendItem(line));
		if (zero.length) items.push(note('always 0: ' + zero.map((l) => l.label.toLowerCase()).join(', ')));
		for (const [why, labels] of missing) items.push(note(labels.join(', ') + ': ' + why));
		return items;
	}

	legendItem(line) {
		line.output = element('b');
		const button = element('button', { type: 'button', ariaPressed: String(!this.hidden.has(line.label)), title: 'Show or hide' }, swatch(line), element('span', { textContent: line.label }), line.output);
		button.addEventListener('click', () => {
			if (!this.hidden.delete(line.label)) this.hidden.add(line.label);
			button.ariaPressed = String(!this.hidden.has(line.label));
			this.draw();
		});
		return element('li', { className: line.metric && this.view.proof?.metric === line.metric ? 'proved' : '' }, button);
	}

	draw() {
		if (this.plot) this.plot.destroy();
		const shown = this.lines.filter((l) => !this.hidden.has(l.label));
		const layers = shown.filter((l) => l.role === 'stack'), over = shown.filter((l) => l.role !== 'stack');
		const proved = this.spec.lines.some((l) => l.metric === this.view.proof?.metric) ? this.view.proof.metric : null;
		const data = [this.node.x], series = [{}], bands = [], dense = this.node.x.length > 300;
		stacked(layers.map((l) => l.values), this.node.x).forEach((values, i) => {
			const fill = colour(layers[i].colour);
			data.push(values);
			series.push({ class: 'plain', stroke: layers[i].colour === 'pale' ? colour('grey') : dense ? undefined : colour('surface'), width: 0.7, fill: i === 0 ? fill : undefined, points: { show: false } });
			if (i > 0) bands.push({ series: [i + 1, i], fill });
		});
		for (const line of over) {
			const isProved = proved === line.metric, stroke = colour(line.colour) + (proved && !isProved && line.role !== 'limit' ? '70' : '');
			if (line.max && !(proved && !isProved)) {
				data.push(line.max);
				series.push({ class: 'plain', stroke: stroke + '66', width: 1, points: { show: false } });
			}
			if (line.least) {
				data.push(line.least);
				series.push({ class: 'plain', stroke, width: 1, points: { show: false } });
				bands.push({ series: [data.length, data.length - 1], fill: stroke + '26' });
			}
			if (layers.length) {
				data.push(line.values);
				series.push({ class: 'plain', stroke: colour('surface'), width: 4.5, points: { show: false } });
			}
			data.push(line.values);
			series.push({
				class: line.role === 'limit' ? 'plain' : 'line', stroke, width: line.role === 'limit' ? 1.5 : isProved ? 3.5 : 2, dash: line.dash.length ? line.dash : undefined,
				fill: line.role === 'area' ? colour(line.colour) + '26' : undefined,
				points: { show: (u, i, from, to) => to - from < 40 && line.role !== 'limit', size: 5, fill: stroke },
			});
		}
		if (data.length === 1) {
			data.push(this.node.x.map(() => null));
			series.push({});
		}
		const unit = this.unit, proof = this.view.proof;
		const threshold = proof && this.spec.lines.some((l) => l.metric === proof.metric) ? proof.threshold ?? 0 : 0;
		const top = (high) => Math.max(threshold, this.twin ? Math.max(this.high, this.twin.high) : high) * 1.06;
		this.plot = new uPlot(plotOptions(this.view, this.node, this.spec.height, {
			series, bands,
			scales: { y: { range: (u, low, high) => [this.low * 1.06, top(high) > 0 ? top(high) : this.low < 0 ? 0 : 1] } },
			hooks: { draw: [(u) => paintProof(u, this.view, this.spec.lines)] },
			axes: [timeAxis(), {
				stroke: colour('faint'), font: AXIS_FONT, size: this.view.gutter, gap: 6, space: 34, incrs: unit.steps,
				grid: { stroke: colour('grid'), width: 1 }, ticks: { show: false },
				values: (u, splits) => splits.map((v) => tick(unit, v)),
			}],
		}), data, this.plotBox);
		this.resize();
		this.read(null);
	}

	/* Over the visible range, weighted by time. */
	meanOf(values) {
		const [from, to] = this.view.range;
		let sum = 0, seconds = 0;
		this.node.x.forEach((x, i) => {
			if (x < from || x > to || typeof values[i] !== 'number') return;
			const stood = i ? x - this.node.x[i - 1] : 1e-9;
			sum += values[i] * stood;
			seconds += stood;
		});
		return seconds > 0 ? sum / seconds : null;
	}

	/* Values at a row; without one, means. */
	read(row) {
		if (!this.plot) return;
		const told = (values) => {
			const v = row === null ? this.meanOf(values) : valueAt(values, row);
			return typeof v === 'number' ? this.unit.text(v) : '–';
		};
		for (const line of this.lines) line.output.textContent = (line.least ? told(line.least) + ' to ' : '') + told(line.values);
		this.reading.textContent = row === null ? 'mean of the shown part' : 'at ' + duration(this.node.x[row]);
	}

	spoken(row) {
		return this.lines.map((l) => l.label + ' ' + l.output.textContent).join(', ');
	}

	resize() {
		if (this.plot) this.plot.setSize({ width: this.plotBox.clientWidth || 600, height: this.spec.height });
	}

	destroy() {
		if (this.plot) this.plot.destroy();
		this.plot = null;
	}
}
