// SPDX-License-Identifier: Apache-2.0
// Jobs of third.py: third.js VERB ARGUMENT...
const fs = require("fs");
const { execFileSync, fork } = require("child_process");

const sleep = (s) => new Promise((done) => setTimeout(done, 1000 * s));
const until = (s) => Date.now() + 1000 * s;

function work(seconds) {
	const end = until(seconds);
	let x = 0;

	while (Date.now() < end)
		for (let i = 0; i < 10000; i++)
			x = Math.sin(x) + 1;
}

// Each line goes through a program of its own.
function commands(seconds) {
	const end = until(seconds);

	while (Date.now() < end)
		execFileSync("tr", ["a-z", "A-Z"], { input: "a line\n" });
}

function syncs(seconds) {
	const end = until(seconds), f = fs.openSync("events.log", "w");

	for (let i = 0; Date.now() < end; i++) {
		fs.writeSync(f, `event ${i}\n`);
		fs.fsyncSync(f);
	}
}

// A cache without an end, then a pause.
async function remembers(seconds, pause) {
	const end = until(seconds), cache = new Map();

	for (let i = 0; Date.now() < end; i++) {
		cache.set(i, Buffer.alloc(400000, i));
		work(0.005);
	}
	await sleep(pause);
	console.log(cache.size);
}

async function rejects(seconds) {
	work(seconds);
	await Promise.reject(new Error("checkpoint 17 has another shape than the model"));
}

function processes(n, seconds) {
	for (let i = 0; i < n; i++)
		fork(__filename, ["work", seconds]);
}

const verbs = { work, commands, syncs, remembers, rejects, processes };
verbs[process.argv[2]](...process.argv.slice(3).map(Number));
