/* SPDX-License-Identifier: Apache-2.0 */
#include "output/tablefile.h"

#include "base/clock.h"
#include "base/files.h"
#include "base/text/args.h"
#include "core/frame/losses.h"
#include "core/stacks/owners.h"
#include "output/outfile.h"
#include "report/summary/code.h"
#include "sink/profile/profile.h"
#include "sink/trace/scanner.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

const char *tablefile_job(const struct run *r, const char *path)
{
	const char *id = run_find_text(r, 0, "job.id");
	const char *slash = strrchr(path, '/');

	if (id)
		return id;
	return slash && slash[1] ? slash + 1 : path;
}

/* As perfmon names the tables of its jobs: series_4711. */
static int add_table(const struct tablefile *to, const char *table, const struct sink *k,
		     struct frame *f, struct err *e)
{
	char name[256];
	char *c = name;

	snprintf(name, sizeof(name), "%s_%s", table, to->job);
	while (*(c += strspn(c, NAME_CHARACTERS)))
		*c = '_';
	return sink_run_as(k, f, name, to->file, e);
}

static int write_file(const struct tablefile *to, const char *table, const struct sink *k,
		      struct frame *f, struct err *e)
{
	struct outfile out;
	char name[128];
	int rc;

	snprintf(name, sizeof(name), "%s.%s", table, sink_extension(k));
	rc = outfile_open(&out, to->directory, name, e);
	if (rc)
		return rc;
	rc = outfile_close(&out, sink_run(k, f, out.file, e), e);
	if (!rc)
		outputs_add(to->written, out.path);
	return rc;
}

static int write_output(const struct sink *k, struct frame *f, struct err *e)
{
	struct err why = { "" };
	int rc = sink_run(k, f, stdout, &why);

	return rc ? err_set(e, rc, "cannot write to standard output: %s", why.text) : 0;
}

int tablefile_write(const struct tablefile *to, const char *table, const struct sink *k,
		    struct frame *f, struct err *e)
{
	int rc;

	if (to->file)
		rc = add_table(to, table, k, f, e);
	else if (to->directory)
		rc = write_file(to, table, k, f, e);
	else
		rc = write_output(k, f, e);
	if (!rc && (rc = frame_rewind(f)))
		err_set(e, rc, "cannot read the recording again: %s", strerror(-rc));
	return rc;
}

enum { COPY_BYTES = 1 << 20, POLL_NS = 20000000 };

static int fail(const struct collection *c, int code, const char *what, struct err *e)
{
	return err_set(e, -code, "cannot %s %s: %s", what, c->path, strerror(code));
}

/* Whether the file that is open is the one of that name: who held the lock may have put another
 * there, or taken it away. */
static bool is_current(const struct collection *c)
{
	struct stat here, there;

	return !fstat(c->lock, &here) && !stat(c->path, &there) && here.st_dev == there.st_dev &&
	       here.st_ino == there.st_ino;
}

/* 1 with the lock on the file of that name, which is created if missing; 0 when somebody
 * else has it; -errno. */
static int try_lock(struct collection *c, struct err *e)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int code = 0;

	c->lock = open(c->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
	if (c->lock < 0)
		return fail(c, errno, "open", e);
	if (fcntl(c->lock, F_OFD_SETLK, &whole))
		code = errno;
	else if (is_current(c))
		return 1;
	close(c->lock);
	c->lock = -1;
	return !code || code == EAGAIN || code == EACCES ? 0 : fail(c, code, "lock", e);
}

static int wait_for_lock(struct collection *c, int64_t wait_ns, void (*tell)(const char *, int64_t),
			 struct err *e)
{
	int64_t begin = clock_mono_ns();
	bool told = false;
	char text[32];
	int rc;

	while (!(rc = try_lock(c, e))) {
		int64_t waited = clock_mono_ns() - begin;

		if (waited >= wait_ns) {
			args_duration_text(wait_ns, text, sizeof(text));
			return err_set(
				e, -EAGAIN,
				"another export still writes %s after %s; try again, or wait "
				"longer with --wait",
				c->path, text);
		}
		if (!told && waited >= NS_PER_S) {
			tell(c->path, wait_ns);
			told = true;
		}
		nanosleep(&(struct timespec){ .tv_nsec = POLL_NS }, NULL);
	}
	return rc < 0 ? rc : 0;
}

