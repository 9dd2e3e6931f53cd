/* SPDX-License-Identifier: Apache-2.0 */
#include "import/benchmon.h"
#include "import/csvfile.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct events {
	struct store *store;
	struct csvfile csv;
	uint64_t malformed, elsewhere;
};

/* Where the headings of annotations.csv are. */
enum { AT, PIPELINE, STAGE, EVENT, NODE, HEADINGS };
static const char *const headings[HEADINGS] = { "timestamp", "pipeline", "stage", "event", "node" };

static char *trimmed(char *text)
{
	size_t n;

	text += strspn(text, " \t");
	n = strlen(text);
	while (n && (text[n - 1] == ' ' || text[n - 1] == '\t'))
		text[--n] = '\0';
	return text;
}

static int64_t known_node(const struct store *s, const char *host)
{
	for (uint32_t i = 0; i < s->nnodes; i++)
		if (!strcmp(s->node[i].host, host))
			return i;
	return -1;
}

static void take_event(struct events *r, char *const field[HEADINGS])
{
	int64_t node = known_node(r->store, trimmed(field[NODE]));
	char name[256], *event = trimmed(field[EVENT]);
	double at;

	if (!csvfile_number(field[AT], &at)) {
		r->malformed++;
		return;
	}
	if (node < 0) {
		r->elsewhere++;
		return;
	}
	snprintf(name, sizeof name, "%.120s/%.120s", trimmed(field[PIPELINE]),
		 trimmed(field[STAGE]));
	if (!strcasecmp(event, "START"))
		store_event(r->store, (uint32_t)node, STORE_BEGIN, at, name, "");
	else if (!strcasecmp(event, "FINISHED"))
		store_event(r->store, (uint32_t)node, STORE_END, at, name, "");
	else
		store_event(r->store, (uint32_t)node, STORE_MARK, at, name, event);
}

static void take_events(struct events *r, const char *path)
{
	char *cell[CSVFILE_CELLS_MAX], *field[HEADINGS];
	uint32_t place[HEADINGS] = { 0 }, n;
	int got, found = 0;

	if (csvfile_next(&r->csv) > 0) {
		n = csvfile_split(&r->csv, cell);
		for (int h = 0; h < HEADINGS; h++)
			for (uint32_t i = 0; i < n; i++)
				if (!strcmp(trimmed(cell[i]), headings[h])) {
					place[h] = i;
					found |= 1 << h;
				}
	}
	if (found != (1 << HEADINGS) - 1) {
		store_leave_out(r->store,
				"%.300s has no columns timestamp, pipeline, stage, event and node",
				path);
		return;
	}
	while ((got = csvfile_next(&r->csv)) != 0) {
		bool whole = got > 0;

		n = whole ? csvfile_split(&r->csv, cell) : 0;
		for (int h = 0; h < HEADINGS && whole; h++) {
			whole = place[h] < n;
			field[h] = whole ? cell[place[h]] : NULL;
		}
		if (whole)
			take_event(r, field);
		else
			r->malformed++;
	}
}

void benchmon_annotations(const struct import *x, const char *path)
{
	struct events *r = calloc(1, sizeof *r);

	if (!r)
		return;
	r->store = x->store;
	r->csv.file = fopen(path, "re");
	if (r->csv.file) {
		take_events(r, path);
		fclose(r->csv.file);
	}
	if (r->malformed)
		store_leave_out(x->store, "%.300s: rows that are malformed: %llu", path,
				(unsigned long long)r->malformed);
	if (r->elsewhere)
		store_note(x->store, "%.300s: events of nodes that are not here: %llu", path,
			   (unsigned long long)r->elsewhere);
	free(r);
}
