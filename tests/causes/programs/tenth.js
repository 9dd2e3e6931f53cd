// SPDX-License-Identifier: Apache-2.0
// tenth.js WHAT NUMBER: jobs of the tenth set for node.
const fs = require("fs"), http = require("http"), cluster = require("cluster");
const [what, n] = [process.argv[2], Number(process.argv[3])];
const burn = s => {
	const used = () => { const u = process.cpuUsage(); return (u.user + u.system) / 1e6; };
	const end = used() + s;
	let x = 0;
	while (used() < end)
		for (let i = 0; i < 200000; i++)
			x = (x * 31 + i) % 1000003;
	return x;
};
const jobs = {
	// A bundler that works on its modules one by one in the event loop.
	bundle() { for (let i = 0; i < 20; i++) burn(n / 20); },
	workers() {
		if (cluster.isPrimary) { cluster.fork(); cluster.fork(); } else { burn(n); process.exit(0); }
	},
	log() {
		const fd = fs.openSync("steps.log", "w");
		for (let i = 0; i < n * 1e5; i++) fs.writeSync(fd, "step " + i % 1000 + "\n");
	},
	heap() { const kept = []; for (;;) kept.push({ a: new Array(1000).fill(kept.length + 0.5) }); },
	refused() {
		const get = k => http.get({ host: "127.0.0.1", port: 9, path: "/" }).on("error", e => {
			if (k >= n) { console.error(e.message); process.exit(1); }
			setTimeout(() => get(k + 1), 1000);
		});
		get(1);
	},
};
jobs[what]();