static int copy(struct collection *c, struct err *e)
{
	char *block = malloc(COPY_BYTES);
	ssize_t n = 1;
	int rc = block ? 0 : err_set(e, -ENOMEM, "out of memory");

	while (!rc && n) {
		n = read(c->lock, block, COPY_BYTES);
		if (n < 0 && errno != EINTR)
			rc = err_set(e, -errno, "cannot read the old one: %s", strerror(errno));
		else if (n > 0 && fwrite(block, 1, (size_t)n, c->out.file) != (size_t)n)
			rc = err_set(e, -errno, "%s", strerror(errno));
	}
	if (!rc && fflush(c->out.file))
		rc = err_set(e, -errno, "%s", strerror(errno));
	free(block);
	return rc;
}

static int open_copy(struct collection *c, struct err *e)
{
	char directory[PATH_MAX];
	const char *slash = strrchr(c->path, '/');
	int n = snprintf(directory, sizeof(directory), "%.*s",
			 slash ? (int)(slash - c->path) + (slash == c->path) : 1,
			 slash ? c->path : ".");

	if (n < 0 || (size_t)n >= sizeof(directory))
		return fail(c, ENAMETOOLONG, "write", e);
	return outfile_open(&c->out, directory, slash ? slash + 1 : c->path, e);
}

int collection_open(struct collection *c, const char *path, int64_t wait_ns,
		    void (*tell)(const char *path, int64_t wait_ns), struct err *e)
{
	struct stat st;
	int rc;

	*c = (struct collection){ .path = path, .lock = -1 };
	rc = wait_for_lock(c, wait_ns, tell, e);
	if (rc)
		return rc;
	c->made = !fstat(c->lock, &st) && !st.st_size;
	rc = open_copy(c, e);
	c->out.held_empty = !rc && c->made;
	if (!rc && !c->made && fchmod(fileno(c->out.file), st.st_mode & 0777))
		rc = err_set(e, -errno, "%s", strerror(errno));
	if (!rc)
		rc = copy(c, e);
	return rc ? collection_close(c, rc, e) : 0;
}

/* The lock is let go last, when the name is that of the new file, or of none. */
int collection_close(struct collection *c, int failed, struct err *e)
{
	int rc = c->out.file ? outfile_close(&c->out, failed, e) : failed;

	if (rc && c->made)
		unlink(c->path);
	close(c->lock);
	return rc;
}

/* What a name of a file or folder may be made of, and no hidden one. */
static void put_plain(char *to, size_t size, const char *text)
{
	size_t n = 0;

	for (; *text && n + 1 < size; text++, n++)
		to[n] = strchr(NAME_CHARACTERS, *text) || (n && strchr(".-", *text)) ? *text : '_';
	to[n] = '\0';
}

static const char *cluster_name(const struct run *r)
{
	static const char *const keys[] = { "job.cluster", "job.environment.SLURM_CLUSTER_NAME" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *name = run_find_text(r, 0, keys[i]);

		if (name)
			return name;
	}
	return "unknown";
}

/* ROOT/cluster=NAME/date=DATE; the last folder is made with the file. */
static int make_folders(const char *root, const struct run *r, char path[PATH_MAX], struct err *e)
{
	char cluster[128], date[40];
	int n;

	put_plain(cluster, sizeof(cluster), cluster_name(r));
	clock_iso(r->t0_utc_ns, date, sizeof(date));
	n = snprintf(path, PATH_MAX, "%s/cluster=%s", root, cluster);
	if (n < 0 || (size_t)n + sizeof("/date=2026-11-21") > PATH_MAX)
		return err_set(e, -ENAMETOOLONG, "%s: the name is too long", root);
	if ((mkdir(root, 0700) && errno != EEXIST) || (mkdir(path, 0700) && errno != EEXIST))
		return err_set(e, -errno, "cannot make the directory %s: %s", path,
			       strerror(errno));
	snprintf(path + n, PATH_MAX - (size_t)n, "/date=%.10s", date);
	return 0;
}

int lakefile_write(const char *root, const struct lake_job *job, const struct run *r,
		   struct frame *f, char written[PATH_MAX], struct err *e)
{
	char directory[PATH_MAX], plain[180], name[200];
	struct outfile out;
	int rc = make_folders(root, r, directory, e);

	put_plain(plain, sizeof(plain), job->id);
	snprintf(name, sizeof(name), "%s.parquet", plain);
	if (!rc)
		rc = outfile_open(&out, directory, name, e);
	if (rc)
		return rc;
	rc = outfile_close(&out, lake_write(f, job, out.file, e), e);
	snprintf(written, PATH_MAX, "%s", out.path);
	return rc;
}

enum { KIND, LOST, OF, WORDS, WHY, COLUMNS };

