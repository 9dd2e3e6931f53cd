/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/inspection.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "base/process.h"
#include "base/text/number.h"
#include "core/stacks/rollcall.h"
#include "job/scheduler/scheduler.h"
#include "job/secret/secret.h"
#include "waits/look.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_S = 20, PIPE = 3 };

void inspection_mask_text(const struct secret_list *secrets, char *text, size_t size)
{
	char masked[INSPECTION_TEXT];
	struct bytes b = { .data = (uint8_t *)masked, .cap = sizeof masked, .fixed = true };

	secret_text(secrets, &b, text);
	bytes_u8(&b, 0);
	snprintf(text, size, "%s", b.failed || b.len > size ? SECRET_MASK : masked);
}

void inspection_mask(const struct inspection *l, struct waits *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		inspection_mask_text(l->secrets, w->thread[i].object, WAIT_OBJECT);
}

/* Cut at the end of a line or a word, whose rest would mislead. */
void inspection_send(struct bytes *b, size_t most, char at)
{
	size_t n = b->len < most ? b->len : most - 1;

	while (n && n < b->len && b->data[n - 1] != (uint8_t)at)
		n--;
	if (!b->failed && n)
		(void)!write(PIPE, b->data, n);
	(void)!write(PIPE, "", 1);
	bytes_free(b);
}

static void become(int to)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "sonde-waits");
	if (to != PIPE && dup2(to, PIPE) < 0)
		_exit(EXIT_FAILURE);
	descriptors_close(PIPE + 1, -1);
}

bool inspection_begin(struct inspection *l, inspection_look *look, const pid_t *pids, size_t n,
		      int64_t now_ns)
{
	int ends[2];

	if (l->pid || !n || pipe2(ends, O_CLOEXEC))
		return l->pid != 0;
	l->pid = fork();
	if (l->pid == 0) {
		become(ends[1]);
		look(pids, n, l);
		_exit(EXIT_SUCCESS);
	}
	close(ends[1]);
	if (l->pid < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK)) {
		if (l->pid > 0)
			child_end(l->pid);
		close(ends[0]);
		l->pid = 0;
		return false;
	}
	l->from = ends[0];
	l->begun_ns = now_ns;
	l->looks++;
	l->coming_len = 0;
	return true;
}

