// SPDX-License-Identifier: Apache-2.0
// Jobs of fresh.py: fresh.js VERB ARGUMENT...
const fs = require("fs");
const { Worker, isMainThread, workerData } = require("worker_threads");

function work(seconds) {
	const end = Date.now() + 1000 * seconds;
	let x = 0;

	while (Date.now() < end)
		for (let i = 0; i < 10000; i++)
			x = Math.sin(x) + 1;
}

function files(seconds) {
	const end = Date.now() + 1000 * seconds;

	while (Date.now() < end) {
		for (let i = 0; i < 100; i++)
			fs.writeFileSync(`tiny${i}`, "");
		for (let i = 0; i < 100; i++)
			fs.statSync(`tiny${i}`);
		for (let i = 0; i < 100; i++)
			fs.unlinkSync(`tiny${i}`);
	}
}

if (!isMainThread)
	work(workerData);
else if (process.argv[2] === "files")
	files(Number(process.argv[3]));
else
	for (let i = 0; i < Number(process.argv[3]); i++)
		new Worker(__filename, { workerData: Number(process.argv[4]) });