static const struct column columns[] = {
	[KIND] = { .name = "kind", .type = COLUMN_TEXT },
	[LOST] = { .name = "lost", .type = COLUMN_REAL },
	[OF] = { .name = "of", .type = COLUMN_REAL },
	[WORDS] = { .name = "words", .type = COLUMN_TEXT },
	[WHY] = { .name = "why", .type = COLUMN_TEXT },
};
_Static_assert(sizeof columns / sizeof columns[0] == COLUMNS, "a row for each");

/* A table of one batch. */
struct table {
	const char *text[COLUMNS][LOSSES_MAX];
	double number[COLUMNS][LOSSES_MAX];
	uint8_t state[COLUMNS][LOSSES_MAX];
	struct cells cells[COLUMNS];
	uint32_t nrows;
};

static void fill(struct table *t, const struct losses *x)
{
	for (uint32_t i = 0; i < x->n; i++) {
		const struct loss *l = &x->row[i];

		t->text[KIND][i] = l->key;
		t->text[WORDS][i] = l->words;
		t->text[WHY][i] = l->why;
		t->number[LOST][i] = l->lost;
		t->number[OF][i] = l->of;
		t->state[OF][i] = (uint8_t)(isnan(l->of) ? STATE_ABSENT : STATE_PRESENT);
		t->state[KIND][i] = t->state[LOST][i] = t->state[WORDS][i] = t->state[WHY][i] =
			STATE_PRESENT;
	}
	for (int c = 0; c < COLUMNS; c++) {
		t->cells[c].state = t->state[c];
		if (columns[c].type == COLUMN_TEXT)
			t->cells[c].s = t->text[c];
		else
			t->cells[c].d = t->number[c];
	}
	t->nrows = x->n;
}

static int next(void *ctx, struct batch *b, struct err *e)
{
	struct table *t = ctx;

	(void)e;
	*b = (struct batch){ t->nrows, t->cells };
	t->nrows = 0;
	return b->nrows > 0;
}

static bool matters(const struct losses *x)
{
	for (uint32_t i = 0; i < x->n; i++)
		if (x->row[i].matters)
			return true;
	return false;
}

int lossfile_write(const struct tablefile *to, const struct run *r, struct err *e)
{
	static const struct frame_schema schema = { .table = "losses",
						    .ncolumns = COLUMNS,
						    .columns = columns };
	struct table t = { 0 };
	struct losses x;
	struct outfile out;
	int rc = losses_make(&x, r);

	if (rc)
		return err_set(e, rc, "out of memory");
	if (!matters(&x) || !to->directory)
		return 0;
	fill(&t, &x);
	rc = outfile_open(&out, to->directory, "losses.csv", e);
	if (rc)
		return rc;
	rc = sink_pull(sink_find("csv"), &(struct table_source){ &schema, next, &t }, out.file, e);
	rc = outfile_close(&out, rc, e);
	if (!rc)
		outputs_add(to->written, out.path);
	return rc;
}

uint64_t profilefile_format(const char *name, size_t n)
{
	for (size_t i = 0; i < nprofiles; i++)
		if (strlen(profiles[i]->name) == n && !memcmp(profiles[i]->name, name, n))
			return UINT64_C(1) << i;
	return 0;
}

static int write_one(const struct profilefile *p, const struct profile *k,
		     const struct profile_data *d, const char *what, struct err *e)
{
	struct outfile out;
	char name[64];
	struct err why = { "" };
	int rc;

	if (!p->directory) {
		rc = k->write(d, stdout, &why);
		if (!rc && (fflush(stdout) || ferror(stdout)))
			rc = err_set(&why, -EIO, "output error");
		return rc ? err_set(e, rc, "cannot write to standard output: %s", why.text) : 0;
	}
	snprintf(name, sizeof name, "%s%s", what, k->file + strlen("stacks"));
	rc = outfile_open(&out, p->directory, name, e);
	if (rc)
		return rc;
	rc = outfile_close(&out, k->write(d, out.file, e), e);
	if (!rc)
		outputs_add(p->written, out.path);
	return rc;
}

static int write_all(const struct profilefile *p, struct stacks *s, const char *what, struct err *e)
{
	struct profile_data d;
	int rc = profile_data_make(&d, s, e);

	for (size_t i = 0; i < nprofiles && !rc; i++)
		if (p->formats >> i & 1)
			rc = write_one(p, profiles[i], &d, what, e);
	profile_data_free(&d);
	return rc;
}

/* At the peak of each node, whatever the times. */
static int write_memory(const struct profilefile *p, struct run *r, const struct classes *c,
			struct err *e)
{
	struct stacks_selection sel = { .kind = SAMPLE_RESIDENT };
	struct owners owners = { 0 };
	struct stacks *s = NULL;
	int rc = stacks_open(&s, r, c, &sel, e);

