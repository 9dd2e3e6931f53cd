/* SPDX-License-Identifier: Apache-2.0 */
/* scanner.c - the profiles of one job in Scanner's database: which job, which nodes, and then each
 * node by one of a few threads. */
#include "import/scanner.h"

#include "base/text/textfile.h"
#include "import/importer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the descriptors of the database ---- */

/* Protobuf's wire types. */
enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };
enum { DATABASE_JOB = 3 };
enum { JOB_ID = 1, JOB_NAME = 2, JOB_NODES = 5 };

struct scanner_field {
	uint64_t number;
	unsigned wire;
	uint64_t value;    /* of a varint */
	struct scan bytes; /* of WIRE_BYTES */
};

/* The next field. False at the end, or where it is malformed. */
static bool next_field(struct scan *in, struct scanner_field *f)
{
	uint64_t key;

	if (in->bad || in->at == in->end)
		return false;
	key = scan_varint(in);
	*f = (struct scanner_field){ .number = key >> 3, .wire = key & 7 };
	switch (f->wire) {
	case WIRE_VARINT:
		f->value = scan_varint(in);
		break;
	case WIRE_BYTES:
		f->value = scan_varint(in);
		in->bad |= f->value > (uint64_t)(in->end - in->at);
		f->bytes.at = scan_take(in, in->bad ? 0 : (size_t)f->value);
		f->bytes.end = in->at;
		break;
	case WIRE_64:
		scan_u64(in);
		break;
	case WIRE_32:
		scan_u32(in);
		break;
	default:
		in->bad = true;
		break;
	}
	return !in->bad;
}

/* Both kinds of descriptors have a job's id and name in the same fields. */
static bool take_job(struct scan *in, struct scanner_job *j)
{
	struct scanner_field f;

	*j = (struct scanner_job){ .nodes = -1 };
	while (next_field(in, &f)) {
		if (f.number == JOB_ID && f.wire == WIRE_VARINT)
			j->id = f.value;
		if (f.number == JOB_NODES && f.wire == WIRE_VARINT)
			j->nodes = f.value <= INT32_MAX ? (int64_t)f.value : -1;
		if (f.number == JOB_NAME && f.wire == WIRE_BYTES)
			snprintf(j->name, sizeof j->name, "%.*s", (int)(f.bytes.end - f.bytes.at),
				 (const char *)f.bytes.at);
	}
	return !in->bad;
}

void scanner_database_jobs(struct scan in, void (*job)(void *ctx, const struct scanner_job *j),
			   void *ctx, int64_t *bad)
{
	const uint8_t *from = in.at, *here;
	struct scanner_job j;
	struct scanner_field f;

	*bad = -1;
	while (here = in.at, next_field(&in, &f)) {
		if (f.number != DATABASE_JOB || f.wire != WIRE_BYTES)
			continue;
		if (take_job(&f.bytes, &j))
			job(ctx, &j);
		else if (*bad < 0)
			*bad = here - from;
	}
	if (in.bad && *bad < 0)
		*bad = here - from;
}

void scanner_database_job(struct scan in, struct scanner_job *j, int64_t *bad)
{
	const uint8_t *from = in.at;

	*bad = take_job(&in, j) ? -1 : in.at - from;
}

/* ---- the job ---- */

enum { DESCRIPTOR_MAX = 64 << 20, THREADS_MAX = 64, PLACE = PATH_MAX + 64 };

struct importing {
	const struct import *x;
	struct scanner_job job;
	bool found;
	char directory[PLACE]; /* of the job */
	char from[PLACE];
	uint32_t *node; /* numbers of the workers that have a profile, in order */
	uint32_t nnodes, nodes_cap;
	bool has_master;
	int64_t base_utc;
	int width; /* of the largest number */
	/* While threads work. */
	pthread_mutex_t lock; /* of what follows, and of the store */
	uint32_t next;        /* the master is the one behind the last worker */
	int rc;
	struct err *e;
};

/* ---- which job ---- */

