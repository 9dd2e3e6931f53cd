/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and times for people, and the steps of the axes that suit them. */
'use strict';

const STEPS = {
	binary: Array.from({ length: 61 }, (_, i) => 2 ** i),
	decimal: Array.from({ length: 54 }, (_, i) => [1, 2, 5][i % 3] * 10 ** (Math.floor(i / 3) - 4)),
	time: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600,
		900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 2592000],
};

/* Three significant digits, without a tail of zeros. */
function digits(v) {
	const a = Math.abs(v);
	if (a === 0) return '0';
	if (a < 0.0005) return '<0.001';
	return v.toFixed(a >= 100 ? 0 : a >= 10 ? 1 : a >= 1 ? 2 : 3);
}

function scaled(v, base, prefixes, unit) {
	let i = 0;
	while (Math.abs(v) >= base && i < prefixes.length - 1) {
		v /= base;
		i++;
	}
	return (i === 0 && Number.isInteger(v) ? String(v) : digits(v)) + ' ' + prefixes[i] + unit;
}

/* As unit_format of core/metric.c: one decimal, none of bytes themselves. */
function rounded(v, base, prefixes, unit) {
	let i = 0;
	while (Number(Math.abs(v).toFixed(i ? 1 : 0)) >= base && i < prefixes.length - 1) {
		v /= base;
		i++;
	}
	return v.toFixed(i ? 1 : 0) + ' ' + prefixes[i] + unit;
}

const UNITS = {
	bytes: { steps: STEPS.binary, text: (v) => rounded(v, 1024, ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi'], 'B') },
	bytes_per_second: { steps: STEPS.decimal, text: (v) => rounded(v, 1000, ['', 'k', 'M', 'G', 'T'], 'B/s') },
	ratio: { steps: STEPS.decimal, text: (v) => digits(100 * v) + ' %' },
	seconds: { steps: STEPS.decimal, text: duration },
	cores: { steps: STEPS.decimal, text: digits },
	watts: { steps: STEPS.decimal, text: (v) => scaled(v, 1000, ['', 'k', 'M'], 'W') },
	joules: { steps: STEPS.decimal, text: (v) => scaled(v, 1000, ['', 'k', 'M', 'G'], 'J') },
	hertz: { steps: STEPS.decimal, text: (v) => scaled(v, 1000, ['', 'k', 'M', 'G'], 'Hz') },
	celsius: { steps: STEPS.decimal, text: (v) => digits(v) + ' °C' },
	per_second: { steps: STEPS.decimal, text: (v) => scaled(v, 1000, ['', 'k', 'M', 'G'], '/s') },
	/* Whatever the job counts: four digits that say something. */
	own: { steps: [1, 2, 5].flatMap((m) => Array.from({ length: 61 }, (_, i) => m * 10 ** (i - 30))).sort((a, b) => a - b), text: (v) => String(Number(v.toPrecision(4))) },
	elapsed_seconds: { steps: STEPS.decimal, text: duration },
	count: { steps: STEPS.decimal, text: (v) => scaled(v, 1000, ['', 'k', 'M', 'G'], '').trim() },
};

function unitOf(name) {
	return UNITS[name] || UNITS.count;
}

/* A tick reads shorter than a value: 1.50 GiB becomes 1.5 GiB. */
function tick(unit, v) {
	return v === 0 ? '0' : unit.text(v).replace(/(\.\d*?)0+(?=\s|$)/, '$1').replace(/\.(?=\s|$)/, '');
}

/* Seconds since the start: "0.25 s", "42 s", "1 min 30 s", "2 h 5 min". step: the finest part that counts. */
function clock(s, step) {
	if (Math.abs(s) < 60 && (step < 1 || !Number.isInteger(s)))
		return s.toFixed(Math.min(3, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)))) + ' s';
	const whole = Math.round(s), parts = [];
	const d = Math.floor(whole / 86400), h = Math.floor(whole / 3600) % 24;
	const m = Math.floor(whole / 60) % 60, rest = whole % 60;
	if (d) parts.push(d + ' d');
	if (h) parts.push(h + ' h');
	if (m) parts.push(m + ' min');
	if (rest || !parts.length) parts.push(rest + ' s');
	return parts.slice(0, 2).join(' ');
}

/* As unit_format of core/metric.c, so that page, terminal and PDF agree: "5 ms", "1.24 s", "12 min 07 s", "3 h 05 min". */
function duration(s) {
	const a = Math.abs(s), whole = Math.round(a), two = (n) => String(Math.floor(n)).padStart(2, '0');
	const text = a === 0 ? '0 s' :
		a < 0.9995e-6 ? (a * 1e9).toFixed(0) + ' ns' :
		a < 0.9995e-3 ? (a * 1e6).toFixed(0) + ' us' :
		a < 0.9995 ? (a * 1e3).toFixed(0) + ' ms' :
		a < 9.995 ? a.toFixed(2) + ' s' :
		a < 59.95 ? a.toFixed(1) + ' s' :
		whole < 3600 ? Math.floor(whole / 60) + ' min ' + two(whole % 60) + ' s' :
		whole < 86400 ? Math.floor(whole / 3600) + ' h ' + two(whole % 3600 / 60) + ' min' :
		Math.floor(whole / 86400) + ' d ' + two(whole % 86400 / 3600) + ' h';
	return (s < 0 ? '-' : '') + text;
}
