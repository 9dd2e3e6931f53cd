// SPDX-License-Identifier: Apache-2.0
// Jobs of sixth.py, for Node: sixth.js VERB ARGUMENT...
const { Worker, isMainThread, workerData } = require('worker_threads')

function work(seconds) {
	const end = Date.now() + seconds * 1000
	let sum = 0
	while (Date.now() < end)
		for (let i = 0; i < 100000; i++) sum += Math.sqrt(i)
	return sum
}

const verbs = {
	range(s) {
		work(Number(s))
		const counts = [3, 1, -4]
		return counts.map((n) => new Array(n))
	},
	uneven(cores, s) {
		for (let i = 0; i < Number(cores); i++) new Worker(__filename, { workerData: i ? 0.4 : Number(s) })
	},
	even(cores, s) {
		for (let i = 0; i < Number(cores); i++) new Worker(__filename, { workerData: Number(s) })
	},
}

if (isMainThread) verbs[process.argv[2]](...process.argv.slice(3))
else work(workerData)
