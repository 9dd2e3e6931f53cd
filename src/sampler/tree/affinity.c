/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/tree/affinity.h"

#include <stdio.h>
#include <string.h>

#define SETS (sizeof((struct affinity *)0)->set / sizeof(struct placement))

static size_t line_length(const char *text)
{
	return strcspn(text, "\n");
}

/* FNV-1a */
static uint64_t hash_line(uint64_t hash, const char *text)
{
	for (size_t i = 0, n = line_length(text); i <= n; i++)
		hash = (hash ^ (i < n ? (unsigned char)text[i] : '\n')) * UINT64_C(0x100000001b3);
	return hash;
}

static bool parse_line(struct cpulist *out, const char *text)
{
	size_t n = line_length(text);
	char line[CPULIST_TEXT];

	if (n >= sizeof line)
		return false;
	memcpy(line, text, n);
	line[n] = '\0';
	return cpulist_parse(out, line) && cpulist_next(out, 0) < CPUS_MAX;
}

uint8_t affinity_of(struct affinity *a, const char *cpus, const char *nodes)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	struct cpulist list = { { 0 } };
	size_t spare = 0;

	if (!cpus)
		return 0;
	hash = hash_line(hash, cpus);
	hash = hash_line(hash, nodes ? nodes : "") | 1;
	for (size_t i = a->top; i > 0; i--) {
		if (a->set[i].hash == hash)
			return (uint8_t)i;
		if (!a->set[i].hash)
			spare = i;
	}
	if (!spare && a->top + 1 < SETS)
		spare = ++a->top;
	if (!spare || !parse_line(&a->set[spare].cpus, cpus))
		return 0;
	if (nodes)
		parse_line(&list, nodes);
	memcpy(a->set[spare].nodes, list.word, sizeof a->set[spare].nodes);
	a->set[spare].hash = hash;
	return (uint8_t)spare;
}

bool affinity_tidy(struct affinity *a, const struct threads *t)
{
	struct cpulist cpus = { { 0 } }, nodes = { { 0 } };
	bool used[SETS] = { false }, changed;

	a->whole = true;
	for (uint32_t i = 1; i < t->used; i++) {
		if (t->row[i].state >= THREAD_STATES)
			continue;
		used[t->row[i].placed] = true;
		a->whole &= t->row[i].placed != 0;
	}
	for (size_t i = 1; i <= a->top; i++) {
		if (!used[i]) {
			a->set[i].hash = 0;
			continue;
		}
		for (size_t w = 0; w < AFFINITY_NODES / 64; w++)
			nodes.word[w] |= a->set[i].nodes[w];
		for (size_t w = 0; w < CPUS_MAX / 64; w++)
			cpus.word[w] |= a->set[i].cpus.word[w];
	}
	changed = memcmp(&nodes, &a->nodes, sizeof nodes) || memcmp(&cpus, &a->cpus, sizeof cpus);
	a->cpus = cpus;
	a->nodes = nodes;
	return changed;
}

void affinity_text(const struct cpulist *set, char *out, size_t size)
{
	uint32_t first = cpulist_next(set, 0), last;
	size_t n = 0;

	out[0] = '\0';
	while (first < CPUS_MAX) {
		if (n + 20 > size) {
			snprintf(out + n, size - n, "...");
			return;
		}
		for (last = first; cpulist_has(set, last + 1);)
			last++;
		if (last > first)
			n += (size_t)snprintf(out + n, size - n, "%s%u-%u", n ? "," : "", first,
					      last);
		else
			n += (size_t)snprintf(out + n, size - n, "%s%u", n ? "," : "", first);
		first = cpulist_next(set, last + 1);
	}
}
