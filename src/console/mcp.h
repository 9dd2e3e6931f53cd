/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcp.h - the server's side of the Model Context Protocol: JSON-RPC messages, one a line, by which
 * an assistant lists tools and calls them.
 *
 * It knows the messages, not what tools do. Arguments are checked against the tool's rows before it
 * is called: they are known, of their type, one of the choices, and those required are there. A
 * line may hold anything; whatever it holds, the answer is one line of JSON or nothing.
 */
#ifndef SONDE_CONSOLE_MCP_H
#define SONDE_CONSOLE_MCP_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>

struct jsontree;

struct mcp_argument {
	const char *name;
	const char *what;
	const char *choices; /* "cpu|wait"; NULL: any text */
	bool number, required;
};

enum { MCP_ARGUMENTS = 8 };

struct mcp_tool {
	const char *name, *what;
	struct mcp_argument argument[MCP_ARGUMENTS]; /* up to the first without a name */
};

struct mcp {
	const struct mcp_tool *tool;
	size_t ntools;
	const char *instructions; /* for the assistant */
	/* Appends what the tool gives, or why there is nothing; false: it is that. */
	bool (*call)(void *ctx, size_t tool, const struct jsontree *arguments, struct bytes *text);
	void *ctx;
};

/* Appends the answer to a line, which may be nothing. */
void mcp_answer(const struct mcp *m, const void *line, size_t n, struct bytes *out);
/* Appends the answer to a line that was too long to be read. */
void mcp_refuse(struct bytes *out, const char *why);

#endif
