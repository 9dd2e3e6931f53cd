/* SPDX-License-Identifier: Apache-2.0 */
/* The charts: one uPlot each, one range and one cursor for all of them. Absent values are gaps. */
'use strict';

const AXIS_FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';

function colour(name) {
	return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
}

function element(tag, attributes, ...children) {
	const e = document.createElement(tag);
	for (const [key, value] of Object.entries(attributes || {})) {
		if (key in e && key !== 'list') e[key] = value;
		else e.setAttribute(key, value);
	}
	e.append(...children);
	return e;
}

function decodeBase64(text, type) {
	const raw = atob(text), bytes = new Uint8Array(raw.length);
	for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
	return new type(bytes.buffer);
}

/* A number stands for a constant; NaN means absent. A metric read less often than the others has
 * absences between all its values: those are joined (undefined), longer ones are gaps (null). */
function decodeValues(spec, n) {
	if (typeof spec === 'number') return new Array(n).fill(spec);
	const values = Array.from(decodeBase64(spec, Float32Array), (v) => (Number.isNaN(v) ? null : v));
	const at = [];
	values.forEach((v, i) => v !== null && at.push(i));
	const steps = at.slice(1).map((i, k) => i - at[k]).sort((a, b) => a - b);
	const usual = steps.length ? steps[steps.length >> 1] : 1;
	for (let k = 1; usual > 1 && k < at.length; k++)
		if (at[k] - at[k - 1] < 2 * usual) values.fill(undefined, at[k - 1] + 1, at[k]);
	return values;
}

