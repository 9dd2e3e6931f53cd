/* SPDX-License-Identifier: Apache-2.0 */
/* Bars in lanes: the processes from start to end, shaded by CPU, and the phases of a node. */
'use strict';

const LANES_MAX = 32, LANES_OF_TRACKS_MAX = 96, LANE_HEIGHT = 19;
const LANE_FONT = 'px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';

/* Each bar in the first lane that is free when it starts. */
function packed(bars) {
	const ends = [];
	for (const bar of [...bars].sort((a, b) => a.start - b.start || b.end - a.end)) {
		let lane = ends.findIndex((end) => end <= bar.start);
		if (lane < 0) lane = ends.push(0) - 1;
		ends[lane] = bar.end;
		bar.lane = lane;
	}
	return ends.length;
}

/* Ranks in their order, then other tracks by name; what has no track is in front. */
function byTrack([a], [b]) {
	const rank = (track) => (track ? Number(/^rank (\d+)/.exec(track)?.[1] ?? Infinity) : -1), [x, y] = [rank(a), rank(b)];
	return x === y ? a.localeCompare(b, undefined, { numeric: true }) : x - y;
}

/* Each track in lanes of its own, one below the other: [name, its first lane]. */
function packedByTrack(bars) {
	const tracks = new Map();
	let lanes = 0;
	for (const bar of bars) {
		const name = bar.track ?? '';
		if (!tracks.has(name)) tracks.set(name, []);
		tracks.get(name).push(bar);
	}
	return { rows: [...tracks].sort(byTrack).map(([name, of]) => {
		const first = lanes;
		lanes += packed(of);
		for (const bar of of) bar.lane += first;
		return [name, first];
	}), lanes };
}

/* A kind of bars says bars(node): start, end, share (0 to 1, null unknown), name, label, words; those that matter most first. */
class Bars extends Panel {
	load(node) {
		this.node = node;
		this.host.textContent = this.view.other ? node.spec.host : '';
	}

	build() {
		this.destroy();
		let shown = this.bars(this.node);
		const all = shown.length, most = new Set(shown.map((bar) => bar.track)).size > 1 ? LANES_OF_TRACKS_MAX : LANES_MAX;
		this.pack(shown);
		while (this.lanes > most) {
			shown = shown.slice(0, Math.floor(shown.length * 0.9));
			this.pack(shown);
		}
		this.shown = shown;
		this.plotBox.replaceChildren();
		this.root.hidden = this.node.id < 0 && !shown.length;
		this.note.textContent = this.noteOf(shown.length, all);
		if (!shown.length) {
			this.plotBox.append(element('p', { className: 'empty', textContent: this.nothing }));
			return;
		}
		this.height = this.lanes * LANE_HEIGHT + 44;
		this.plot = new uPlot(plotOptions(this.view, this.node, this.height, {
			series: [{}, { class: 'plain', stroke: 'transparent', points: { show: false } }],
			scales: { y: { range: () => [0, 1] } },
			axes: [timeAxis(), { size: this.view.gutter, values: () => [], splits: () => [], grid: { show: false }, ticks: { show: false } }],
			hooks: { draw: [(u) => this.paint(u)] },
		}), [this.node.x, this.node.x.map(() => 0)], this.plotBox);
		this.resize();
		this.plot.over.addEventListener('mousemove', (e) => this.point(e));
		this.plot.over.addEventListener('mouseleave', () => this.read(null));
		this.read(null);
	}

	pack(bars) {
		({ rows: this.rows, lanes: this.lanes } = packedByTrack(bars));
	}

	/* Of more than one track each has its name beside it, and a line above. */
	paintRows(ctx, { left, top, width }, ratio) {
		ctx.textAlign = 'right';
		for (const [name, first] of this.rows.length > 1 ? this.rows : []) {
			const y = top + first * LANE_HEIGHT * ratio, room = left - 8 * ratio;
			let text = /^rank \d+/.exec(name)?.[0] ?? name;
			while (text.length > 1 && ctx.measureText(text).width > room) text = text.replace(/.…?$/, '…');
			ctx.fillStyle = colour('faint');
			ctx.fillText(text, left - 6 * ratio, y + LANE_HEIGHT * ratio / 2);
			ctx.fillStyle = colour('grey');
			if (first) ctx.fillRect(left, y - ratio / 2, width, ratio / 2);
		}
	}

	paint(u) {
		const ctx = u.ctx, ratio = uPlot.pxRatio, { left, top, width } = u.bbox;
		const lane = LANE_HEIGHT * ratio;
		const [idle, busy, edge, ink, faint, onBusy] = ['pale', 'blue', 'grey', 'ink', 'soft', 'on-busy'].map(colour);
		ctx.save();
		ctx.font = 11 * ratio + LANE_FONT;
		ctx.textBaseline = 'middle';
		this.paintRows(ctx, u.bbox, ratio);
		ctx.beginPath();
		ctx.rect(left, top, width, u.bbox.height);
		ctx.clip();
		ctx.textAlign = 'left';
		for (const bar of this.shown) {
			const x0 = u.valToPos(bar.start, 'x', true), x1 = u.valToPos(bar.end, 'x', true);
			bar.box = null;
			if (x1 < left || x0 > left + width) continue;
			const y = top + bar.lane * lane + ratio, h = lane - 2 * ratio, w = Math.max(x1 - x0 - ratio, ratio);
			bar.box = [x0, y, Math.max(w, 4 * ratio), h];
			ctx.globalAlpha = 1;
			ctx.fillStyle = idle;
			ctx.fillRect(x0, y, w, h);
			ctx.globalAlpha = bar.share ?? 0;
			ctx.fillStyle = busy;
			ctx.fillRect(x0, y, w, h);
			ctx.globalAlpha = 1;
			ctx.strokeStyle = edge;
			ctx.lineWidth = ratio / 2;
			ctx.strokeRect(x0, y, w, h);
			const textLeft = Math.max(x0, left) + 5 * ratio, room = Math.min(x1, left + width) - textLeft - 4 * ratio;
			if (room < 24 * ratio) continue;
			const full = ctx.measureText(bar.label).width <= room;
			if (full || ctx.measureText(bar.name).width <= room) {
				ctx.fillStyle = bar.share > 0.55 ? onBusy : bar.share === null ? faint : ink;
				ctx.fillText(full ? bar.label : bar.name, textLeft, y + h / 2 + ratio / 2);
			}
		}
		ctx.restore();
	}

