// SPDX-License-Identifier: Apache-2.0
// Asks a server for one page after the other, for judge.py: PORTFILE PAGES.
const fs = require("fs");
const http = require("http");

const port = Number(fs.readFileSync(process.argv[2], "utf8"));

function page(number) {
  return new Promise((resolve, reject) => {
    http.get({ host: "127.0.0.1", port, path: `/page/${number}` }, (reply) => {
      let size = 0;
      reply.on("data", (piece) => { size += piece.length; });
      reply.on("end", () => resolve(size));
    }).on("error", reject);
  });
}

(async () => {
  let total = 0;
  for (let i = 0; i < Number(process.argv[3]); i++) total += await page(i);
  console.log(total);
})();
