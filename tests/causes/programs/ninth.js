// SPDX-License-Identifier: Apache-2.0
// The Node programs of the ninth set: ninth.js WHAT ARGUMENTS.
'use strict';
const fs = require('fs');
const { Worker, isMainThread, workerData } = require('worker_threads');
const [, , what, ...args] = process.argv;

function compute(rounds) {
	let x = 1, sum = 0;
	for (let i = 0; i < rounds * 1000000; i++) {
		x = (Math.imul(x, 1103515245) + 12345) >>> 0;
		sum += x % 7;
	}
	return sum;
}

// The table of settings is read from its file for each record.
function settings(records) {
	let sum = 0;
	for (let i = 0; i < records; i++)
		sum += JSON.parse(fs.readFileSync('settings.json', 'utf8')).limits[i % 1000].value;
	console.log(sum);
}

// Each answer is kept, and none is ever dropped.
function keep() {
	const cache = new Map();
	for (let i = 0;; i++) {
		cache.set(`record ${i}`, { id: i, name: `sample ${i}`, values: Array.from({ length: 12 }, (_, k) => i * k + 0.5) });
		if (i % 4000 === 0)
			compute(60);
	}
}

function even(workers, rounds) {
	for (let i = 0; i < workers; i++)
		new Worker(__filename, { workerData: Number(rounds), argv: [what] });
}

if (!isMainThread)
	compute(workerData);
else
	({ settings, keep, even })[what](...args);
