/* SPDX-License-Identifier: Apache-2.0 */
/* nsys_event.c - rows of an export of Nsight Systems become spans and marks of threads and streams.
 */
#include "import/nsys.h"

#include "recording/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct sqlitefile_value value;

/* ---- values ---- */

static const value *column_of(const struct nsys_table *t, const value *v, enum nsys_column c)
{
	return t->at[c] >= 0 ? &v[t->at[c]] : NULL;
}

const value *nsys_column(const struct nsys *y, const value *v, enum nsys_column c)
{
	return column_of(y->now, v, c);
}

static bool integer_of(const struct nsys_table *t, const value *v, enum nsys_column c, int64_t *out)
{
	const value *x = column_of(t, v, c);

	if (!x || x->type != SQLITEFILE_INTEGER)
		return false;
	*out = x->integer;
	return true;
}

static void copy_text(char *out, size_t size, const value *v)
{
	size_t n = v->n < size - 1 ? v->n : size - 1;

	while (n < v->n && n && ((unsigned char)v->text[n] & 0xc0) == 0x80)
		n--;
	memcpy(out, v->text, n);
	out[n] = '\0';
}

struct wanted {
	const struct nsys_table *t;
	char *out;
	size_t size;
};

static int take_string(void *ctx, const value *v, uint32_t n)
{
	const struct wanted *w = ctx;
	const value *x = column_of(w->t, v, NSYS_VALUE);

	(void)n;
	if (x && x->type == SQLITEFILE_TEXT)
		copy_text(w->out, w->size, x);
	return 0;
}

/* "": there is none. */
static const char *string_of(struct nsys *y, int64_t id)
{
	uint32_t at = (uint64_t)id % NSYS_STRINGS;
	struct wanted w = { y->strings, y->string[at].text, NSYS_TEXT };

	if (!y->strings || id < 0 || id == INT64_MAX)
		return "";
	if (y->string[at].id != id + 1) {
		y->string[at].text[0] = '\0';
		y->string[at].id = id + 1;
		sqlitefile_find(&y->db, &y->strings->t, id, take_string, &w);
	}
	return y->string[at].text;
}

/* ---- processes and threads ---- */

/* Of a global id: 24 bits of the process, 24 of the thread below. */
static uint32_t pid_of(int64_t global)
{
	return (uint32_t)((uint64_t)global >> 24 & 0xffffff);
}

static struct nsys_person *person_of(struct nsys *y, int64_t global, bool make)
{
	uint64_t key = (uint64_t)global;

	for (uint32_t i = y->npeople; i--;)
		if (y->person[i].key == key)
			return &y->person[i];
	if (!make || y->npeople == NSYS_PEOPLE_MOST)
		return NULL;
	y->person[y->npeople] = (struct nsys_person){ .key = key, .name = "", .rank = "" };
	return &y->person[y->npeople++];
}

static const struct nsys_person *process_of(struct nsys *y, int64_t global)
{
	return person_of(y, (int64_t)((uint64_t)global & ~UINT64_C(0xffffff)), false);
}

/* ThreadNames: nameId, globalTid. PROCESSES: globalPid, name. MPI_RANKS: globalPid, rank. */
int nsys_take_person(void *ctx, const value *v, uint32_t n)
{
	struct nsys *y = ctx;
	const struct nsys_table *t = y->now;
	const value *name = column_of(t, v, NSYS_NAME);
	int64_t global, id, rank;
	struct nsys_person *p;

	(void)n;
	if (!integer_of(t, v, NSYS_GLOBAL_TID, &global) &&
	    !integer_of(t, v, NSYS_GLOBAL_PID, &global))
		return 0;
	p = person_of(y, global, true);
	if (!p)
		return 0;
	if (integer_of(t, v, NSYS_RANK, &rank) && rank >= 0)
		snprintf(p->rank, sizeof p->rank, "%" PRId64, rank);
	if (name && name->type == SQLITEFILE_TEXT)
		copy_text(p->name, sizeof p->name, name);
	else if (integer_of(t, v, NSYS_NAME_ID, &id))
		snprintf(p->name, sizeof p->name, "%s", string_of(y, id));
	return 0;
}

/* ---- spans ---- */

static const char *kind_of_copy(int64_t kind)
{
	static const char *const kinds[] = { "",     "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
					     "AtoD", "DtoA", "DtoD", "HtoH", "PtoP" };

	return kind > 0 && kind < (int64_t)(sizeof kinds / sizeof kinds[0]) ? kinds[kind] : "";
}