class Node {
	constructor(spec) {
		this.spec = spec;
		this.x = Array.from(decodeBase64(spec.x, Float64Array));
		this.cache = new Map();
	}
	values(metric, which) {
		const series = this.spec.series[metric];
		if (!series || series[which] === undefined) return null;
		const key = metric + ' ' + which;
		if (!this.cache.has(key)) this.cache.set(key, decodeValues(series[which], this.x.length));
		return this.cache.get(key);
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

/* Cumulated layers; a layer that is absent adds nothing, a row without any layer is a gap. */
function stacked(layers, n) {
	const sum = new Array(n).fill(0);
	const any = new Array(n).fill(false);
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

/* What every plot shares: range, cursor, drag to zoom. `view` is the View that owns it. */
function plotOptions(view, height, more) {
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

/* One chart of the table in the data: panel, legend with values, plot. */
class Chart {
	constructor(spec, view) {
		this.spec = spec;
		this.view = view;
		this.unit = unitOf(spec.unit);
		this.hidden = new Set();
		this.plotBox = element('div', { className: 'plot' });
		this.legend = element('ul', { className: 'legend' });
		this.reading = element('span', { className: 'reading' });
		this.root = element('section', { className: 'chart panel', id: 'chart-' + spec.id },
			element('div', { className: 'chart-head' }, element('h3', { textContent: spec.title }),
				element('span', { className: 'note', textContent: spec.note || '' }), this.reading),
			this.legend, this.plotBox);
		this.root.setAttribute('aria-label', spec.title);
	}

	build(node) {
		this.destroy();
		this.node = node;
		this.lines = this.spec.lines.map((line) => ({ ...line, values: node.values(line.metric, 'mean'), max: node.values(line.metric, 'max') }));
		const hasData = this.lines.some((l) => l.values);
		const limit = this.spec.limit && node.spec[this.spec.limit.of];
		if (limit && hasData)
			this.lines.push({ label: this.spec.limit.label, colour: 'soft', role: 'limit', values: new Array(node.x.length).fill(limit) });
		this.plotBox.replaceChildren();
		this.legend.replaceChildren(...this.legendItems());
		this.reading.hidden = !hasData;
		if (this.reading.hidden) {
			this.legend.replaceChildren();
			this.plotBox.append(this.emptyText());
			return;
		}
		this.draw();
	}

	emptyText() {
		const reasons = [...new Set(this.spec.lines.map((l) => this.node.spec.missing[l.metric]))].filter(Boolean);
		return element('p', { className: 'empty', textContent: 'Nothing to draw: ' + (reasons.join('; ') || 'this recording has none of these metrics') + '.' });
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
		const swatch = element('i', { className: line.role === 'stack' ? '' : line.role === 'limit' ? 'dashed' : 'thin' });
		swatch.style.background = swatch.style.borderColor = colour(line.colour);
		line.output = element('b');
		const button = element('button', { type: 'button', ariaPressed: String(!this.hidden.has(line.label)), title: 'Show or hide' }, swatch, element('span', { textContent: line.label }), line.output);
		button.addEventListener('click', () => {
			if (!this.hidden.delete(line.label)) this.hidden.add(line.label);
			button.ariaPressed = String(!this.hidden.has(line.label));
			this.draw();
		});
		return element('li', {}, button);
	}

	draw() {
		if (this.plot) this.plot.destroy();
		const shown = this.lines.filter((l) => !this.hidden.has(l.label));
		const layers = shown.filter((l) => l.role === 'stack'), over = shown.filter((l) => l.role !== 'stack');
		const data = [this.node.x], series = [{}], bands = [], dense = this.node.x.length > 300;
		stacked(layers.map((l) => l.values), this.node.x.length).forEach((values, i) => {
			const fill = colour(layers[i].colour);
			data.push(values);
			series.push({ class: 'plain', stroke: dense ? undefined : colour('surface'), width: 0.7, fill: i === 0 ? fill : undefined, points: { show: false } });
			if (i > 0) bands.push({ series: [i + 1, i], fill });
		});
		for (const line of over) {
			const stroke = colour(line.colour);
			if (line.max) {
				data.push(line.max);
				series.push({ class: 'plain', stroke: stroke + '66', width: 1, points: { show: false } });
			}
			if (layers.length) {
				data.push(line.values);
				series.push({ class: 'plain', stroke: colour('surface'), width: 4.5, points: { show: false } });
			}
			data.push(line.values);
			series.push({
				class: line.role === 'limit' ? 'plain' : 'line', stroke, width: line.role === 'limit' ? 1.5 : 2, dash: line.role === 'limit' ? [5, 5] : undefined,
				fill: line.role === 'area' ? stroke + '26' : undefined,
				points: { show: (u, i, from, to) => to - from < 40 && line.role !== 'limit', size: 5, fill: stroke },
			});
		}
		if (data.length === 1) {
			data.push(this.node.x.map(() => null));
			series.push({});
		}
		const unit = this.unit;
		this.plot = new uPlot(plotOptions(this.view, this.spec.height, {
			series, bands,
			scales: { y: { range: (u, low, high) => [0, high > 0 ? high * 1.06 : 1] } },
			axes: [timeAxis(), {
				stroke: colour('faint'), font: AXIS_FONT, size: this.view.gutter, gap: 6, space: 34, incrs: unit.steps,
				grid: { stroke: colour('grid'), width: 1 }, ticks: { show: false },
				values: (u, splits) => splits.map((v) => tick(unit, v)),
			}],
		}), data, this.plotBox);
		this.resize();
		this.read(null);
	}

	/* Values at a row; without one, means over the visible range, weighted by time. */
	read(row) {
		if (!this.plot) return;
		const [from, to] = this.view.range;
		for (const line of this.lines) {
			let v;
			if (row !== null) v = valueAt(line.values, row);
			else {
				let sum = 0, seconds = 0;
				this.node.x.forEach((x, i) => {
					if (x < from || x > to || typeof line.values[i] !== 'number') return;
					const stood = i ? x - this.node.x[i - 1] : 1e-9;
					sum += line.values[i] * stood;
					seconds += stood;
				});
				v = seconds > 0 ? sum / seconds : null;
			}
			line.output.textContent = typeof v === 'number' ? this.unit.text(v) : '–';
		}
		this.reading.textContent = row === null ? 'mean of what is shown' : 'at ' + duration(this.node.x[row]);
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
