/* SPDX-License-Identifier: Apache-2.0 */
#include "source/numa_maps.h"

#include "base/text/number.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* What no machine reaches: mappings and processes can be summed up. */
static const int64_t PAGE_LIMIT = INT64_C(1) << 35, BYTES_LIMIT = INT64_C(1) << 46;

/* A word such as "N0=12". */
static bool is_node(const char *word)
{
	return word[0] == 'N' && word[1] >= '0' && word[1] <= '9';
}

static bool read_page_size(const char *word, int64_t *bytes)
{
	static const char key[] = "kernelpagesize_kB=";
	const char *p = word + sizeof key - 1;
	int64_t kilobytes;

	if (strncmp(word, key, sizeof key - 1) != 0)
		return true;
	if (!number_i64(&p, &kilobytes) || kilobytes <= 0 || kilobytes > PAGE_LIMIT / 1024)
		return false;
	*bytes = kilobytes * 1024;
	return true;
}

static bool add_node(struct numa_maps *m, const char *word, int64_t page_bytes)
{
	const char *p = word + 1;
	int64_t node, pages;

	if (!number_i64(&p, &node) || node >= NUMA_MAPS_NODES || *p++ != '=' ||
	    !number_i64(&p, &pages) || pages < 0 || pages > BYTES_LIMIT / page_bytes ||
	    pages * page_bytes > BYTES_LIMIT - m->bytes[node])
		return false;
	number_add(&m->bytes[node], pages * page_bytes);
	return true;
}

static const char *next_word(const char *p, const char *end)
{
	while (p < end && *p != ' ')
		p++;
	while (p < end && *p == ' ')
		p++;
	return p;
}

/* The size of the pages comes last. Blanks in names of files are escaped. */
static bool add_line(struct numa_maps *m, const char *line, const char *end, int64_t page_bytes)
{
	for (const char *p = line; p < end; p = next_word(p, end))
		if (!read_page_size(p, &page_bytes))
			return false;
	for (const char *p = line; p < end; p = next_word(p, end))
		if (is_node(p) && !add_node(m, p, page_bytes))
			return false;
	return true;
}

int numa_maps_add(struct numa_maps *m, const char *text, int64_t page_bytes, size_t *used)
{
	const char *line = text;

	for (const char *end; (end = strchr(line, '\n')); line = end + 1)
		if (!add_line(m, line, end, page_bytes))
			return -EBADMSG;
	*used = (size_t)(line - text);
	return 0;
}
