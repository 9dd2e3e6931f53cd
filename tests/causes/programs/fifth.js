// SPDX-License-Identifier: Apache-2.0
// Jobs of fifth.py, for Node: fifth.js VERB SECONDS.
const fs = require("fs");
const { Worker, isMainThread, workerData } = require("worker_threads");
const end = Date.now() + 1000 * Number(process.argv[3] || workerData);

function work() {
	let n = 1;
	while (Date.now() < end)
		for (let i = 0; i < 100000; i++)
			n = (n * 31 + 7) % 1000003;
	return n;
}

const verbs = {
	pieces() {    // 16 bytes a read
		const room = Buffer.alloc(16), file = fs.openSync("/dev/zero");
		while (Date.now() < end)
			fs.readSync(file, room);
	},
	looks() {    // looks every 20 ms whether a file is there
		const timer = setInterval(() => { if (fs.existsSync("ready") || Date.now() > end) clearInterval(timer); }, 20);
	},
	rejects() {
		work();
		Promise.reject(new Error("upstream replied 503 to /model"));
	},
	workers() {
		for (let i = 0; i < Number(process.argv[4]); i++)
			new Worker(__filename, { workerData: process.argv[3] });
	},
};
if (isMainThread)
	verbs[process.argv[2]]();
else
	work();
