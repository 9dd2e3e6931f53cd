/* SPDX-License-Identifier: Apache-2.0 */
#include "session/history.h"

#include "base/clock.h"
#include "base/process.h"
#include "base/text/number.h"
#include "console/command.h"
#include "core/glob.h"
#include "recording/join.h"
#include "report/summary/past.h"
#include "sink/lake.h"
#include "store/database.h"
#include "store/pending.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PENDING "ended"

/* The longest that the end of a recording takes for its history. */
#define LEAVE_NS (2 * NS_PER_S)

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* ---- the end of a recording ---- */

bool history_is_kept(void)
{
	const char *off = variable("SONDE_HISTORY");

	return !off || (strcmp(off, "off") != 0 && strcmp(off, "0") != 0);
}

static void leave(const struct run *r, const struct summary *s, const char *path)
{
	struct history h = { 0 };
	char folder[PATH_MAX];
	struct err e;

	if (place_data(variable, PENDING, folder, sizeof folder, &e))
		return;
	if (s) {
		past_add(&h, r, s, path, clock_utc_ns());
	} else {
		history_add(&h);
		history_add_text(&h, HISTORY_PATH, path);
	}
	if (!h.failed)
		pending_leave(folder, &h, &h.run[0], &e);
	history_free(&h);
}

/* Another child's end, or a signal that was lost, costs a look. */
static void wait_for_child(pid_t child, const sigset_t *ends)
{
	const struct timespec look = { .tv_nsec = 20 * NS_PER_MS };
	int64_t until = clock_mono_ns() + LEAVE_NS;

	while (!waitpid(child, NULL, WNOHANG) && clock_mono_ns() < until)
		sigtimedwait(ends, NULL, &look);
}

