/* SPDX-License-Identifier: Apache-2.0 */
#include "core/crash.h"

#include "base/text/decimal.h"
#include "core/metric.h"

#include <math.h>
#include <string.h>

#define WRONG_POINTER "a wrong or freed pointer, or an index out of range"

static const struct {
	const char *name, *words, *more; /* more: behind the place */
} kinds[] = {
	[CRASH_UNKNOWN] = { "", "", "" },
	[CRASH_NULL_READ] = { "null-read", "a null pointer was read", "" },
	[CRASH_NULL_WRITE] = { "null-write", "a null pointer was written to", "" },
	[CRASH_NULL_CALL] = { "null-call", "it called a null pointer as a function", "" },
	[CRASH_STACK] = { "stack", "the stack overflowed",
			  "deep recursion, or large arrays on the stack" },
	[CRASH_THREAD_STACK] = { "thread-stack", "the stack of a thread overflowed",
				 "deep recursion, or large arrays on the stack" },
	[CRASH_JUMP] = { "jump", "it jumped to an invalid address", "" },
	[CRASH_DATA_RUN] = { "data-run", "it jumped to memory that holds data, not code", "" },
	[CRASH_READ_ONLY] = { "read-only", "it wrote to memory that is read-only", "" },
	[CRASH_FORBIDDEN_READ] = { "forbidden-read", "it read memory that it may not read", "" },
	[CRASH_READ] = { "read", "it read an invalid address", WRONG_POINTER },
	[CRASH_WRITE] = { "write", "it wrote to an invalid address", WRONG_POINTER },
	[CRASH_GENERAL] = { "general-protection", "most likely it used a corrupted pointer", "" },
	[CRASH_DIVISION] = { "division", "an integer was divided by zero, or the smallest by -1",
			     "" },
	[CRASH_INSTRUCTION] = { "instruction", "it ran an invalid instruction",
				"one that this processor lacks, or a compiler's trap" },
};
_Static_assert(sizeof kinds / sizeof kinds[0] == CRASH_KINDS, "a row for each kind");

const char *crash_name(enum crash_kind kind)
{
	return kinds[kind].name;
}

enum crash_kind crash_of(const struct run *r, uint32_t instance)
{
	const char *name = run_label(r, instance, CRASH_KIND);

	for (enum crash_kind i = CRASH_UNKNOWN + 1; name && i < CRASH_KINDS; i++)
		if (!strcmp(kinds[i].name, name))
			return i;
	return CRASH_UNKNOWN;
}

bool crash_is_of_stack(enum crash_kind kind)
{
	return kind == CRASH_STACK || kind == CRASH_THREAD_STACK;
}

/* A file that is called as the process is says nothing. */
static void say_place(const struct run *r, uint32_t instance, char *out, size_t size)
{
	const char *function = run_label(r, instance, CRASH_FUNCTION);
	const char *source = run_label(r, instance, CRASH_SOURCE);
	const char *file = run_label(r, instance, CRASH_FILE);
	const char *name = r->instances[instance].name;

	if (function)
		decimal_append(out, size, " in %.100s", function);
	else if (file && (!name || strcmp(file, name) != 0))
		decimal_append(out, size, " in %.60s", file);
	if (function && source)
		decimal_append(out, size, " (%.60s)", source);
}

/* Its own, or the job's, if a sample found it, which reads its limits; NAN: not known, or none. */
static double stack_limit(const struct run *r, uint32_t instance)
{
	const char *own = run_label(r, instance, "limit.stack_bytes");
	const struct run_meta *m =
		run_find_meta(r, r->instances[instance].node, "job.limit.stack_bytes");

	if (own)
		return decimal_of(own);
	return m && m->type == META_INT && run_label(r, instance, "command_line") ? (double)m->value
										  : NAN;
}

/* What a stack may have, and what to do. */
static void say_limit(enum crash_kind kind, double stack_bytes, char *out, size_t size)
{
	char limit[32];

	if (kind == CRASH_THREAD_STACK) {
		decimal_append(out, size,
			       ". Use a loop with a stack of its own, or give threads larger "
			       "stacks (OMP_STACKSIZE for OpenMP, else ulimit -s)");
		return;
	}
	if (isfinite(stack_bytes)) {
		unit_format(UNIT_BYTES, stack_bytes, limit, sizeof limit);
		decimal_append(out, size, "; the limit is %s (ulimit -s)", limit);
	}
	decimal_append(out, size, ". Use a loop with a stack of its own, or raise the limit%s",
		       isfinite(stack_bytes) ? "" : " (ulimit -s)");
}

void crash_say(const struct run *r, uint32_t instance, char *out, size_t size)
{
	enum crash_kind kind = crash_of(r, instance);

	*out = '\0';
	if (kind == CRASH_UNKNOWN)
		return;
	decimal_append(out, size, "%s", kinds[kind].words);
	say_place(r, instance, out, size);
	if (*kinds[kind].more)
		decimal_append(out, size, ": %s", kinds[kind].more);
	if (crash_is_of_stack(kind))
		say_limit(kind, stack_limit(r, instance), out, size);
}