	if (!rc)
		rc = owners_make(&owners, s, e);
	stacks_close(s);
	s = NULL;
	sel.at_ns = owners.at_ns[OWNERS_PEAK];
	if (!rc)
		rc = stacks_open(&s, r, c, &sel, e);
	if (!rc)
		rc = write_all(p, s, "memory", e);
	stacks_close(s);
	owners_free(&owners);
	return rc;
}

static int write_kind(const struct profilefile *p, struct run *r, const struct classes *c,
		      enum sample_kind kind, struct err *e)
{
	const char *what = kind == SAMPLE_WAITS    ? "waits"
			   : kind == SAMPLE_PYTHON ? "python-stacks"
						   : "stacks";
	const struct stacks_selection sel = { .kind = kind,
					      .from_s = p->from_s,
					      .to_s = p->to_s > 0     ? p->to_s
						      : p->from_s > 0 ? DBL_MAX
								      : 0 };
	struct stacks *s = NULL;
	int rc = stacks_open(&s, r, c, &sel, e);

	if (!rc)
		rc = write_all(p, s, what, e);
	stacks_close(s);
	return rc;
}

/* Python's functions have CPU time that the samples have, too: files of their own, so that no sum
 * has it twice. */
int profilefile_write(const struct profilefile *p, struct run *r, struct err *e)
{
	const char *what = p->kind == SAMPLE_WAITS      ? "waits"
			   : p->kind == SAMPLE_RESIDENT ? "memory"
							: "stacks";
	struct classes c = { 0 };
	int rc;

	if (!r->nsample_sets_of[p->kind])
		return err_set(e, -ENODATA, "%.300s has no %s; record them with --%s", r->path,
			       what, what);
	rc = code_classes(&c, NULL, e);
	if (!rc && p->kind == SAMPLE_RESIDENT)
		rc = write_memory(p, r, &c, e);
	else if (!rc)
		rc = write_kind(p, r, &c, p->kind, e);
	if (!rc && p->kind == SAMPLE_CPU && p->directory && r->nsample_sets_of[SAMPLE_PYTHON])
		rc = write_kind(p, r, &c, SAMPLE_PYTHON, e);
	classes_free(&c);
	return rc;
}

static int write_profile(struct scanner_export *x, uint32_t node, const char *directory,
			 struct outputs *w, struct err *e)
{
	struct outfile out;
	char name[64];
	int rc;

	scanner_export_name(x, node, name, sizeof name);
	rc = outfile_open(&out, directory, name, e);
	if (rc)
		return rc;
	rc = outfile_close(&out, scanner_export_profile(x, node, out.file, e), e);
	if (!rc)
		outputs_add(w, out.path);
	return rc;
}

static int write_descriptor(struct scanner_export *x, const char *directory, const char *name,
			    int (*put)(struct scanner_export *x, FILE *out, struct err *e),
			    struct outputs *w, struct err *e)
{
	struct outfile out;
	int rc = outfile_open(&out, directory, name, e);

	if (rc)
		return rc;
	rc = outfile_close(&out, put(x, out.file, e), e);
	if (!rc)
		outputs_add(w, out.path);
	return rc;
}

static int write_job(struct scanner_export *x, const struct run *r, const char *directory,
		     struct outputs *w, struct err *e)
{
	char path[PATH_MAX], job[PATH_MAX];
	int rc = 0;

	if (snprintf(path, sizeof path, "%s/jobs", directory) >= PATH_MAX ||
	    snprintf(job, sizeof job, "%s/jobs/%" PRIu64, directory, scanner_export_job(x)) >=
		    PATH_MAX)
		return err_set(e, -ENAMETOOLONG, "%.200s...: the name is too long", directory);
	rc = folder_make(directory, e);
	rc = rc ? rc : folder_make(path, e);
	for (uint32_t i = 1; i < r->nnodes && !rc; i++)
		rc = write_profile(x, i, job, w, e);
	if (!rc)
		rc = write_descriptor(x, job, "descriptor.bin", scanner_export_descriptor, w, e);
	return rc ? rc
		  : write_descriptor(x, directory, "db_metadata.bin", scanner_export_database, w,
				     e);
}

int scannerfile_write(struct run *r, const char *directory, struct outputs *w, struct err *e)
{
	struct scanner_export *x;
	int rc = scanner_export_open(&x, r, e);

	if (!rc)
		rc = write_job(x, r, directory, w, e);
	scanner_export_close(x);
	return rc;
}