/* A home that hangs, or a limit of file sizes, is another process's business. */
static void leave_in_process(const struct run *r, const struct summary *s, const char *path)
{
	sigset_t ends, before;
	pid_t child;

	sigemptyset(&ends);
	sigaddset(&ends, SIGCHLD);
	sigprocmask(SIG_BLOCK, &ends, &before);
	child = fork();
	if (!child) {
		signal(SIGXFSZ, SIG_IGN);
		if (!r) /* whoever recorded may have as many files open as it may have */
			descriptors_close(STDERR_FILENO + 1, -1);
		leave(r, s, path);
		_exit(0);
	}
	if (child > 0) {
		wait_for_child(child, &ends);
		child_end(child);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* With a table of open files of its own, so that there is room in it. NULL: it may have none. */
static void *leave_path(void *path)
{
	if (unshare(CLONE_FILES))
		return NULL;
	descriptors_close(STDERR_FILENO + 1, -1);
	leave(NULL, NULL, path);
	return path;
}

/* For a path a thread will do: a recorder's memory is much to fork. One that hangs ends with this
 * process. False: it was not left. */
static bool leave_in_thread(const char *path)
{
	static char kept[PATH_MAX]; /* a thread that hangs still has it */
	struct timespec until = { 0 };
	sigset_t all, before;
	pthread_t thread;
	void *left = NULL;
	bool made;

	if (strlen(path) >= sizeof kept)
		return false;
	memcpy(kept, path, strlen(path) + 1);
	sigfillset(&all); /* SIGXFSZ, too */
	pthread_sigmask(SIG_BLOCK, &all, &before);
	made = !pthread_create(&thread, NULL, leave_path, kept);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += LEAVE_NS / NS_PER_S;
	if (!made || !pthread_timedjoin_np(thread, &left, &until))
		return left;
	pthread_detach(thread);
	return true;
}

void history_leave(const struct run *r, const struct summary *s, const char *path)
{
	if (s || !leave_in_thread(path))
		leave_in_process(r, s, path);
}

/* ---- into the store ---- */

static int past_of_run(struct history *h, struct run *r, const char *path, struct err *e)
{
	char absolute[PATH_MAX];
	struct summary s;
	int rc = summary_make_as(&s, r, &(struct summary_wish){ .compared = past_metrics }, e);

	if (rc)
		return rc;
	if (past_add(h, r, &s, realpath(path, absolute) ? absolute : path, clock_utc_ns()))
		rc = err_set(e, -ENOMEM, "out of memory for the history");
	summary_free(&s);
	return rc;
}

static int past_of(struct history *h, const char *path, struct err *e)
{
	struct run *r;
	int rc = run_open(&r, path, e);

	if (!rc) {
		rc = past_of_run(h, r, path, e);
		run_close(r);
	}
	return rc;
}

int history_describe(struct bytes *json, struct run *r, const char *path, struct err *e)
{
	struct history h = { 0 };
	struct json j = { .out = json };
	int rc = past_of_run(&h, r, path, e);

	if (!rc) {
		history_json(&j, &h, &h.run[0]);
		bytes_u8(json, 0);
	}
	history_free(&h);
	return !rc && json->failed ? err_set(e, -ENOMEM, "out of memory for a summary") : rc;
}

/* n of them, or none. */
static int put_all(struct database *s, const struct history *h, uint32_t first, uint32_t n,
		   struct err *e)
{
	int64_t id;
	int rc = n ? database_begin(s, e) : 0;

	for (uint32_t i = first; i < first + n && !rc; i++)
		rc = history_put(s, h, i, &id, e);
	if (!rc && n)
		rc = database_commit(s, e);
	else if (rc)
		database_rollback(s);
	return rc;
}

/* Files that were left, and the runs that were in them. */
struct taken {
	struct pending pending;
	struct history history;
	int *file;   /* of each run */
	bool *stays; /* each file */
};

static int taken_reserve(struct taken *t, struct err *e)
{
	t->file = calloc((size_t)t->pending.n + 1, sizeof *t->file);
	t->stays = calloc((size_t)t->pending.n + 1, sizeof *t->stays);
	return t->file && t->stays ? 0 : err_set(e, -ENOMEM, "out of memory for the history");
}

static void taken_free(struct taken *t)
{
	pending_free(&t->pending);
	history_free(&t->history);
	free(t->file);
	free(t->stays);
}

/* A file that was left: a run, or where one is. What is neither is dropped. */
static int take_one(struct taken *t, const char *folder, int i, const char *verb, struct err *e)
{
	struct history *h = &t->history;
	struct err why = { "" };
	int rc = pending_read(&t->pending, folder, i, h, &why);
	const char *path;

	if (!rc && !h->run[h->n - 1].text[HISTORY_UID]) {
		path = h->run[--h->n].text[HISTORY_PATH];
		rc = path ? past_of(h, path, &why) : err_set(&why, -EBADMSG, "it names no run");
	}
	if (rc == -ENOMEM)
		return err_set(e, rc, "%s", why.text);
	if (rc && rc != -ENOENT)
		say("%s: a run that ended is left out of the history: %s", verb, why.text);
	if (!rc)
		t->file[h->n - 1] = i;
	return 0;
}

/* Each for itself, so that one that the store refuses keeps none of the others out. */
static int put_each(struct database *s, const struct taken *t, const char *verb, struct err *e)
{
	struct err why = { "" };
	int refused = 0, rc = 0;

	for (uint32_t i = 0; i < t->history.n && !rc; i++) {
		rc = put_all(s, &t->history, i, 1, e);
		if (rc != -EPROTO)
			continue;
		t->stays[t->file[i]] = true;
		if (!refused++)
			err_set(&why, rc, "%s: %s", t->pending.name[t->file[i]], e->text);
		rc = 0;
	}
	if (refused)
		say("%s: the history refuses runs that ended (%d); they stay in its folder "
		    "%s, the first is %s",
		    verb, refused, PENDING, why.text);
	return rc;
}

static int put_taken(struct database *s, const struct taken *t, const char *verb, struct err *e)
{
	int rc = put_all(s, &t->history, 0, t->history.n, e);

	return rc == -EPROTO ? put_each(s, t, verb, e) : rc;
}

/* What has ended since somebody looked last. */
static int take_pending(struct database *s, const char *verb, struct err *e)
{
	struct taken t = { 0 };
	char folder[PATH_MAX];
	int rc = place_data(variable, PENDING, folder, sizeof folder, e);

	if (!rc)
		rc = pending_find(&t.pending, folder, e);
	if (!rc)
		rc = taken_reserve(&t, e);
	for (int i = 0; i < t.pending.n && !rc; i++)
		rc = take_one(&t, folder, i, verb, e);
	if (!rc)
		rc = put_taken(s, &t, verb, e);
	if (!rc && t.pending.dropped) {
		say("%s: %lld runs are not in the history: more ended than Sonde keeps "
		    "until the history is read",
		    verb, (long long)t.pending.dropped);
		pending_told(folder);
	}
	for (int i = 0; i < t.pending.n && !rc; i++)
		if (!t.stays[i])
			pending_remove(&t.pending, folder, i);
	taken_free(&t);
	return rc;
}

int history_open(struct database **s, const struct history_options *o, const char *verb,
		 struct err *e)
{
	struct place p;
	int rc;

	if (o->store && !place_parse(&p, o->store, e) && p.secret)
		return err_set(e, -EINVAL,
			       "a password in --store would be seen by everybody on this machine; "
			       "give it in PGPASSWORD or ~/.pgpass, or the address in SONDE_STORE");
	rc = place_default(&p, o->store, variable, e);
	if (!rc)
		rc = database_open(s, p.where, e);
	/* A store that is named once is not where this user's runs go. */
	if (!rc && !o->store)
		rc = take_pending(*s, verb, e);
	return rc;
}

static int failed(const char *verb, int rc, const struct err *e)
{
	say("%s: %s%s", verb, e->text,
	    rc == -EHOSTUNREACH ? "; runs that end meanwhile are kept here, and the next look puts "
				  "them there"
				: "");
	return rc == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
}

int history_add_recordings(const struct history_options *o, const char *verb, char *const *path,
			   size_t n)
{
	struct database *s = NULL;
	struct err e = { "" };
	int rc = history_open(&s, o, verb, &e), code = EXIT_OK;

	for (size_t i = 0; i < n && !rc; i++) {
		struct history h = { 0 };
		struct err why = { "" };

		if (past_of(&h, path[i], &why)) {
			say("%s: %s", verb, why.text);
			code = EXIT_FAILED;
		} else {
			rc = put_all(s, &h, 0, h.n, &e);
		}
		history_free(&h);
	}
	database_close(s);
	return rc ? failed(verb, rc, &e) : code;
}

/* ---- choosing ---- */

bool history_chooses(const struct history_options *o)
{
	return o->name || o->user || o->account || o->host || o->since;
}

bool history_wanted(const struct history_options *o)
{
	return o->store || history_chooses(o);
}

static bool parse_date(const char *text, int64_t *utc_ns)
{
	struct tm t = { 0 };
	const char *end = strptime(text, "%Y-%m-%d", &t);
	time_t at = end && !*end ? timegm(&t) : -1;

	if (at < 0 || at > INT64_MAX / NS_PER_S)
		return false;
	*utc_ns = (int64_t)at * NS_PER_S;
	return true;
}

/* A date, or how long ago. */
static int parse_since(const char *text, int64_t *utc_ns, struct err *e)
{
	static const struct {
		char letter;
		int64_t hours;
	} units[] = { { 'd', 24 }, { 'w', 7 * 24 } };
	const char *p = text;
	int64_t n, ns = 0;

	*utc_ns = INT64_MIN;
	if (!text || parse_date(text, utc_ns))
		return 0;
	if (number_i64(&p, &n) && n > 0 && n < 10000 && *p && !p[1])
		for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
			ns = *p == units[i].letter ? n * units[i].hours * 3600 * NS_PER_S : ns;
	if (!ns && args_duration(text, &ns))
		return err_set(e, -EINVAL,
			       "--since takes a date as 2026-11-20, or how long ago, as 30d, 2w or "
			       "12h, not '%.100s'",
			       text);
	*utc_ns = clock_utc_ns() - ns;
	return 0;
}

static bool matches(const char *globs, const char *text)
{
	return !globs || (text && glob_match(globs, text));
}

static bool was_on(const struct history *h, const struct history_run *r, const char *globs)
{
	for (uint32_t i = 0; i < r->nhosts; i++)
		if (matches(globs, h->host[r->first_host + i]))
			return true;
	return !globs;
}

static void choose(struct history *h, const struct history_options *o)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < h->n; i++)
		if (matches(o->name, h->run[i].text[HISTORY_NAME]) &&
		    matches(o->user, h->run[i].text[HISTORY_USER]) &&
		    matches(o->account, h->run[i].text[HISTORY_ACCOUNT]) &&
		    was_on(h, &h->run[i], o->host))
			h->run[n++] = h->run[i];
	h->n = n;
}