/* A number as it is written, and nothing else. */
static bool is_number(const char *text, uint64_t *v)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*v = strtoull(text, &end, 10);
	return !*end && !errno;
}

static void choose_job(void *ctx, const struct scanner_job *j)
{
	struct importing *i = ctx;

	if (i->x->job && strcmp(i->x->job, j->name) != 0)
		return;
	if (!i->found || j->id >= i->job.id)
		i->job = *j;
	i->found = true;
}

/* A descriptor as bytes; *bad is where it ends when it is not there. */
static bool read_descriptor(struct importing *i, const char *path, struct bytes *out)
{
	struct err why = { "" };
	int rc = textfile_read(path, "descriptor", DESCRIPTOR_MAX, out, &why);

	if (rc)
		store_note(i->x->store, "%s", why.text);
	return !rc;
}

static void note_malformed(struct importing *i, const char *file, int64_t bad)
{
	if (bad >= 0)
		store_leave_out(i->x->store,
				"%s at byte %" PRId64 ": the descriptor is malformed from here on",
				file, bad);
}

static void ask_database(struct importing *i)
{
	struct bytes file = { 0 };
	char path[PLACE];
	int64_t bad = -1;

	snprintf(path, sizeof path, "%s/db_metadata.bin", i->x->path);
	if (read_descriptor(i, path, &file))
		scanner_database_jobs((struct scan){ .at = file.data, .end = file.data + file.len },
				      choose_job, i, &bad);
	note_malformed(i, path, bad);
	bytes_free(&file);
}

static bool job_is_there(struct importing *i, uint64_t id)
{
	struct stat st;

	snprintf(i->directory, sizeof i->directory, "%s/jobs/%" PRIu64, i->x->path, id);
	return !stat(i->directory, &st) && S_ISDIR(st.st_mode);
}

/* By its id, by its name, or the newest. */
static int find_job(struct importing *i, struct err *e)
{
	const char *wanted = i->x->job;
	uint64_t id;

	if (wanted && is_number(wanted, &id) && job_is_there(i, id)) {
		i->job.id = id;
		return 0;
	}
	ask_database(i);
	if (!i->found && wanted)
		return err_set(e, -ENOENT,
			       "%.200s has no job %.100s, neither of that id nor of that name",
			       i->x->path, wanted);
	if (!i->found)
		return err_set(e, -ENOENT,
			       "%.200s/db_metadata.bin names no job; name one by its id, which is "
			       "a directory below jobs/",
			       i->x->path);
	if (!job_is_there(i, i->job.id))
		return err_set(e, -ENOENT,
			       "there are no profiles of job %" PRIu64
			       " (%.100s): %.200s is missing",
			       i->job.id, i->job.name, i->directory);
	return 0;
}

/* Its own descriptor says how many nodes it had, and its name. */
static void ask_job(struct importing *i)
{
	struct bytes file = { 0 };
	struct scanner_job own;
	char path[PLACE + 32];
	int64_t bad = -1;

	i->job.nodes = -1;
	snprintf(path, sizeof path, "%s/descriptor.bin", i->directory);
	if (read_descriptor(i, path, &file)) {
		scanner_database_job((struct scan){ .at = file.data, .end = file.data + file.len },
				     &own, &bad);
		i->job.nodes = own.nodes;
		if (*own.name)
			i->job = (struct scanner_job){ i->job.id, own.nodes, "" };
		if (*own.name)
			snprintf(i->job.name, sizeof i->job.name, "%s", own.name);
	}
	note_malformed(i, path, bad);
	bytes_free(&file);
}

/* ---- which nodes ---- */

