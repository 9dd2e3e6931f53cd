/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm.c - the trials of a sweep as elements of Slurm's job arrays.
 *
 * Who submits writes down which trials an array has before it is submitted, under the name the
 * array will have. So it is known at any time from Slurm and these lists which trials are on their
 * way, also after whoever submitted them was killed.
 */
#include "sweep/sweeping.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/text/number.h"
#include "base/text/textfile.h"
#include "console/command.h"
#include "trial/scripted.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ELEMENTS_MOST = 1000, ARRAYS_MOST = 100000, LIST_BYTES = 1 << 20, WORDS = SWEEP_WORDS + 24 };
enum { ASK_TRIES = 30, ASK_EVERY_MS = 500, ASK_OFTEN = 40 };
#define PATIENCE (120 * NS_PER_S)

/* A trial on its way. */
struct wanted {
	uint32_t combination;
	int64_t number;
};

struct wanted_list {
	struct wanted *v;
	uint32_t n, cap;
};

static int add(struct wanted_list *l, uint32_t combination, int64_t number)
{
	void *grown = array_room(l->v, l->n, &l->cap, sizeof *l->v);

	if (!grown)
		return -ENOMEM;
	l->v = grown;
	l->v[l->n++] = (struct wanted){ combination, number };
	return 0;
}

static bool holds(const struct wanted_list *l, uint32_t combination, int64_t number)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (l->v[i].combination == combination && l->v[i].number == number)
			return true;
	return false;
}

/* ---- the lists ---- */

static void list_path(const struct sweeping *x, int array, char out[PATH_MAX])
{
	snprintf(out, PATH_MAX, "%.4000s/array_%d", x->sweep.directory, array);
}

/* A line for the sweep, then "COMBINATION NUMBER" for each element from 0. */
static int write_list(const struct sweeping *x, int array, const struct wanted *v, uint32_t n,
		      struct err *e)
{
	char path[PATH_MAX];
	struct bytes b = { 0 };
	int fd, rc = 0;

	list_path(x, array, path);
	bytes_printf(&b, "%s\n", x->uid);
	for (uint32_t i = 0; i < n; i++)
		bytes_printf(&b, "%u %" PRId64 "\n", v[i].combination, v[i].number);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || b.failed || write(fd, b.data, b.len) != (ssize_t)b.len || fsync(fd))
		rc = err_set(e, -EIO, "cannot write %.300s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	bytes_free(&b);
	return rc;
}

/* The trial of an element. False: the list has none such, or is of another sweep. */
static bool read_element(const struct sweeping *x, const char *list, int64_t element,
			 struct wanted *out)
{
	struct bytes b = { 0 };
	struct err e;
	const char *at;
	uint64_t combination = 0;
	bool found = false;

	if (!textfile_read(list, "list", LIST_BYTES, &b, &e)) {
		bytes_u8(&b, 0);
		at = b.failed ? "" : (const char *)b.data;
		found = !strncmp(at, x->uid, strlen(x->uid));
		for (int64_t i = 0; i <= element && found; i++)
			at = number_next_line(at);
		found = found && number_u64(&at, &combination) && number_i64(&at, &out->number) &&
			combination < x->space.combinations && out->number >= 1 &&
			out->number <= x->spec.batch_size;
		out->combination = (uint32_t)combination;
	}
	bytes_free(&b);
	return found;
}

/* ---- what Slurm says ---- */

static int ask(char *const *argv, struct bytes *out, struct err *e)
{
	const struct scripted_wish w = { .argv = argv, .limit_ns = PATIENCE };
	struct scripted r;
	char why[600] = "";
	int rc = scripted_run(&r, &w, e);

	if (!rc && scripted_failed(&r, why, sizeof why)) {
		scripted_last_words(&r, why, sizeof why);
		rc = err_set(e, -EIO, "%s: %s", argv[0], why);
	}
	if (!rc)
		bytes_put(out, r.out.data, r.out.len);
	scripted_free(&r);
	return rc;
}

/* "sonde-UID-ARRAY ELEMENT" a line, of each that has not ended. The controller may be away for a
 * moment. */
static int ask_queue(struct bytes *out, struct err *e)
{
	static char squeue[] = "squeue", plain[] = "-h", each[] = "-r", me[] = "--me",
		    form[] = "-o%j %K";
	char *argv[] = { squeue, plain, each, me, form, NULL };
	const struct timespec pause = { .tv_sec = 1 };
	int rc;

	for (int i = 0; (rc = ask(argv, out, e)) && i < ASK_TRIES; i++)
		nanosleep(&pause, NULL);
	return rc;
}

/* Those of this sweep that are in the queue; where l is not NULL, which trials they are. */
static int find_live(const struct sweeping *x, struct wanted_list *l, uint32_t *n, struct err *e)
{
	char head[40], path[PATH_MAX];
	struct bytes b = { 0 };
	int rc = ask_queue(&b, e);

	*n = 0;
	snprintf(head, sizeof head, "sonde-%s-", x->uid);
	for (const char *at = rc ? "" : (const char *)b.data; *at && !rc;
	     at = number_next_line(at)) {
		const char *p = at + strlen(head);
		struct wanted w;
		int64_t array, element;

		if (strncmp(at, head, strlen(head)) != 0 || !number_i64(&p, &array) ||
		    !number_i64(&p, &element) || array > ARRAYS_MOST)
			continue;
		++*n;
		list_path(x, (int)array, path);
		if (l && read_element(x, path, element, &w))
			rc = add(l, w.combination, w.number);
	}
	bytes_free(&b);
	return rc;
}

