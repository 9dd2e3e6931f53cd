// SPDX-License-Identifier: Apache-2.0
// Node: works for some seconds, then keeps everything.
const end = Date.now() + 1000 * Number(process.argv[2]);
let x = 1;
while (Date.now() < end) x = (x * 1664525 + 1013904223) % 4294967296;
const kept = [];
for (;;) kept.push(new Array(1000).fill(x));