/* profile_N.bin */
static bool is_profile(const char *name, uint32_t *node)
{
	char number[16], *dot;
	uint64_t v;

	if (strncmp(name, "profile_", 8) != 0 || strlen(name + 8) >= sizeof number)
		return false;
	snprintf(number, sizeof number, "%s", name + 8);
	dot = strchr(number, '.');
	if (!dot || strcmp(dot, ".bin") != 0)
		return false;
	*dot = '\0';
	*node = 0;
	if (!is_number(number, &v) || v > INT32_MAX || (number[0] == '0' && number[1]))
		return false;
	*node = (uint32_t)v;
	return true;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int add_node(struct importing *i, uint32_t node)
{
	if (i->nnodes == i->nodes_cap) {
		uint32_t cap = i->nodes_cap ? i->nodes_cap * 2 : 64;
		uint32_t *moved = reallocarray(i->node, cap, sizeof *moved);

		if (!moved)
			return -ENOMEM;
		i->node = moved;
		i->nodes_cap = cap;
	}
	i->node[i->nnodes++] = node;
	return 0;
}

static int list_profiles(struct importing *i, struct err *e)
{
	DIR *d = opendir(i->directory);
	struct dirent *entry;
	uint32_t node;
	int rc = 0;

	if (!d)
		return err_set(e, -errno, "cannot read directory %.300s: %s", i->directory,
			       strerror(errno));
	while (!rc && (entry = readdir(d))) {
		i->has_master |= !strcmp(entry->d_name, "profile_master.bin");
		if (is_profile(entry->d_name, &node))
			rc = add_node(i, node);
	}
	closedir(d);
	if (rc)
		return err_set(e, rc, "out of memory for %.300s", i->directory);
	if (i->nnodes)
		qsort(i->node, i->nnodes, sizeof *i->node, by_number);
	return i->nnodes || i->has_master
		       ? 0
		       : err_set(e, -ENODATA,
				 "%.300s holds no profile_*.bin: Scanner writes them when a job "
				 "has succeeded",
				 i->directory);
}

static void note_missing(struct importing *i)
{
	uint32_t there = 0;

	while (there < i->nnodes && i->node[there] < i->job.nodes)
		there++;
	if (i->job.nodes > there)
		store_note(i->x->store, "%s: workers without a profile: %" PRId64 " of %" PRId64,
			   i->directory, i->job.nodes - there, i->job.nodes);
	if (!i->has_master)
		store_note(i->x->store, "%s: there is no profile_master.bin", i->directory);
}

static void choose_nodes(struct importing *i)
{
	uint32_t most = i->x->subsample;

	if (!most || most >= i->nnodes)
		return;
	for (uint32_t k = 0; k < most; k++)
		i->node[k] = i->node[(uint64_t)k * i->nnodes / most];
	store_note(i->x->store, "workers that were chosen: %" PRIu32 " of %" PRIu32, most,
		   i->nnodes);
	i->nnodes = most;
}

/* ---- when the job began ---- */

static void profile_path(const struct importing *i, uint32_t at, char *out, size_t size)
{
	if (at == i->nnodes)
		snprintf(out, size, "%s/profile_master.bin", i->directory);
	else
		snprintf(out, size, "%s/profile_%" PRIu32 ".bin", i->directory, i->node[at]);
}

static int open_profile(const struct importing *i, uint32_t at, char *path, size_t size)
{
	struct stat st;
	int fd, rc = 0;

	profile_path(i, at, path, size);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		rc = -errno;
	else if (!S_ISREG(st.st_mode))
		rc = -EINVAL;
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

/* The first number of a profile; 0: it is none. */
static int64_t begin_of(const struct importing *i, uint32_t at)
{
	char path[PLACE + 32];
	uint8_t data[8] = { 0 };
	int fd = open_profile(i, at, path, sizeof path);
	struct scan in = { .at = data, .end = data + sizeof data };
	int64_t v;

	if (fd < 0)
		return 0;
	if (pread(fd, data, sizeof data, 0) != (ssize_t)sizeof data)
		in.bad = true;
	close(fd);
	v = (int64_t)scan_u64(&in);
	return v > 0 && v < INT64_C(1) << 61 ? v : 0;
}

/* The master tells workers when the job began, and they count from there. */
static void find_begin(struct importing *i)
{
	i->base_utc = i->has_master ? begin_of(i, i->nnodes) : 0;
	if (i->base_utc)
		return;
	for (uint32_t at = 0; at < i->nnodes; at++) {
		int64_t begin = begin_of(i, at);

		if (begin && (!i->base_utc || begin < i->base_utc))
			i->base_utc = begin;
	}
	store_note(i->x->store,
		   "%s: only the master knows when the job began; the begin of the first worker, "
		   "which is a little later, is taken for it",
		   i->directory);
}

/* ---- the work ---- */

struct work {
	struct importing *i;
	char path[PLACE + 32];
};

static void take_fault(void *ctx, uint64_t offset, bool lost, const char *what)
{
	struct work *w = ctx;
	struct store *s = w->i->x->store;

	pthread_mutex_lock(&w->i->lock);
	if (lost)
		store_leave_out(s, "%s at byte %" PRIu64 ": %s", w->path, offset, what);
	else
		store_note(s, "%s at byte %" PRIu64 ": %s", w->path, offset, what);
	pthread_mutex_unlock(&w->i->lock);
}

static void import_node(struct importing *i, uint32_t at)
{
	bool master = at == i->nnodes;
	struct work w = { .i = i };
	char host[32] = "master";
	struct scanner_node n = { .number = master ? SCANNER_MASTER_NODE : (int64_t)i->node[at],
				  .base_utc = i->base_utc,
				  .host = host,
				  .from = i->from,
				  .job = (int64_t)i->job.id,
				  .job_name = *i->job.name ? i->job.name : NULL,
				  .fault = take_fault,
				  .ctx = &w };
	struct err e = { "" };
	int fd = open_profile(i, at, w.path, sizeof w.path), rc = 0;

	if (!master)
		snprintf(host, sizeof host, "worker-%0*" PRIu32, i->width, i->node[at]);
	if (fd >= 0) {
		rc = scanner_node_import(&n, fd, i->x->dirfd, &e);
		close(fd);
	}
	pthread_mutex_lock(&i->lock);
	if (fd < 0)
		store_leave_out(i->x->store, "%s: %s", w.path, strerror(-fd));
	if (rc && !i->rc)
		i->rc = err_set(i->e, rc, "%s", e.text);
	if (n.name[0])
		i->x->wrote(i->x->ctx, n.name);
	pthread_mutex_unlock(&i->lock);
}

static void *work(void *ctx)
{
	struct importing *i = ctx;
	uint32_t at, of = i->nnodes + i->has_master;

	for (;;) {
		pthread_mutex_lock(&i->lock);
		at = i->rc ? of : i->next++;
		pthread_mutex_unlock(&i->lock);
		if (at >= of)
			return NULL;
		import_node(i, at);
	}
}

/* A thread that cannot be started is missed by nobody: this one does what is left. */
static void work_together(struct importing *i)
{
	pthread_t thread[THREADS_MAX];
	unsigned n = 0;

	while (n + 1 < i->x->threads && n < THREADS_MAX && n < i->nnodes &&
	       !pthread_create(&thread[n], NULL, work, i))
		n++;
	work(i);
	while (n)
		pthread_join(thread[--n], NULL);
}

static int import_job(struct importing *i, struct err *e)
{
	int rc = find_job(i, e);

	if (rc)
		return rc;
	ask_job(i);
	rc = list_profiles(i, e);
	if (rc)
		return rc;
	note_missing(i);
	choose_nodes(i);
	find_begin(i);
	i->width = i->nnodes ? snprintf(NULL, 0, "%" PRIu32, i->node[i->nnodes - 1]) : 1;
	work_together(i);
	return i->rc;
}

static int import_scanner(const struct import *x, struct err *e)
{
	struct importing i = { .x = x, .e = e, .lock = PTHREAD_MUTEX_INITIALIZER };
	int rc;

	snprintf(i.from, sizeof i.from, "scanner %s", x->path);
	rc = import_job(&i, e);
	free(i.node);
	return rc;
}

const struct importer importer_scanner = {
	.name = "scanner",
	.operand = "DB_PATH [JOB]",
	.what = "the profiles of a job of Scanner",
	.has_jobs = true,
	.has_workers = true,
	.run = import_scanner,
};