/* What a table is called, as people say it; those of CUDA have another word in front. */
static const char *layer_of(const char *table)
{
	static const struct {
		const char *table, *layer;
	} rows[] = {
		{ "_ACTIVITY_KIND_KERNEL", "kernels" },
		{ "_ACTIVITY_KIND_MEMCPY", "memory" },
		{ "_ACTIVITY_KIND_MEMSET", "memory" },
		{ "_ACTIVITY_KIND_SYNCHRONIZATION", "synchronization" },
		{ "_ACTIVITY_KIND_RUNTIME", "CUDA" },
		{ "_ACTIVITY_KIND_DRIVER", "CUDA driver" },
		{ "NVTX_EVENTS", "NVTX" },
		{ "OSRT_API", "operating system" },
		{ "MPI_", "MPI" },
		{ "CUDNN_EVENTS", "cuDNN" },
		{ "CUBLAS_EVENTS", "cuBLAS" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (strstr(table, rows[i].table))
			return rows[i].layer;
	return table;
}

/* Inline, or by an id; a copy has none but its direction. */
static void name_of(struct nsys *y, const value *v, char out[NSYS_TEXT])
{
	const struct nsys_table *t = y->now;
	int64_t id;

	*out = '\0';
	for (int c = NSYS_TEXT_OF; c <= NSYS_NAME && !*out; c++) {
		const value *x = column_of(t, v, (enum nsys_column)c);

		if (x && x->type == SQLITEFILE_TEXT)
			copy_text(out, NSYS_TEXT, x);
	}
	for (int c = NSYS_TEXT_ID; c <= NSYS_NAME && !*out; c++)
		if (integer_of(t, v, (enum nsys_column)c, &id))
			snprintf(out, NSYS_TEXT, "%s", string_of(y, id));
	if (*out)
		return;
	if (integer_of(t, v, NSYS_COPY_KIND, &id))
		snprintf(out, NSYS_TEXT, "copy %s", kind_of_copy(id));
	else if (strstr(t->t.name, "MEMSET"))
		snprintf(out, NSYS_TEXT, "set");
	else {
		y->nameless++;
		snprintf(out, NSYS_TEXT, "%s", layer_of(t->t.name));
	}
}

static void detail_of(struct nsys *y, const value *v, char *out, size_t size)
{
	const struct nsys_table *t = y->now;
	int64_t n[3];
	size_t len = 0;

	*out = '\0';
	if (integer_of(t, v, NSYS_BYTES, &n[0]) || integer_of(t, v, NSYS_SIZE, &n[0]))
		len += (size_t)snprintf(out, size, "bytes=%" PRId64 " ", n[0]);
	if (integer_of(t, v, NSYS_REMOTE, &n[0]))
		len += (size_t)snprintf(out + len, size - len, "peer=%" PRId64 " ", n[0]);
	for (int i = 0; i < 2; i++) {
		int first = i ? NSYS_BLOCK_X : NSYS_GRID_X;

		if (integer_of(t, v, (enum nsys_column)first, &n[0]) &&
		    integer_of(t, v, (enum nsys_column)(first + 1), &n[1]) &&
		    integer_of(t, v, (enum nsys_column)(first + 2), &n[2]))
			len += (size_t)snprintf(out + len, size - len,
						"%s=%" PRId64 "x%" PRId64 "x%" PRId64 " ",
						i ? "block" : "grid", n[0], n[1], n[2]);
	}
	if (len)
		out[len - 1] = '\0';
}

/* Whose it is: a thread's or a stream's. */
static uint32_t track_of(struct nsys *y, const value *v, int64_t begin_ns, int64_t end_ns)
{
	const struct nsys_table *t = y->now;
	char name[200], pid[16] = "", tid[16] = "";
	struct lane_owner o = { .name = name, .pid = pid, .tid = tid };
	const struct nsys_person *process, *thread = NULL;
	int64_t global = 0, device = 0, stream = 0;

	if (integer_of(t, v, NSYS_GLOBAL_TID, &global))
		thread = person_of(y, global, false);
	else
		integer_of(t, v, NSYS_GLOBAL_PID, &global);
	process = process_of(y, global);
	if (global)
		snprintf(pid, sizeof pid, "%u", pid_of(global));
	o.process = process && *process->name ? process->name : NULL;
	o.rank = process && *process->rank ? process->rank : NULL;
	if (t->of_gpu) {
		integer_of(t, v, NSYS_DEVICE, &device);
		integer_of(t, v, NSYS_STREAM, &stream);
		snprintf(name, sizeof name, "GPU %" PRId64 ", stream %" PRId64 ", %s%s%s", device,
			 stream, layer_of(t->t.name), *pid ? " of " : "", pid);
	} else {
		snprintf(tid, sizeof tid, "%u", (uint32_t)(global & 0xffffff));
		snprintf(name, sizeof name, "%s %s, %s",
			 thread && *thread->name ? thread->name
			 : o.process             ? o.process
						 : "thread",
			 tid, layer_of(t->t.name));
	}
	return lanes_track(&y->lanes, &y->line, &o, begin_ns, end_ns);
}

static bool is_of_the_rank(struct nsys *y, const value *v)
{
	const char *rank = y->x->place.rank;
	const struct nsys_person *p;
	int64_t global;

	if (!rank || (!integer_of(y->now, v, NSYS_GLOBAL_TID, &global) &&
		      !integer_of(y->now, v, NSYS_GLOBAL_PID, &global)))
		return true;
	p = process_of(y, global);
	return !p || !*p->rank || !strcmp(p->rank, rank);
}

enum { NVTX_MARK = 34, NVTX_RANGE = 59, NVTX_LONG_RANGE = 60 };

/* NVTX names domains and categories in the same table. */
static bool is_event(const struct nsys *y, const value *v)
{
	int64_t type;

	return strcmp(y->now->t.name, "NVTX_EVENTS") != 0 ||
	       !integer_of(y->now, v, NSYS_EVENT_TYPE, &type) || type == NVTX_MARK ||
	       type == NVTX_RANGE || type == NVTX_LONG_RANGE;
}

static int put_row(struct nsys *y, const value *v, int64_t begin_ns, int64_t end_ns)
{
	const struct nsys_table *t = y->now;
	char name[NSYS_TEXT], detail[200];
	int64_t type = 0;
	uint32_t track;

	begin_ns -= y->times.first_ns;
	end_ns -= end_ns == TIMELINE_NO_END ? 0 : y->times.first_ns;
	integer_of(t, v, NSYS_EVENT_TYPE, &type);
	detail_of(y, v, detail, sizeof detail);
	track = track_of(y, v, begin_ns, end_ns);
	name_of(y, v, name); /* last: it may read over the row's texts */
	if (type == NVTX_MARK && t->at[NSYS_EVENT_TYPE] >= 0)
		return timeline_mark(&y->line, track, begin_ns, name, detail);
	y->open += end_ns == TIMELINE_NO_END;
	return timeline_span(&y->line, track, begin_ns, end_ns, name, detail);
}

static void see_times(struct nsys *y, const value *v, int64_t begin_ns, int64_t end_ns)
{
	struct timeline_times *t = &y->times;
	int64_t last_ns = end_ns == TIMELINE_NO_END ? begin_ns : end_ns;
	char name[NSYS_TEXT];

	if (y->spans == 1 || begin_ns < t->first_ns)
		t->first_ns = begin_ns;
	if (y->spans == 1 || last_ns > t->last_ns)
		t->last_ns = last_ns;
	if (!y->x->place.align || (t->align_found && t->align_ns <= begin_ns))
		return;
	name_of(y, v, name);
	if (!strcmp(name, y->x->place.align)) {
		t->align_found = true;
		t->align_ns = begin_ns;
	}
}

int nsys_take_event(void *ctx, const value *v, uint32_t n)
{
	struct nsys *y = ctx;
	int64_t begin_ns, end_ns = TIMELINE_NO_END;

	(void)n;
	if (!is_event(y, v))
		return 0;
	if (!integer_of(y->now, v, NSYS_START, &begin_ns) || begin_ns < 0 ||
	    begin_ns > MONO_MAX / 2) {
		y->bad_time++;
		return 0;
	}
	if (integer_of(y->now, v, NSYS_END, &end_ns) && end_ns > MONO_MAX / 2) {
		y->bad_time++;
		return 0;
	}
	if (end_ns == -1) /* of versions that had no NULL */
		end_ns = TIMELINE_NO_END;
	if (end_ns < begin_ns) {
		y->backwards++;
		return 0;
	}
	if (!is_of_the_rank(y, v)) {
		y->others++;
		return 0;
	}
	y->spans++;
	if (y->writes)
		return put_row(y, v, begin_ns, end_ns);
	see_times(y, v, begin_ns, end_ns);
	return 0;
}
