/* SPDX-License-Identifier: Apache-2.0 */
/* A live page: the server says that there is a new version, and the page asks for it. Charts keep their range, tables their order. */
'use strict';

const RETRY_MS = 2000;

class Live {
	constructor() {
		this.told = document.getElementById('live');
		this.told.hidden = false;
		this.version = null;
		this.listen();
		setInterval(() => this.say(), 1000);
	}

	say(text) {
		this.text = text ?? this.text;
		const age = this.at && !this.ended ? ' · ' + clock(Math.round((Date.now() - this.at) / 1000), 1) + ' ago' : '';
		this.told.textContent = this.text + age;
	}

	/* The browser asks again by itself with the last event's id; not when it was answered with an error. */
	listen() {
		this.say('Connecting');
		this.source = new EventSource('events');
		this.source.addEventListener('version', (e) => this.take(JSON.parse(e.data)));
		this.source.addEventListener('error', () => {
			if (this.ended) return;
			this.say('Reconnecting');
			if (this.source.readyState === EventSource.CLOSED) setTimeout(() => this.listen(), RETRY_MS);
		});
	}

	/* One at a time: a version that comes meanwhile is taken after it. */
	async take(event) {
		this.wanted = event;
		if (this.busy) return;
		this.busy = true;
		while (this.wanted) {
			const now = this.wanted;
			this.wanted = null;
			const next = await fetch('data').then((answer) => (answer.ok ? answer.json() : null)).catch(() => null);
			if (!next) {
				/* The event is not told again. */
				this.wanted ??= now;
				await new Promise((done) => setTimeout(done, RETRY_MS));
				continue;
			}
			this.show(next);
			this.ended = now.ended;
			this.at = Date.now();
			this.say(now.ended ? 'Ended' : 'Live');
			if (now.ended) this.source.close();
		}
		this.busy = false;
	}

	show({ parts, data }) {
		for (const [name, html] of Object.entries(parts)) this.replace(document.querySelector('[data-part="' + name + '"]'), html);
		if (view) this.draw(data);
		if (processes) processes.load();
		if (view) proofs(view);
		document.documentElement.dataset.version = Number(document.documentElement.dataset.version ?? 0) + 1;
	}

	draw(data) {
		const charts = JSON.stringify([view.data.charts, view.data.nodes.length, view.data.spans.length > 0, view.data.marks.length > 0, view.data.nodes.map((n) => Object.keys(n.maps))]);
		view.load(data);
		if (charts === JSON.stringify([data.charts, data.nodes.length, data.spans.length > 0, data.marks.length > 0, data.nodes.map((n) => Object.keys(n.maps))])) view.rebuild();
		else view.arrange();
	}

	/* What did not change stays, with what is open or chosen in it. */
	replace(part, html) {
		if (!part || part.html === html) return;
		const open = part.querySelector('details')?.open, within = part.contains(document.activeElement);
		if (within && part.html !== undefined) return;
		part.html = html;
		part.innerHTML = html;
		if (open) part.querySelector('details').open = true;
		part.querySelectorAll('table.sortable').forEach(sortable);
	}
}

new Live();