	point(e) {
		const ratio = uPlot.pxRatio, box = this.plot.over.getBoundingClientRect();
		const x = (e.clientX - box.left) * ratio + this.plot.bbox.left, y = (e.clientY - box.top) * ratio + this.plot.bbox.top;
		this.read(this.shown.find((p) => p.box && x >= p.box[0] && x <= p.box[0] + p.box[2] && y >= p.box[1] && y <= p.box[1] + p.box[3]) || null);
	}

	read(bar) {
		if (!bar || typeof bar.start !== 'number') this.reading.replaceChildren(...this.key());
		else this.reading.textContent = bar.label + ' · ' + duration(bar.start) + ' to ' + duration(bar.end) + (bar.words ? ' · ' + bar.words : '');
	}

	/* What lies under the cursor, for who cannot see it. */
	spoken(row) {
		const at = this.node.x[row], names = this.shown.filter((p) => p.start <= at && p.end >= at).map((p) => p.label);
		return names.length ? names.slice(0, 8).join(', ') + (names.length > 8 ? ' and ' + (names.length - 8) + ' more' : '') : 'none';
	}
}

class Lanes extends Bars {
	constructor(view, slot) {
		super(view, 'lanes', 'Process timeline', slot);
		this.nothing = 'The recording has no process of this node.';
	}

	/* Mean cores over its life; null when its CPU is not known. */
	bars(node) {
		return node.spec.processes.map((p) => {
			const start = Math.max(0, p.start), end = p.end ?? node.spec.end, known = typeof p.cpu === 'number';
			return { start, end, name: p.name, label: (p.args ?? p.name) + '[' + p.pid + ']', share: known ? Math.min(1, p.cpu / Math.max(end - start, 0.01)) : null, words: known ? duration(p.cpu) + ' CPU' : 'CPU unknown' };
		});
	}

	noteOf(shown) {
		const count = this.node.spec.processes_total;
		return shown < count ? 'the ' + shown + ' that used most CPU, of ' + count : count === 1 ? 'the only process' : 'all ' + count + ' processes';
	}

	key() {
		const ramp = element('span', { className: 'ramp' });
		ramp.style.background = 'linear-gradient(90deg,' + colour('pale') + ',' + colour('blue') + ')';
		return ['idle', ramp, 'one core or more'];
	}
}

/* Spans, and marks as bars of no length. Very many that are too short to draw separately come as one, with their number. */
class Phases extends Bars {
	constructor(view, slot) {
		super(view, 'phases', 'Phases and marks', slot);
		this.nothing = 'The recording has no phases or marks of this node.';
	}

	bar(e, start, end, flag) {
		const host = this.node.id < 0 && this.view.data.nodes_total > 1 && this.view.data.nodes[e.node]?.host;
		const many = e.count > 1, name = (e.name || (many ? 'several' : '')) + (many ? ' ×' + e.count : '');
		return {
			start, end, name, track: e.track && [e.track, host].filter(Boolean).join(', '), label: flag + [e.track, name].filter(Boolean).join(': '), count: e.count ?? 1,
			share: many ? Math.min(1, e.lasted / Math.max(end - start, 1e-9)) : 0,
			words: many ? [e.lasted > 0 && duration(e.lasted) + ' in all', 'too short to draw separately'].filter(Boolean).join(', ') : e.text,
		};
	}

	/* The longest matter most. */
	bars(node) {
		const of = (e) => node.has(e);
		const spans = this.view.data.spans.filter(of).map((s) => this.bar(s, s.from, s.to ?? node.spec.end, ''));
		const marks = this.view.data.marks.filter(of).map((m) => this.bar(m, m.at, m.to ?? m.at, '⚑ '));
		return [...spans, ...marks].sort((a, b) => b.end - b.start - (a.end - a.start));
	}

	noteOf(shown, all) {
		const { spans_total: phases, marks_total: marks, spans, marks: flags } = this.view.data;
		const counted = [...spans, ...flags].reduce((sum, e) => sum + (e.count ?? 1), 0), lost = phases + marks - counted;
		const here = this.shown.reduce((sum, e) => sum + e.count, 0);
		return ['phases: ' + phases + ', marks: ' + marks, this.view.data.nodes_total > 1 && here + ' of them on this node', here > shown && here + ' in ' + shown + ' bars',
			all > shown && all - shown + ' shorter bars left out', lost > 0 && lost + ' of the run are too many for a page'].filter(Boolean).join('; ');
	}

	key() {
		if (!this.shown?.some((bar) => bar.count > 1)) return [];
		const ramp = element('span', { className: 'ramp' });
		ramp.style.background = 'linear-gradient(90deg,' + colour('pale') + ',' + colour('blue') + ')';
		return ['many in one bar (×): seldom', ramp, 'all the time'];
	}
}
