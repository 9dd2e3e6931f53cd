/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/shorten.h"

#include <stdbool.h>
#include <string.h>

static const char in[] = " in ", calls[] = " < ", gap[] = " ... ";
enum { IN = sizeof in - 1, CALLS = sizeof calls - 1, GAP = sizeof gap - 1 };

/* Bytes of a stack that is said in a sentence: "read < load (io.c:8)" of "read < load (io.c:8);
 * it".
 */
static size_t stack_length(const char *at)
{
	size_t n = 0;

	while (at[n] && at[n] != ';' && strncmp(at + n, ". ", 2) != 0 &&
	       strncmp(at + n, ": ", 2) != 0 && strcmp(at + n, ".") != 0)
		n++;
	return n;
}

/* "load (io.c:8)" */
static bool is_frame(const char *text, size_t n)
{
	size_t digits = n ? n - 1 : 0;

	while (digits > 0 && text[digits - 1] >= '0' && text[digits - 1] <= '9')
		digits--;
	return digits > 1 && digits < n - 1 && text[n - 1] == ')' && text[digits - 1] == ':';
}

/* The outermost function of which the line is known; 0 bytes: of none it is. */
static size_t outermost(const char *stack, size_t n, const char **frame)
{
	size_t found = 0;

	for (size_t i = 0; i < n;) {
		const char *next = strstr(stack + i, calls);
		size_t len = next && next < stack + n ? (size_t)(next - stack) - i : n - i;

		if (is_frame(stack + i, len)) {
			*frame = stack + i;
			found = len;
		}
		i += len + CALLS;
	}
	return found;
}

/* The stack, or else the one function, that is said here: not "in a pipe, in write < main". */
static size_t stack_at(const char *text, bool several)
{
	const char *called, *nearer;
	size_t n;

	if (strncmp(text, in, IN) != 0)
		return 0;
	n = stack_length(text + IN);
	called = strstr(text + IN, calls);
	nearer = strstr(text + IN, in);
	if (!several)
		return is_frame(text + IN, n) && !(nearer && nearer < text + IN + n) ? n : 0;
	return called && called < text + IN + n && !(nearer && nearer < called) ? n : 0;
}

/* In place: each stack as one function; or without such functions. False: there was none. */
static bool reduce(char *text, bool stacks)
{
	char *const begin = text, *out = text;
	bool any = false;

	while (*text) {
		size_t n = stack_at(text, stacks), kept = 0;
		const char *frame = text;

		if (!n) {
			*out++ = *text++;
			continue;
		}
		any = true;
		kept = stacks ? outermost(text + IN, n, &frame) : 0;
		if (kept) {
			memmove(out, in, IN);
			memmove(out + IN, frame, kept);
			out += IN + kept;
		} else if (out > begin && out[-1] == ',') {
			out--;
		}
		text += IN + n;
	}
	*out = '\0';
	return any;
}

/* What it begins with, and its last sentence, which says what to do. */
static void cut_middle(char *text, size_t most)
{
	size_t n = strlen(text), last = n, first;

	while (last > 2 && strncmp(text + last - 2, ". ", 2) != 0)
		last--;
	if (n <= most || last <= 2 || n - last + GAP >= most)
		return;
	first = most - (n - last) - GAP;
	while (first && text[first] != ';' && text[first] != '.')
		first--;
	if (!first)
		return;
	memmove(text + first + GAP, text + last, n - last + 1);
	memcpy(text + first, gap, GAP);
}

void sentence_shorten(char *text, size_t most)
{
	if (strlen(text) <= most || !reduce(text, true) || strlen(text) <= most)
		return;
	reduce(text, false);
	cut_middle(text, most + most / 4);
}
