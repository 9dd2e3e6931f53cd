// SPDX-License-Identifier: Apache-2.0
// The Node programs of the eighth set: eighth.js WHAT ARGUMENTS.
const fs = require('fs'), crypto = require('crypto'), zlib = require('zlib');
const [what, x, y] = process.argv.slice(2);

function synced(seconds) {
    const file = fs.openSync('journal', 'a'), end = Date.now() + seconds * 1000;
    let n = 0;
    for (; Date.now() < end; n++) {
        fs.writeSync(file, `entry ${n} of the journal\n`);
        fs.fsyncSync(file);
    }
    console.log(n, 'entries');
}

if (what === 'synced')
    synced(+x);
else if (what === 'synced-then-deflates') {
    synced(+x);
    const data = crypto.randomBytes(1 << 20).toString('hex'), end = Date.now() + y * 1000;
    while (Date.now() < end)
        zlib.deflateSync(data, {level: 9});
} else if (what === 'derive') {
    const end = Date.now() + y * 1000;
    const next = () => { if (Date.now() < end) crypto.pbkdf2('word', 'salt', 40000, 64, 'sha512', next); };
    for (let i = 0; i < x; i++)
        next();
}