static int64_t children_ns(void)
{
	struct rusage u;

	if (getrusage(RUSAGE_CHILDREN, &u))
		return 0;
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * NS_PER_S +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

void inspection_stop(struct inspection *l)
{
	int64_t before_ns = children_ns();

	if (!l->pid)
		return;
	close(l->from);
	child_end(l->pid);
	l->pid = 0;
	l->cpu_ns += children_ns() - before_ns;
}

bool inspection_take(struct inspection *l, int64_t now_ns)
{
	size_t most = sizeof l->coming - 1;
	ssize_t n = 1;

	while (l->pid && n > 0 && l->coming_len < most) {
		n = read(l->from, l->coming + l->coming_len, most - l->coming_len);
		l->coming_len += n > 0 ? (size_t)n : 0;
	}
	if (!l->pid || (n < 0 && (errno == EAGAIN || errno == EINTR) &&
			now_ns - l->begun_ns < PATIENCE_S * NS_PER_S))
		return false;
	inspection_stop(l);
	if (n || !l->coming_len || !l->coming[0])
		return false;
	l->coming[l->coming_len] = '\0';
	memcpy(l->text, l->coming, l->coming_len + 1);
	l->len = l->coming_len;
	return true;
}

const char *inspection_text(const struct inspection *l, int which)
{
	const char *at = l->text, *end = l->text + l->len;

	for (int i = 0; i < which && at < end; i++)
		at += strlen(at) + 1;
	return at < end ? at : "";
}

enum { ENVIRONMENT_MAX = 1 << 18, VARIABLES_MAX = 4096 };

struct environment {
	char text[ENVIRONMENT_MAX], host[256];
	char *variable[VARIABLES_MAX + 1];
};

/* What does not fit is left out. */
static void split(struct environment *e, size_t n)
{
	uint32_t k = 0;

	e->text[n] = '\0';
	for (char *at = e->text; at < e->text + n && k < VARIABLES_MAX; at += strlen(at) + 1)
		e->variable[k++] = at;
	e->variable[k] = NULL;
}

static bool rank_of(const struct root *proc, pid_t pid, struct environment *e, int64_t *rank,
		    int64_t *ranks)
{
	struct batch_job j;
	char path[32];
	ssize_t n;

	snprintf(path, sizeof path, "%d/environ", (int)pid);
	n = root_read(proc, path, e->text, sizeof e->text);
	if (n <= 0)
		return false;
	split(e, (size_t)n < sizeof e->text ? (size_t)n : sizeof e->text - 1);
	batch_job_find(&j, e->variable, e->host);
	*rank = j.number[BATCH_RANK];
	*ranks = j.number[BATCH_RANKS];
	batch_job_free(&j);
	return *rank >= 0 && *rank < ROLLCALL_RANKS;
}

void ranks_find(struct waits *w, const struct root *proc)
{
	struct environment *e = calloc(1, sizeof *e);
	int64_t rank = -1, ranks = -1;

	if (e)
		gethostname(e->host, sizeof e->host - 1);
	for (uint32_t i = 0; e && i < w->n; i++) {
		if (!i || w->thread[i].pid != w->thread[i - 1].pid)
			rank = rank_of(proc, w->thread[i].pid, e, &rank, &ranks) ? rank : -1;
		w->thread[i].rank = (int32_t)rank;
		if (rank >= 0 && ranks > w->ranks && ranks <= ROLLCALL_RANKS)
			w->ranks = (uint32_t)ranks;
	}
	free(e);
}

enum {
	SOONEST_NS = 400 * 1000 * 1000,
	RAREST_S = 60,
	LOOKS = 64,   /* as many, about, however long the job is: each time doubles in so many */
	RARER = 2000, /* than what a look costs, */
	SEARCH_RARER = 1000, /* and a search for other ends */
	LITTLE = 10,         /* one tenth of a core */
	LEAST_MS = 500,      /* that is worth a word */
	LEAST_LOOKS = 4
};

/* What was seen in one look: of each kind one process. */
struct seen {
	uint32_t kind[STALL_NUMBER_OF]; /* how many */
	pid_t sleeper;                  /* that of STALL_TIMER */
	struct waiting turns;           /* of which most threads wait for one mutex */
	struct waiting of[STALL_NUMBER_OF];
};

/* NULL: it has run, or what it waits for can be named only now, or passes. */
static const struct looked *looked_before(const struct pauses *p, pid_t pid, int64_t ran_ns)
{
	for (size_t i = 0; i < p->nlooked; i++) {
		const struct looked *l = &p->looked[i];

		if (l->pid == pid && l->ran_ns == ran_ns && ran_ns >= 0 && !l->is.passes &&
		    (l->searched || l->is.is_named || !p->connections.may_search))
			return l;
	}
	return NULL;
}

/* False: it is gone. */
static bool look_at(struct pauses *p, const struct tree *t, const struct root *proc, pid_t pid,
		    struct looked *out)
{
	int64_t ran_ns = tree_ran_ns(t, pid);
	const struct looked *before = looked_before(p, pid, ran_ns);

	if (before) {
		*out = *before;
		return true;
	}
	*out = (struct looked){ pid, ran_ns, p->connections.may_search, { 0 } };
	return !waiting_look(proc, &p->connections, pid, &out->is);
}

static void look(struct pauses *p, const struct tree *t, const struct root *proc, struct seen *seen)
{
	struct looked now[PAUSES_PROCESSES];
	pid_t pid[256];
	size_t n = tree_pids(t, pid, sizeof pid / sizeof pid[0]), looked = 0;

	while (n-- && looked < PAUSES_PROCESSES) {
		const struct waiting *w = &now[looked].is;

		if (!look_at(p, t, proc, pid[n], &now[looked]))
			continue;
		looked++;
		if (w->takers > seen->turns.takers) {
			seen->turns = *w;
			inspection_mask_text(p->secrets, seen->turns.text, sizeof w->text);
		}
		if (seen->kind[w->kind]++ && (!w->is_named || seen->of[w->kind].is_named))
			continue;
		seen->of[w->kind] = *w;
		inspection_mask_text(p->secrets, seen->of[w->kind].text, sizeof w->text);
		if (w->kind == STALL_TIMER)
			seen->sleeper = pid[n];
	}
	memcpy(p->looked, now, looked * sizeof *now);
	p->nlooked = looked;
}

/* Who waits for what another process writes waits for one that sleeps, if one does. */
static bool waits_for_sleeper(const struct seen *seen, enum stall kind)
{
	return seen->kind[STALL_TIMER] && (kind == STALL_PIPE_WRITER || kind == STALL_PIPE_READER ||
					   kind == STALL_LOCAL_SOCKET);
}

static void add(struct pauses *p, const struct seen *seen, enum stall kind, int64_t ns)
{
	struct pause *k = &p->kind[kind];

	if (!seen->kind[kind])
		return;
	if (!k->ns || (waits_for_sleeper(seen, kind) && !k->beside_sleeper) ||
	    (seen->of[kind].is_named && !k->is_named)) {
		k->is_named = seen->of[kind].is_named;
		k->beside_sleeper = waits_for_sleeper(seen, kind);
		snprintf(k->text, sizeof k->text, "%s%s%s", seen->of[kind].text,
			 k->beside_sleeper ? ", while " : "",
			 k->beside_sleeper ? seen->of[STALL_TIMER].text : "");
	}
	k->ns += ns;
	if (seen->kind[kind] > k->most)
		k->most = seen->kind[kind];
}

/* The wait that says most; of a job that runs after all, none. A server has nothing to do while
 * those that might ask it sleep. */
static enum stall most_telling(const struct seen *seen)
{
	int kind = STALL_NONE;

	while (kind < STALL_NUMBER_OF && !seen->kind[kind])
		kind++;
	if (kind == STALL_CONNECTION && seen->kind[STALL_TIMER])
		return STALL_TIMER;
	return kind < STALL_NUMBER_OF ? (enum stall)kind : STALL_NONE;
}

/* Attempts to connect by TCP that failed, in the network namespace of a process. False: not told.
 * Of two lines "Tcp: ..." the first has the names of the columns. */
static bool read_failed(const struct root *proc, pid_t pid, int64_t *out)
{
	char path[32], text[4096];
	const char *names, *values, *end;
	size_t column = 0;

	snprintf(path, sizeof path, "%d/net/snmp", (int)pid);
	names = root_read(proc, path, text, sizeof text) > 0 ? strstr(text, "\nTcp:") : NULL;
	values = names ? strstr(names + 1, "\nTcp:") : NULL;
	end = names ? strstr(names, " AttemptFails") : NULL;
	if (!values || !end || end > values)
		return false;
	for (const char *p = names; p < end; p++)
		column += *p == ' ';
	for (values++; *values && *values != '\n'; values++)
		if (*values == ' ' && !column--) {
			values++;
			return number_i64(&values, out);
		}
	return false;
}

/* Those that failed from one look to the next while the job slept: it may try again and again. */
static void count_failed(struct pauses *p, const struct root *proc, const struct seen *seen,
			 bool sleeps)
{
	int64_t failed;
	bool known = sleeps && read_failed(proc, seen->sleeper, &failed);

	if (known && p->failed_known && failed > p->failed)
		p->connects_failed += failed - p->failed;
	p->failed_known = known;
	p->failed = known ? failed : 0;
}

static void count_turns(struct pause *k, const struct waiting *w)
{
	if (!w->takers)
		return;
	if (!k->looks++)
		snprintf(k->text, sizeof k->text, "%s", w->text);
	if (w->takers > k->most)
		k->most = w->takers;
}

/* Whatever it did since the last look: in how many of them all of it waited. */
static void count_look(struct pauses *p, const struct seen *seen, enum stall kind)
{
	p->looks++;
	count_turns(&p->turns, &seen->turns);
	if (kind == STALL_NONE)
		return;
	add(p, seen, kind, 0);
	p->kind[kind].looks++;
}

static void count(struct pauses *p, const struct root *proc, const struct seen *seen, bool idle,
		  int64_t ns)
{
	enum stall kind = most_telling(seen);

	count_failed(p, proc, seen, idle && kind == STALL_TIMER);
	count_look(p, seen, kind);
	if (idle && kind != STALL_NONE) {
		add(p, seen, kind, ns);
		return;
	}
	add(p, seen, STALL_STOPPED, ns);
	add(p, seen, STALL_FILE_LOCK, ns);
	add(p, seen, STALL_DATABASE, ns);
	add(p, seen, STALL_STORAGE, ns);
}

static int64_t pause_after(const struct pauses *p, int64_t now_ns, int64_t cost_ns)
{
	int64_t wait = (now_ns - p->since_ns) / LOOKS;

	if (wait < SOONEST_NS)
		wait = SOONEST_NS;
	if (wait > RAREST_S * NS_PER_S)
		wait = RAREST_S * NS_PER_S;
	return wait > cost_ns * RARER ? wait : cost_ns * RARER;
}

static void spent(struct pauses *p, int64_t now_ns, int64_t cost_ns)
{
	if (p->connections.searched)
		p->search_ns = now_ns + cost_ns * SEARCH_RARER;
	else
		p->cost_ns = cost_ns;
	p->next_ns = now_ns + pause_after(p, now_ns, p->cost_ns);
}

void pauses_step(struct pauses *p, const struct tree *t, const struct root *proc,
		 const struct sample *s)
{
	int64_t now_ns = s->mono_ns, cpu_ns, ran_ns, ns, began;
	struct seen seen = { 0 };

	if (now_ns < p->next_ns)
		return;
	cpu_ns = tree_cpu_ns(t);
	ran_ns = cpu_ns - p->cpu_ns;
	ns = now_ns - p->looked_ns;
	if (!p->since_ns)
		p->since_ns = p->looked_ns = now_ns;
	else {
		began = clock_cpu_ns();
		p->connections.may_search = now_ns >= p->search_ns;
		p->connections.searched = false;
		look(p, t, proc, &seen);
		count(p, proc, &seen, ran_ns < ns / LITTLE && tree_threads_running(t) <= 0, ns);
		spent(p, now_ns, clock_cpu_ns() - began);
	}
	p->cpu_ns = cpu_ns;
	p->looked_ns = now_ns;
}

void pauses_say_end(const struct pauses *p, struct sample *s)
{
	char key[64];

	if (p->connects_failed)
		sample_meta_int(s, "job.waited.connects_failed", p->connects_failed);
	if (p->looks)
		sample_meta_int(s, "job.waited.looks", p->looks);
	if (p->turns.looks >= LEAST_LOOKS) {
		sample_meta_int(s, "job.waited.turns_looks", p->turns.looks);
		sample_meta_text(s, "job.waited.turns_in", p->turns.text);
		sample_meta_int(s, "job.waited.turns_most", p->turns.most);
	}
	for (int kind = STALL_NONE + 1; kind < STALL_NUMBER_OF; kind++) {
		bool long_one = p->kind[kind].ns >= LEAST_MS * NS_PER_MS;

		if (!long_one && p->kind[kind].looks < LEAST_LOOKS)
			continue;
		snprintf(key, sizeof key, "job.waited.%s_ns", stall_name((enum stall)kind));
		if (long_one)
			sample_meta_int(s, key, p->kind[kind].ns);
		snprintf(key, sizeof key, "job.waited.%s_looks", stall_name((enum stall)kind));
		sample_meta_int(s, key, p->kind[kind].looks);
		snprintf(key, sizeof key, "job.waited.%s_in", stall_name((enum stall)kind));
		sample_meta_text(s, key, p->kind[kind].text);
		snprintf(key, sizeof key, "job.waited.%s_most", stall_name((enum stall)kind));
		sample_meta_int(s, key, p->kind[kind].most);
	}
}

enum { PIDS_MAX = 4096, ASKED_PATIENCE_S = 60, FOLDER = 3, NAME_BYTES = 320 };

/* ---- the process that answers ---- */

static bool read_word(char word[ASKED_WORD])
{
	int fd = openat(FOLDER, ASKED_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, word, ASKED_WORD - 1);

	if (fd >= 0)
		close(fd);
	word[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static void make_answer(struct bytes *out, const struct waits *w, const char *word,
			const char *host)
{
	struct json j = { .out = out };

	json_object(&j);
	json_put_text(&j, "schema", "sonde/stacks/1");
	json_put_text(&j, "asked", word);
	json_put_text(&j, "host", host);
	json_put_int(&j, "ranks", w->ranks);
	json_key(&j, "threads");
	json_array(&j);
	for (uint32_t i = 0; i < w->n; i++)
		wait_put(&j, &w->thread[i]);
	json_array_end(&j);
	json_object_end(&j);
}

/* Whole or not there. */
static void write_answer(const struct bytes *b, const char *host, pid_t recorder)
{
	char name[NAME_BYTES], part[NAME_BYTES + 8];
	size_t done = 0;
	ssize_t n = 1;
	int fd;

	snprintf(name, sizeof name, ASKED_ANSWER "%s.%d.json", host, (int)recorder);
	for (char *c = name; *c; c++)
		if (*c == '/')
			*c = '_';
	snprintf(part, sizeof part, "%s.part", name);
	unlinkat(FOLDER, part, 0);
	fd = openat(FOLDER, part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	while (fd >= 0 && done < b->len && n > 0) {
		n = write(fd, b->data + done, b->len - done);
		done += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0 && (close(fd) || done < b->len || renameat(FOLDER, part, FOLDER, name)))
		unlinkat(FOLDER, part, 0);
}

static _Noreturn void answer(const pid_t *pids, size_t n, pid_t recorder)
{
	char word[ASKED_WORD], host[256] = "";
	struct bytes out = { 0 };
	struct look_state l;
	struct root proc;
	struct waits w;
	struct err e;
	int rc;

	if (!read_word(word))
		_exit(EXIT_SUCCESS);
	rc = look_begin(&l, &w, pids, (uint32_t)n, &e);
	while (!rc)
		rc = look_go_on(&l, NS_PER_S, &e);
	look_end(&l);
	if (!root_open(&proc, "/proc"))
		ranks_find(&w, &proc);
	gethostname(host, sizeof host - 1);
	make_answer(&out, &w, word, host);
	if (!out.failed)
		write_answer(&out, host, recorder);
	_exit(EXIT_SUCCESS);
}

static void begin(struct asked *a, int folder, const struct tree *t, int64_t now_ns)
{
	pid_t pids[PIDS_MAX], recorder = getpid();
	size_t n = tree_pids(t, pids, PIDS_MAX);

	a->begun_ns = now_ns;
	a->pid = n ? fork() : 0;
	if (a->pid < 0)
		a->pid = 0;
	if (a->pid || !n)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "sonde-answer");
	if (folder != FOLDER && dup2(folder, FOLDER) < 0)
		_exit(EXIT_FAILURE);
	descriptors_close(FOLDER + 1, -1);
	answer(pids, n, recorder);
}

/* ---- the recorder ---- */

/* A file that a user of this recording made since the last time. */
static bool is_asked(struct asked *a, int folder)
{
	bool first = !a->due_ns, is_new;
	struct stat st;

	if (fstatat(folder, ASKED_FILE, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) ||
	    (st.st_uid != geteuid() && st.st_uid))
		return false;
	is_new = st.st_mtim.tv_sec != a->seen.tv_sec || st.st_mtim.tv_nsec != a->seen.tv_nsec;
	a->seen = st.st_mtim;
	return is_new && !first;
}

void asked_stop(struct asked *a)
{
	if (a->pid)
		child_end(a->pid);
	a->pid = 0;
}

void asked_step(struct asked *a, int folder, const struct tree *t, int64_t now_ns)
{
	bool asked;

	if (now_ns < a->due_ns || folder <= 0)
		return;
	if (a->pid && waitpid(a->pid, NULL, WNOHANG) != 0)
		a->pid = 0;
	if (a->pid && now_ns - a->begun_ns > ASKED_PATIENCE_S * NS_PER_S)
		asked_stop(a);
	asked = is_asked(a, folder);
	a->due_ns = now_ns + ASKED_S * NS_PER_S;
	if (asked && !a->pid)
		begin(a, folder, t, now_ns);
}
