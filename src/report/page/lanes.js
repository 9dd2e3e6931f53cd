/* SPDX-License-Identifier: Apache-2.0 */
/* The life of the processes: a bar each from birth to end, packed into lanes, shaded by CPU. */
'use strict';

const LANES_MAX = 32, LANE_HEIGHT = 19;

/* Each process in the first lane that is free when it starts. */
function packed(processes) {
	const ends = [];
	for (const p of [...processes].sort((a, b) => a.start - b.start)) {
		let lane = ends.findIndex((end) => end <= p.start);
		if (lane < 0) lane = ends.push(0) - 1;
		ends[lane] = p.end;
		p.lane = lane;
	}
	return ends.length;
}

class Lanes {
	constructor(view) {
		this.view = view;
		this.plotBox = element('div', { className: 'plot' });
		this.reading = element('span', { className: 'reading' });
		this.note = element('span', { className: 'note' });
		this.root = element('section', { className: 'chart panel', id: 'chart-lanes' },
			element('div', { className: 'chart-head' }, element('h3', { textContent: 'Lives of the processes' }), this.note, this.reading), this.plotBox);
		this.root.setAttribute('aria-label', 'Lives of the processes');
	}

	build(node) {
		this.destroy();
		const end = node.spec.end;
		const all = node.spec.processes.map((p) => ({ ...p, start: Math.max(0, p.start), end: p.end ?? end })).sort((a, b) => (b.cpu ?? 0) - (a.cpu ?? 0));
		let shown = all;
		this.lanes = packed(shown);
		while (this.lanes > LANES_MAX) {
			shown = shown.slice(0, Math.floor(shown.length * 0.9));
			this.lanes = packed(shown);
		}
		this.shown = shown;
		this.plotBox.replaceChildren();
		if (!shown.length) {
			this.plotBox.append(element('p', { className: 'empty', textContent: 'No process of this node is in the recording.' }));
			return;
		}
		const count = node.spec.processes_total;
		this.note.textContent = shown.length < count ? 'the ' + shown.length + ' that used most CPU, of ' + count : 'all ' + count + ' processes';
		this.height = this.lanes * LANE_HEIGHT + 44;
		this.plot = new uPlot(plotOptions(this.view, this.height, {
			series: [{}, { class: 'plain', stroke: 'transparent', points: { show: false } }],
			scales: { y: { range: () => [0, 1] } },
			axes: [timeAxis(), { size: this.view.gutter, values: () => [], splits: () => [], grid: { show: false }, ticks: { show: false } }],
			hooks: { draw: [(u) => this.paint(u)] },
		}), [node.x, node.x.map(() => 0)], this.plotBox);
		this.resize();
		this.plot.over.addEventListener('mousemove', (e) => this.point(e));
		this.plot.over.addEventListener('mouseleave', () => this.read(null));
		this.read(null);
	}

	/* Mean cores of a process over its life; null when its CPU is not known. */
	static cores(p) {
		return typeof p.cpu === 'number' ? Math.min(1, p.cpu / Math.max(p.end - p.start, 0.01)) : null;
	}

	paint(u) {
		const ctx = u.ctx, ratio = uPlot.pxRatio, { left, top, width } = u.bbox;
		const lane = LANE_HEIGHT * ratio;
		const [idle, busy, ink, faint] = ['pale', 'blue', 'ink', 'faint'].map(colour);
		ctx.save();
		ctx.beginPath();
		ctx.rect(left, top, width, u.bbox.height);
		ctx.clip();
		ctx.font = 11 * ratio + 'px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
		ctx.textBaseline = 'middle';
		ctx.textAlign = 'left';
		for (const p of this.shown) {
			const x0 = u.valToPos(p.start, 'x', true), x1 = u.valToPos(p.end, 'x', true);
			if (x1 < left || x0 > left + width) continue;
			const y = top + p.lane * lane + ratio, h = lane - 2 * ratio, w = Math.max(x1 - x0 - ratio, ratio);
			const share = Lanes.cores(p);
			p.box = [x0, y, Math.max(w, 4 * ratio), h];
			ctx.globalAlpha = 1;
			ctx.fillStyle = idle;
			ctx.fillRect(x0, y, w, h);
			ctx.globalAlpha = share ?? 0;
			ctx.fillStyle = busy;
			ctx.fillRect(x0, y, w, h);
			ctx.globalAlpha = 1;
			const textLeft = Math.max(x0, left) + 5 * ratio, room = Math.min(x1, left + width) - textLeft - 4 * ratio;
			const label = p.name + '[' + p.pid + ']';
			if (room > 24 * ratio) {
				const full = ctx.measureText(label).width <= room;
				if (full || ctx.measureText(p.name).width <= room) {
					ctx.fillStyle = share > 0.55 ? colour('on-busy') : share === null ? faint : ink;
					ctx.fillText(full ? label : p.name, textLeft, y + h / 2 + ratio / 2);
				}
			}
		}
		ctx.restore();
	}

	point(e) {
		const ratio = uPlot.pxRatio, box = this.plot.over.getBoundingClientRect();
		const x = (e.clientX - box.left) * ratio + this.plot.bbox.left, y = (e.clientY - box.top) * ratio + this.plot.bbox.top;
		this.read(this.shown.find((p) => p.box && x >= p.box[0] && x <= p.box[0] + p.box[2] && y >= p.box[1] && y <= p.box[1] + p.box[3]) || null);
	}

	read(p) {
		if (!p || typeof p.start !== 'number') {
			const ramp = element('span', { className: 'ramp' });
			ramp.style.background = 'linear-gradient(90deg,' + colour('pale') + ',' + colour('blue') + ')';
			this.reading.replaceChildren('idle', ramp, 'one core or more');
			return;
		}
		const cpu = typeof p.cpu === 'number' ? duration(p.cpu) + ' CPU' : 'CPU not known';
		this.reading.textContent = p.name + '[' + p.pid + '] · ' + duration(p.start) + ' to ' + duration(p.end) + ' · ' + cpu;
	}

	resize() {
		if (this.plot) this.plot.setSize({ width: this.plotBox.clientWidth || 600, height: this.height });
	}

	destroy() {
		if (this.plot) this.plot.destroy();
		this.plot = null;
	}
}