int history_find(struct history *h, const struct history_options *o, const char *verb)
{
	struct database *s = NULL;
	struct err e = { "" };
	int64_t since;
	int rc = parse_since(o->since, &since, &e);

	*h = (struct history){ 0 };
	if (!rc)
		rc = history_open(&s, o, verb, &e);
	if (!rc)
		rc = history_read(h, s, since, &e);
	database_close(s);
	if (rc)
		return failed(verb, rc, &e);
	choose(h, o);
	return EXIT_OK;
}

/* ---- in a lake ---- */

#define FOLDER_OF_DAY "date="

/* A walk over a lake, and what it left out. */
struct lake_walk {
	struct history *h;
	int64_t since_ns;
	char since[40]; /* the day of it; no folder of a day before has a run of it */
	uint32_t bare, unreadable;
	struct err why; /* of the first that is unreadable */
};

static int take_file(struct lake_walk *w, const char *path, struct err *e)
{
	struct bytes text = { 0 };
	struct err why = { "" };
	uint32_t before = w->h->n;
	int rc = lake_read_summary(path, &text, &why);

	if (!rc && (rc = history_parse(w->h, text.data, text.len - 1, &why)) && rc != -ENOMEM)
		err_set(&why, rc, "%.300s: its summary is no run of the history", path);
	bytes_free(&text);
	if (rc == -ENOMEM)
		return err_set(e, rc, "%s", why.text);
	if (!rc && w->h->run[before].start_ns < w->since_ns)
		w->h->n = before;
	w->bare += rc == -ENODATA;
	if (rc && rc != -ENODATA && !w->unreadable++)
		w->why = why;
	return 0;
}

