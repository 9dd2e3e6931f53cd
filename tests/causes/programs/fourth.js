// SPDX-License-Identifier: Apache-2.0
// Jobs of fourth.py: fourth.js VERB ARGUMENT...
const crypto = require("crypto");
const { fork } = require("child_process");

const sleep = (s) => new Promise((done) => setTimeout(done, 1000 * s));
const until = (s) => Date.now() + 1000 * s;

function work(seconds) {
	const end = until(seconds);
	let x = 0;

	while (Date.now() < end)
		for (let i = 0; i < 10000; i++)
			x = Math.sin(x) + 1;
}

// Documents are written as JSON and read again, in the one event loop.
async function documents(seconds) {
	const rows = Array.from({ length: 20000 }, (_, i) => ({ i, name: `row ${i}`, values: [i, i + 1, i + 2] }));

	for (const end = until(seconds); Date.now() < end; await sleep(0))
		JSON.parse(JSON.stringify(rows));
}

// A child answers each small message before the next is sent.
function messages(seconds) {
	const child = fork(__filename, ["answers"]), end = until(seconds);
	let n = 0;

	child.on("message", () => {
		if (Date.now() < end)
			child.send(n++);
		else
			child.disconnect();
	});
	child.send(n++);
}

function answers() {
	process.on("message", (m) => process.send(m));
}

// Requests are remembered, then a field of a missing one is read.
async function remembers(seconds) {
	const seen = [];

	for (const end = until(seconds); Date.now() < end; await sleep(0.05))
		seen.push(Buffer.alloc(2 << 20, seen.length));
	console.log(seen[seen.length].length);
}

// As many derivations of keys as there are cores, in Node's own pool of threads.
function derives(n, seconds) {
	const end = until(seconds);
	const next = () => Date.now() < end && crypto.pbkdf2("secret", "salt", 100000, 64, "sha512", next);

	for (let i = 0; i < n; i++)
		next();
}

const [verb, a, b] = process.argv.slice(2);
if (verb === "documents") documents(Number(a));
else if (verb === "messages") messages(Number(a));
else if (verb === "answers") answers();
else if (verb === "remembers") remembers(Number(a));
else if (verb === "derives") derives(Number(a), Number(b));
else if (verb === "work") work(Number(a));
else if (verb === "module") {
	work(Number(a));
	require("left-trim");
}
