/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever a line holds, its answer is one line of JSON that is a message of JSON-RPC, or nothing;
 * and a tool is called with arguments that its rows allow, only. */
#include "base/text/jsontree.h"
#include "console/mcp.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct mcp_tool tools[] = {
	{ "look",
	  "looks",
	  { { "run", "which", NULL, false, true },
	    { "by", "how", "line|function", false, false },
	    { "seconds", "how long", NULL, true, false } } },
	{ "list", "lists", { { 0 } } },
};

static bool call(void *ctx, size_t tool, const struct jsontree *arguments, struct bytes *text)
{
	const char *run = jsontree_text(arguments, "run"), *by = jsontree_text(arguments, "by");

	(void)ctx;
	if (tool > 1 || (tool == 0 && !run) || (tool == 1 && arguments && arguments->first) ||
	    (by && strcmp(by, "line") != 0 && strcmp(by, "function") != 0) ||
	    (jsontree_find(arguments, "seconds") && !(jsontree_number(arguments, "seconds") >= 0)))
		abort();
	bytes_puts(text, run ? run : "nothing");
	return by != NULL;
}

static void check(const struct bytes *out)
{
	struct pool pool = { 0 };
	struct err e = { "" };
	const struct jsontree *answer;

	if (!out->len)
		return;
	if (out->data[out->len - 1] != '\n' || memchr(out->data, '\n', out->len - 1))
		abort();
	answer = jsontree_read(&pool, out->data, out->len, &e);
	if (!answer || !jsontree_find(answer, "id") ||
	    !jsontree_find(answer, "result") == !jsontree_find(answer, "error"))
		abort();
	pool_free(&pool);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct mcp m = { .tool = tools, .ntools = 2, .instructions = "none", .call = call };
	uint8_t *text = malloc(size ? size : 1); /* its own, so that a read past the end is seen */
	struct bytes out = { 0 };

	if (!text)
		return 0;
	memcpy(text, data, size);
	mcp_answer(&m, text, size, &out);
	if (!out.failed)
		check(&out);
	bytes_free(&out);
	free(text);
	return 0;
}