static uint32_t elements_most(void)
{
	static char scontrol[] = "scontrol", show[] = "show", config[] = "config";
	char *argv[] = { scontrol, show, config, NULL };
	struct bytes b = { 0 };
	uint64_t most = ELEMENTS_MOST + 1;
	struct err e;

	if (!ask(argv, &b, &e)) {
		const char *at = number_find_line((const char *)b.data, "MaxArraySize");

		at = at ? strchr(at, '=') : NULL;
		at = at ? at + 1 : "";
		number_u64(&at, &most);
	}
	bytes_free(&b);
	return most > 1 && most < ELEMENTS_MOST ? (uint32_t)most - 1 : ELEMENTS_MOST;
}

/* ---- submitting ---- */

static void quote(struct bytes *b, const char *word)
{
	bytes_u8(b, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			bytes_puts(b, "'\\'");
		bytes_u8(b, (uint8_t)*word);
	}
	bytes_puts(b, "' ");
}

/* The line that an element runs. */
static int command_of(const struct sweeping *x, const char *list, struct bytes *b, struct err *e)
{
	char self[PATH_MAX], path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	if (n < 0)
		return err_set(e, -errno, "cannot find this program: %s", strerror(errno));
	self[n] = '\0';
	snprintf(path, sizeof path, "%.4000s/specification.json", x->sweep.directory);
	bytes_puts(b, "exec ");
	quote(b, self);
	bytes_puts(b, "bench sweep -q --element ");
	quote(b, list);
	bytes_puts(b, "--output ");
	quote(b, x->sweep.directory);
	bytes_puts(b, "--stacks ");
	quote(b, x->cache);
	bytes_printf(b, "--interval %" PRId64 "ms ", x->o->interval_ns / NS_PER_MS);
	if (x->o->store) {
		bytes_puts(b, "--store ");
		quote(b, x->o->store);
	}
	for (uint32_t i = 0; i < x->o->models.n; i++) {
		bytes_puts(b, "--model ");
		quote(b, x->o->models.text[i]);
	}
	quote(b, path);
	bytes_u8(b, 0);
	return b->failed ? err_set(e, -ENOMEM, "out of memory for a sweep") : 0;
}

static int submit(struct sweeping *x, int array, uint32_t n, struct err *e)
{
	static char sbatch[] = "sbatch", parsable[] = "--parsable", wrap[] = "--wrap";
	char elements[40], name[80], out[PATH_MAX], cpus[40], memory[40], list[PATH_MAX];
	char *argv[WORDS] = { sbatch, parsable, elements, name, out };
	struct bytes command = { 0 }, said = { 0 };
	uint32_t k = 5;
	int rc;

	list_path(x, array, list);
	rc = command_of(x, list, &command, e);
	snprintf(elements, sizeof elements, "--array=0-%u", n - 1);
	snprintf(name, sizeof name, "--job-name=sonde-%s-%d", x->uid, array);
	snprintf(out, sizeof out, "--output=%.4000s/slurm_%%A_%%a.out", x->sweep.directory);
	snprintf(cpus, sizeof cpus, "--cpus-per-task=%.0f", ceil(x->spec.run.cores));
	snprintf(memory, sizeof memory, "--mem=%.0fM", ceil(x->spec.run.memory_bytes / 1048576));
	if (x->spec.run.cores > 0)
		argv[k++] = cpus;
	if (x->spec.run.memory_bytes > 0)
		argv[k++] = memory;
	for (uint32_t i = 0; i < x->spec.slurm.n && k < WORDS - 3; i++)
		argv[k++] = (char *)x->spec.slurm.word[i];
	argv[k++] = wrap;
	argv[k++] = (char *)command.data;
	if (!rc)
		rc = ask(argv, &said, e);
	if (!rc)
		say("bench sweep: job %.*s has %u trial%s", (int)strcspn((char *)said.data, ";\n"),
		    (char *)said.data, n, n == 1 ? "" : "s");
	bytes_free(&command);
	bytes_free(&said);
	return rc;
}

/* A number that no list has. */
static int new_array(const struct sweeping *x)
{
	char path[PATH_MAX];
	int i = 0;

	do
		list_path(x, ++i, path);
	while (i < ARRAYS_MOST && !access(path, F_OK));
	return i;
}

/* All trials ask for the same: what Slurm says of some, it says of those that follow. The others
 * go on. */
static int refuse(struct sweeping *x, const struct wanted *v, uint32_t n, const char *reason,
		  struct err *e)
{
	bool *told = calloc(x->space.combinations + 1u, sizeof *told);
	int rc = told ? 0 : err_set(e, -ENOMEM, "out of memory for a sweep");

