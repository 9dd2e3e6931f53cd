/* SPDX-License-Identifier: Apache-2.0 */
#include "source/perf/perf_cpu.h"

#include "base/text/number.h"

#include <stdio.h>
#include <string.h>

/* What follows "key<blanks>: " on its line; NULL when there is none. */
static const char *field(const char *text, const char *key)
{
	const char *p = number_find_line(text, key);

	for (; p; p = number_find_line(number_next_line(p), key)) {
		const char *colon = number_skip_blanks(p);

		if (*colon == ':') /* else the key of another line begins alike: "model name" */
			return number_skip_blanks(colon + 1);
	}
	return NULL;
}

static bool hex(const char **p, uint64_t *out)
{
	uint64_t v = 0;
	const char *at = *p;

	for (;; at++) {
		unsigned digit;

		if (*at >= '0' && *at <= '9')
			digit = (unsigned)(*at - '0');
		else if (*at >= 'a' && *at <= 'f')
			digit = (unsigned)(*at - 'a') + 10;
		else if (*at >= 'A' && *at <= 'F')
			digit = (unsigned)(*at - 'A') + 10;
		else
			break;
		if (v >> 60)
			return false;
		v = v << 4 | digit;
	}
	if (at == *p)
		return false;
	*p = at;
	*out = v;
	return true;
}

bool perf_number(const char **p, uint64_t *out)
{
	const char *at = *p;

	if (at[0] == '0' && at[1] == 'x') {
		at += 2;
		if (!hex(&at, out))
			return false;
		*p = at;
		return true;
	}
	return *at >= '0' && *at <= '9' && number_u64(p, out);
}

static bool number_field(const char *text, const char *key, uint64_t *out)
{
	const char *p = field(text, key);

	return p && perf_number(&p, out);
}

static bool parse_x86(const char *text, struct perf_cpu *out)
{
	const char *p = field(text, "vendor_id");
	size_t n = p ? strcspn(p, " \t\n") : 0;

	if (!n || n >= sizeof out->vendor || !number_field(text, "cpu family", &out->family) ||
	    !number_field(text, "model", &out->model) ||
	    !number_field(text, "stepping", &out->stepping))
		return false;
	memcpy(out->vendor, p, n);
	out->vendor[n] = '\0';
	return true;
}

static bool parse_arm(const char *text, struct perf_cpu *out)
{
	if (!number_field(text, "CPU implementer", &out->family) ||
	    !number_field(text, "CPU part", &out->model))
		return false;
	number_field(text, "CPU revision", &out->stepping);
	snprintf(out->vendor, sizeof out->vendor, "arm");
	return true;
}

/* "revision : 2.2 (pvr 004e 1202)" */
static bool parse_power(const char *text, struct perf_cpu *out)
{
	const char *p = field(text, "revision"), *end = p ? number_next_line(p) : NULL;

	p = p ? strstr(p, "(pvr ") : NULL;
	if (!p || p >= end)
		return false;
	p += strlen("(pvr ");
	if (!hex(&p, &out->family))
		return false;
	snprintf(out->vendor, sizeof out->vendor, "power");
	return true;
}

/* "isa : rv64imafdc"; mvendorid is there since Linux 6.1. */
static bool parse_riscv(const char *text, struct perf_cpu *out)
{
	const char *p = field(text, "isa");

	if (!p || strncmp(p, "rv", 2) != 0)
		return false;
	p += 2;
	if (!number_u64(&p, &out->family))
		return false;
	number_field(text, "mvendorid", &out->model);
	snprintf(out->vendor, sizeof out->vendor, "riscv");
	return true;
}

bool perf_cpu_parse(const char *cpuinfo, struct perf_cpu *out)
{
	*out = (struct perf_cpu){ 0 };
	if (parse_x86(cpuinfo, out) || parse_arm(cpuinfo, out) || parse_power(cpuinfo, out) ||
	    parse_riscv(cpuinfo, out))
		return true;
	*out = (struct perf_cpu){ 0 };
	return false;
}

/* One "7" or "5-9" of a list; *p is then at what follows it. */
static bool range(const char **p, uint64_t *from, uint64_t *to)
{
	if (!perf_number(p, from))
		return false;
	*to = *from;
	if (**p != '-')
		return true;
	++*p;
	return perf_number(p, to) && *to >= *from;
}

static bool list_walk(const char *list, uint64_t v, bool *has)
{
	*has = false;
	for (;;) {
		uint64_t from, to;

		if (!range(&list, &from, &to))
			return false;
		*has |= v >= from && v <= to;
		if (!*list)
			return true;
		if (*list++ != ',')
			return false;
	}
}

bool perf_list_has(const char *list, uint64_t v)
{
	bool has;

	return list_walk(list, v, &has) && has;
}

bool perf_list_is_sound(const char *list)
{
	bool has;

	return list_walk(list, 0, &has);
}
