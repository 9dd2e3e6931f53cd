/* SPDX-License-Identifier: Apache-2.0 */
/* join_spans.c - spans that were stored in bulk: where their blocks lie, and what is in one. */
#include "recording/format.h"
#include "recording/join_part.h"
#include "recording/spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int join_pack(struct join *j, const struct block *b)
{
	struct run *r = &j->run;
	struct join_pack *place = array_room(j->packs, r->npacks, &j->cap.packs, sizeof *place);
	struct run_pack *pack;
	struct spans_head h;
	uint32_t node;

	if (!place)
		return -ENOMEM;
	j->packs = place;
	pack = array_room(r->packs, r->npacks, &j->cap.run_packs, sizeof *pack);
	if (!pack)
		return -ENOMEM;
	r->packs = pack;
	if (spans_head_get(&h, b->payload, b->length))
		return -EBADMSG;
	j->file->spoken = true;
	node = join_node(j, h.node);
	if (!node)
		return -ENOMEM;
	j->packs[r->npacks] =
		(struct join_pack){ b->offset, (uint32_t)(j->file - j->files), h.track, false };
	r->packs[r->npacks++] = (struct run_pack){ node, 0, h.n, h.first_ns, h.last_ns };
	r->npacked += h.n;
	return 0;
}

/* An instance may be declared behind its spans, in the tail. */
void join_pack_tracks(struct join *j, uint32_t first)
{
	for (uint32_t i = first; i < j->run.npacks; i++)
		j->run.packs[i].track = idmap_get(&j->file_instances, j->packs[i].track);
}

static int decode(struct join *j, const struct join_pack *place, const struct run_pack *pack)
{
	const char *name[SPAN_NAMES_MAX];
	struct spans_head h;
	struct block b;
	int rc = join_file_open(j, place->file);

	if (!rc)
		rc = blocks_at(&j->blocks, place->offset, &b);
	if (rc <= 0 || b.type != BLOCK_SPANS)
		return rc == -ENOMEM ? rc : -EBADMSG;
	if (spans_head_get(&h, b.payload, b.length) || h.n != pack->nspans)
		return -EBADMSG;
	for (uint32_t i = 0; i < h.nnames; i++) {
		size_t n;
		const char *text = spans_name_get(&h, &n);
		const char *copy = pool_text(&j->record, text, n);

		name[i] = copy ? join_text(j, copy) : NULL;
		pool_empty(&j->record);
		if (!name[i])
			return -ENOMEM;
	}
	rc = spans_body_get(&h, &j->chunk.expander, &j->chunk.body, name, j->unpacked);
	for (uint32_t i = 0; i < h.n && !rc; i++) {
		j->unpacked[i].node = pack->node;
		j->unpacked[i].track = pack->track;
		j->unpacked[i].detail = "";
	}
	return rc;
}

int join_unpack(const struct run *r, uint32_t pack, const struct run_span **spans, struct err *e)
{
	struct join *j = r->reader;
	struct join_pack *place = &j->packs[pack];
	int rc = 0;

	if (!j->unpacked)
		j->unpacked = calloc(SPANS_MAX, sizeof *j->unpacked);
	if (!j->unpacked)
		rc = -ENOMEM;
	if (!rc)
		rc = decode(j, place, &r->packs[pack]);
	*spans = j->unpacked;
	if (rc == -EBADMSG && !place->damaged) {
		join_damage(j, j->files[place->file].path, place->offset, 0, "spans are malformed");
		place->damaged = true;
	}
	if (rc == -EBADMSG)
		return 0;
	return rc ? err_set(e, rc, "not enough memory to read %s", r->path)
		  : (int)r->packs[pack].nspans;
}

/* When the process of a track ended, INT64_MAX: it did not, as far as is known. A track that ends
 * with the recording is no sign of it. */
static int64_t process_end(const struct run *r, uint32_t track)
{
	const struct run_instance *in = &r->instances[track], *of = &r->instances[in->parent];
	bool of_process = in->parent && of->domain && !strcmp(of->domain, "process");

	if (!in->domain || strcmp(in->domain, "track") != 0)
		return !in->domain || strcmp(in->domain, "process") != 0 ? INT64_MAX : in->end_ns;
	if (!run_label(r, track, "tid") && !run_label(r, track, "async"))
		return INT64_MAX;
	if (of_process && of->end_ns != INT64_MAX)
		return of->end_ns;
	return in->end_ns < r->nodes[in->node].last_ns ? in->end_ns : INT64_MAX;
}

void join_cut_spans(struct join *j)
{
	struct run *r = &j->run;

	for (uint32_t i = 1; i < r->nspans; i++) {
		struct run_span *s = &r->spans[i];

		if (s->end_ns != INT64_MAX || !s->track || *s->detail)
			continue;
		s->end_ns = process_end(r, s->track);
		if (s->end_ns == INT64_MAX)
			continue;
		s->end_ns = s->end_ns < s->begin_ns ? s->begin_ns : s->end_ns;
		s->detail = "cut: its process ended";
	}
}