	say("bench sweep: %s", reason);
	x->refused = true;
	for (uint32_t i = 0; i < n && !rc; i++)
		if (!told[v[i].combination]) {
			told[v[i].combination] = true;
			rc = sweep_skip(x->store.database, &x->sweep, v[i].combination, reason, e);
		}
	free(told);
	return rc;
}

static int submit_all(struct sweeping *x, const struct wanted_list *l, struct err *e)
{
	uint32_t most = l->n ? elements_most() : 1;
	struct err why;
	int rc = 0;

	for (uint32_t i = 0; i < l->n && !rc && !x->refused; i += most) {
		uint32_t n = l->n - i < most ? l->n - i : most;
		int array = new_array(x);

		rc = write_list(x, array, l->v + i, n, e);
		if (!rc && submit(x, array, n, &why))
			rc = refuse(x, l->v + i, l->n - i, why.text, e);
	}
	return rc;
}

static int wait_for_all(const struct sweeping *x, struct err *e)
{
	struct timespec pause = { .tv_nsec = ASK_EVERY_MS * NS_PER_MS };
	uint32_t live = 1;
	int rc = 0;

	for (int i = 0; !rc && live; i++) {
		pause.tv_sec = i < ASK_OFTEN ? 0 : 4;
		nanosleep(&pause, NULL);
		rc = find_live(x, NULL, &live, e);
	}
	return rc;
}

/* What nodes said of those that did not run. */
static int look_again(struct sweeping *x, struct swept *p, struct err *e)
{
	int64_t size = p->wanted, ran = 0;
	int rc = sweep_done(x->store.database, &p->batch, p->done, x->spec.batch_size, e);

	for (int64_t k = 0; k < size && !rc; k++)
		ran += p->done[k];
	if (!rc && ran < size)
		rc = sweep_reason(x->store.database, &x->sweep, p->combination, &x->pool,
				  &p->missing, e);
	if (!ran)
		p->skipped = p->missing;
	return rc;
}

/* What is missing of these and not on its way, in the order it is to run. */
static int find_missing(struct sweeping *x, uint32_t first, const struct wanted_list *live,
			struct wanted_list *missing, struct err *e)
{
	int64_t n = 0;
	struct sweep_turn *turn = sweeping_turns(x, first, &n, e);
	int rc = turn ? 0 : -ENOMEM;

	for (uint32_t i = first; i < x->nswept && !rc; i++)
		if (!x->swept[i]->skipped)
			rc = sweep_done(x->store.database, &x->swept[i]->batch, x->swept[i]->done,
					x->spec.batch_size, e);
	for (int64_t i = 0; i < n && !rc; i++) {
		const struct swept *p = x->swept[turn[i].chosen];

		if (!p->skipped && !p->done[turn[i].number - 1] &&
		    !holds(live, p->combination, turn[i].number))
			rc = add(missing, p->combination, turn[i].number);
	}
	free(turn);
	return rc;
}

/* Submits them, and waits. */
static int run_some(struct sweeping *x, uint32_t first, struct err *e)
{
	struct wanted_list live = { 0 }, missing = { 0 };
	uint32_t n;
	int rc = find_live(x, &live, &n, e);

	/* Asked after the queue: what ended in between is not taken for lost. */
	if (!rc)
		rc = find_missing(x, first, &live, &missing, e);
	if (!rc)
		rc = submit_all(x, &missing, e);
	if (!rc && (n || missing.n))
		rc = wait_for_all(x, e);
	for (uint32_t i = first; i < x->nswept && !rc; i++)
		if (!x->swept[i]->skipped && !x->swept[i]->is_out)
			rc = look_again(x, x->swept[i], e);
	free(live.v);
	free(missing.v);
	return rc;
}

int sweepslurm_run(struct sweeping *x, struct err *e)
{
	bool climbs = sweep_needs_results(x->spec.decision);
	struct swept *p;
	int rc = 0;

	while (!rc && !x->refused && (p = sweeping_next(x, &rc, e))) {
		rc = sweeping_open(x, p, e);
		if (!rc && climbs && !p->skipped)
			rc = run_some(x, x->nswept - 1, e);
	}
	if (rc || climbs)
		return rc;
	if (x->spec.decision == SWEEP_HALVING)
		return sweephalving_run(x, run_some, e);
	sweepknown_say(x);
	return run_some(x, 0, e);
}

int sweepslurm_element(struct sweeping *x, const char *list, struct err *e)
{
	const char *text = getenv("SLURM_ARRAY_TASK_ID");
	struct wanted w;
	struct swept *p;
	int64_t element;
	int rc;

	if (!text || !number_i64(&text, &element) || !read_element(x, list, element, &w))
		return err_set(e, -EINVAL, "%.300s has no such element of this sweep", list);
	sweephost_has(&x->spec.run, x->lacks, sizeof x->lacks);
	p = sweeping_enter(x, w.combination, &rc, e);
	if (!rc)
		rc = sweeping_open(x, p, e);
	if (!rc && p->skipped)
		rc = err_set(e, -EIO, "on this machine it cannot be run: %s", p->skipped);
	return rc ? rc : sweeping_trial(x, p, w.number, e);
}