static bool is_wanted(const struct lake_walk *w, const char *name, int level)
{
	static const char *const begins[] = { "cluster=", FOLDER_OF_DAY };
	const char *point = strrchr(name, '.');

	if (level == 2)
		return *name != '.' && point && !strcmp(point, ".parquet");
	return !strncmp(name, begins[level], strlen(begins[level])) &&
	       (level != 1 || strcmp(name + strlen(FOLDER_OF_DAY), w->since) >= 0);
}

/* ROOT/cluster=NAME/date=DAY/JOB.parquet, as output/tablefile.c lays them. */
static int take_folder(struct lake_walk *w, const char *path, int level, struct err *e)
{
	struct dirent **entry = NULL;
	int n = scandir(path, &entry, NULL, alphasort), rc = 0;

	if (n < 0)
		return err_set(e, -errno, "cannot read the lake %.300s: %s", path, strerror(errno));
	for (int i = 0; i < n; i++) {
		char below[PATH_MAX];
		int len = snprintf(below, sizeof below, "%s/%s", path, entry[i]->d_name);

		if (!rc && len < PATH_MAX && is_wanted(w, entry[i]->d_name, level))
			rc = level == 2 ? take_file(w, below, e)
					: take_folder(w, below, level + 1, e);
		free(entry[i]);
	}
	free(entry);
	return rc;
}

static void say_left_out(const struct lake_walk *w, const char *verb)
{
	if (w->bare)
		say("%s: files of the lake without a summary (%u) are left out: an older Sonde "
		    "wrote them; export those recordings again",
		    verb, w->bare);
	if (w->unreadable)
		say("%s: files of the lake that cannot be read (%u) are left out, the first: %s",
		    verb, w->unreadable, w->why.text);
}

static int by_start(const void *a, const void *b)
{
	const struct history_run *x = a, *y = b;

	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

int history_find_in_lake(struct history *h, const struct history_options *o, const char *root,
			 const char *verb)
{
	struct lake_walk w = { .h = h };
	struct err e = { "" };
	int rc = parse_since(o->since, &w.since_ns, &e);

	*h = (struct history){ 0 };
	if (!rc) {
		if (o->since)
			clock_iso(w.since_ns, w.since, sizeof w.since);
		w.since[strcspn(w.since, "T")] = '\0';
		rc = take_folder(&w, root, 0, &e);
	}
	if (rc)
		return failed(verb, rc, &e);
	say_left_out(&w, verb);
	if (h->n)
		qsort(h->run, h->n, sizeof *h->run, by_start);
	choose(h, o);
	return EXIT_OK;
}

void history_recall(struct history *h, const char *verb)
{
	struct database *s = NULL;
	struct err e;

	*h = (struct history){ 0 };
	if (history_is_kept() && !history_open(&s, &(struct history_options){ 0 }, verb, &e))
		history_read(h, s, INT64_MIN, &e);
	database_close(s);
}
