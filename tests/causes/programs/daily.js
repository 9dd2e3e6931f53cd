// SPDX-License-Identifier: Apache-2.0
// "keep" holds all that it makes; "workers N SECONDS" computes in so many threads.
const { Worker, isMainThread, workerData } = require("worker_threads");

function compute(seconds) {
	let x = 1;
	for (const end = Date.now() + 1000 * seconds; Date.now() < end;)
		for (let i = 0; i < 100000; i++)
			x = Math.imul(x, 1664525) + 1013904223;
	return x;
}

if (!isMainThread)
	compute(workerData);
else if (process.argv[2] === "keep") {
	const kept = [];
	for (;;) {
		kept.push(Array.from({ length: 30000 }, (_, i) => ({ i })));
		compute(0.15);
	}
} else
	for (let i = 0; i < Number(process.argv[3]); i++)
		new Worker(__filename, { workerData: Number(process.argv[4]) });
