/* SPDX-License-Identifier: Apache-2.0 */
#include "perfmon/aside.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "base/text/escape.h"
#include "base/text/number.h"
#include "sampler/tree/members.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define OLD_NS    (3 * NS_PER_S) /* an srun that gets its CPUs has its step by then */
#define LOOK_NS   (2 * NS_PER_S)
#define ANSWER_NS (8 * NS_PER_S)  /* how long Slurm may take to answer */
#define LAUNCH_NS (60 * NS_PER_S) /* the new step needs no CPUs of its own */
#define GONE_NS   NS_PER_S
#define READY     "sonde-perfmon: ready"

enum { COMMAND_MOST = 1 << 18, WORDS_MOST = 256, LOOK_MS = 20 };

/* ---- what waits ---- */

static const char *field(const char *line, size_t n, const char *name, size_t *length)
{
	size_t skip = strlen(name);

	for (size_t i = 0; i + skip <= n; i++)
		if ((!i || line[i - 1] == ' ') && !memcmp(line + i, name, skip)) {
			*length = strcspn(line + i + skip, " \n");
			return line + i + skip;
		}
	*length = 0;
	return "";
}

static bool is_word(const char *text, size_t n, const char *word)
{
	return n == strlen(word) && !memcmp(text, word, n);
}

/* "17.0", "17_3.batch": what is behind the last dot. */
static const char *step_of(const char *id, size_t *n)
{
	for (size_t i = *n; i-- > 0;)
		if (id[i] == '.') {
			*n -= i + 1;
			return id + i + 1;
		}
	return id;
}

/* "n1:4711"; 0: none is told. */
static pid_t pid_of(const char *text, size_t n)
{
	const char *p = text + n;
	int64_t pid;

	while (p > text && p[-1] != ':')
		p--;
	return p > text && number_i64(&p, &pid) && pid > 0 && pid <= INT32_MAX ? (pid_t)pid : 0;
}

static bool is_job_step(const struct aside *a, const char *step, size_t n)
{
	const char *own = a->job->text[BATCH_STEP];

	return n && *step >= '0' && *step <= '9' && !(own && is_word(step, n, own));
}

static void forget(struct aside *left, pid_t pid)
{
	for (size_t i = 0; i < left->nwaiters; i++)
		if (left->waiter[i] == pid)
			left->waiter[i--] = left->waiter[--left->nwaiters];
}

bool aside_blocks(const struct aside *a, const char *steps)
{
	struct aside left = *a;
	bool told = false;

	for (const char *line = steps; *line;) {
		size_t length = strcspn(line, "\n"), id_n, state_n, pid_n;
		const char *id = field(line, length, "StepId=", &id_n);
		const char *state = field(line, length, "State=", &state_n);
		const char *pid = field(line, length, "SrunHost:Pid=", &pid_n);

		line += length + (line[length] == '\n');
		if (!id_n || is_word(state, state_n, "PENDING"))
			continue;
		id = step_of(id, &id_n);
		if (is_job_step(a, id, id_n))
			return false; /* it may be that one's CPUs that are waited for */
		told |= a->job->text[BATCH_STEP] && is_word(id, id_n, a->job->text[BATCH_STEP]);
		forget(&left, pid_of(pid, pid_n));
	}
	return told && left.nwaiters;
}

static int64_t age_ns(const struct proc_stat *st)
{
	return clock_boot_ns() - st->starttime * (NS_PER_S / sysconf(_SC_CLK_TCK));
}

/* Sruns that are old enough to have a step; not the shepherd that each of them forks. */
static void find_waiters(struct aside *a)
{
	const struct members *m = a->members;
	pid_t pids[2 * ASIDE_WAITERS];
	size_t n = members_named(m, "srun", pids, sizeof pids / sizeof pids[0]);

	a->nwaiters = 0;
	for (size_t i = 0; i < n && a->nwaiters < ASIDE_WAITERS; i++) {
		struct proc_stat st, parent;

		if (members_stat(m, pids[i], &st) && age_ns(&st) >= OLD_NS &&
		    !(members_stat(m, st.ppid, &parent) && !strcmp(parent.comm, "srun")))
			a->waiter[a->nwaiters++] = st.pid;
	}
}

/* ---- commands of Slurm ---- */

/* What srun is to read of this step's environment: of SLURM_*, only what tells of the job. */
static bool is_kept(const char *variable)
{
	static const char *const kept[] = { "SLURM_CONF=",    "SLURM_JOB_ID=", "SLURM_JOBID=",
					    "SLURM_JOB_",     "SLURM_ARRAY_",  "SLURM_CLUSTER",
					    "SLURM_RESTART_", "SLURM_SUBMIT_", "SLURM_WORKING_" };
	static const char *const dropped[] = { "SLURM_", "SRUN_", "PMI_", "PMIX_" };

	for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
		if (!strncmp(variable, kept[i], strlen(kept[i])))
			return true;
	for (size_t i = 0; i < sizeof dropped / sizeof dropped[0]; i++)
		if (!strncmp(variable, dropped[i], strlen(dropped[i])))
			return false;
	return true;
}

static void clean_environment(void)
{
	char **to = environ;

	for (char **from = environ; *from; from++)
		if (is_kept(*from))
			*to++ = *from;
	*to = NULL;
}

static void ask(struct aside *a)
{
	char *id = (char *)(uintptr_t)a->job->text[BATCH_RAW_ID];
	char *argv[] = { (char[]){ "scontrol" },
			 (char[]){ "-o" },
			 (char[]){ "show" },
			 (char[]){ "step" },
			 id,
			 NULL };

	a->next_ns += ANSWER_NS;
	asking_start(&a->asked, argv, NULL);
}

/* All processes are looked at, and Slurm is asked: less often, the longer perfmon runs. */
static void look(struct aside *a, int64_t now)
{
	asking_end(&a->asked, SIGKILL); /* Slurm is in no mood to answer */
	a->begun_ns = a->begun_ns ? a->begun_ns : now;
	a->next_ns = now + LOOK_NS + (now - a->begun_ns) / 4;
	find_waiters(a);
	if (a->nwaiters)
		ask(a);
}

bool aside_is_due(void *aside)
{
	struct aside *a = aside;
	int64_t now = clock_mono_ns();

	if (!a->decides || a->due)
		return a->due;
	if (a->asked.pid && !asking_take(&a->asked)) {
		a->blocked = aside_blocks(a, asking_text(&a->asked));
		asking_end(&a->asked, SIGKILL);
	} else if (now >= a->next_ns) {
		look(a, now);
	}
	a->due = a->blocked || (!*a->saw && now >= a->alone_ns);
	return a->due;
}

void aside_close(struct aside *a)
{
	asking_end(&a->asked, SIGKILL);
}

/* ---- the new step ---- */

struct words {
	char *argv[WORDS_MOST];
	size_t n;
	char text[1024]; /* of those that are made here */
	size_t used;
};

static void add(struct words *w, char *word)
{
	if (w->n < WORDS_MOST - 1)
		w->argv[w->n++] = word;
}

__attribute__((format(printf, 2, 3))) static void make(struct words *w, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(w->text + w->used, sizeof w->text - w->used, format, ap);
	va_end(ap);
	if (n < 0 || w->used + (size_t)n + 1 > sizeof w->text)
		return;
	add(w, w->text + w->used);
	w->used += (size_t)n + 1;
}

/* This command as it was given, behind this program's own path. */
static int add_command(struct words *w, char exe[PATH_MAX], struct bytes *line, struct err *e)
{
	ssize_t n = readlink("/proc/self/exe", exe, PATH_MAX - 1);
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	char *word, *end;

	char buf[4096];
	ssize_t got;

	while (fd >= 0 && line->len < COMMAND_MOST && (got = read(fd, buf, sizeof buf)) > 0)
		bytes_put(line, buf, (size_t)got);
	if (fd >= 0)
		close(fd);
	if (n <= 0 || !line->len || line->failed || line->data[line->len - 1])
		return err_set(e, -EIO, "cannot read this program's command line in /proc");
	exe[n] = '\0';
	add(w, exe);
	make(w, "perfmon");
	word = (char *)line->data;
	end = word + line->len;
	word += strlen(word) + 1; /* called as perfmon, or as `sonde perfmon` */
	if (word < end && !strcmp(word, "perfmon"))
		word += strlen(word) + 1;
	for (; word < end; word += strlen(word) + 1)
		add(w, word);
	return w->n < WORDS_MOST - 1 ? 0 : err_set(e, -E2BIG, "the command line is too long");
}

static long nodes_of(const struct batch_job *j)
{
	return j->number[BATCH_NODES] > 0 ? (long)j->number[BATCH_NODES] : 1;
}

static void add_srun(struct words *w, const struct batch_job *j)
{
	make(w, "srun");
	make(w, "--jobid=%s", j->text[BATCH_RAW_ID]);
	make(w, "--overlap");
	make(w, "--nodes=%ld", nodes_of(j));
	make(w, "--ntasks=%ld", nodes_of(j));
	make(w, "--ntasks-per-node=1");
	make(w, "--cpus-per-task=1");
	make(w,
	     "--mem=0"); /* takes none from other steps: before 21.08 --overlap is of CPUs only */
	make(w, "--cpu-bind=none");
	make(w, "--mpi=none");
	make(w, "--input=none");
	make(w, "--kill-on-bad-exit=0");
	make(w, "--wait=0");
	make(w, "--job-name=perfmon");
}

static long count_ready(const char *text)
{
	long n = 0;

	for (const char *p = text; (p = strstr(p, READY)); p += strlen(READY))
		n++;
	return n;
}

/* Of what srun said, the last line that is its own. */
static void last_line(char *out, size_t size, const char *text)
{
	*out = '\0';
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
		if (*line != '\n' && strncmp(line, READY, strlen(READY)) != 0)
			snprintf(out, size, "%.*s", (int)strcspn(line, "\n"), line);
}

/* Until a copy on each node records. */
static int await_ready(const struct batch_job *j, struct asking *srun, struct err *e)
{
	int64_t until = clock_mono_ns() + LAUNCH_NS;
	bool goes_on = true;
	char last[256];
	long ready = 0;

	while (goes_on && ready < nodes_of(j) && clock_mono_ns() < until) {
		goes_on = !asking_take_all(srun, LOOK_MS * NS_PER_MS);
		ready = count_ready(asking_text(srun));
	}
	last_line(last, sizeof last, asking_text(srun));
	if (ready)
		return 0;
	return err_set(e, -ETIME, "srun --overlap %s%s%s", goes_on ? "started nothing" : "failed",
		       last[0] ? ": " : "", last);
}

/* The shepherd, srun's child, ends the step when srun ends: it has to end first. */
static void kill_shepherd(const struct aside *a, pid_t srun)
{
	int64_t until = clock_mono_ns() + GONE_NS;
	pid_t pids[ASIDE_WAITERS];
	size_t n;

	while ((n = members_children(a->members, srun, pids, ASIDE_WAITERS)) &&
	       clock_mono_ns() < until) {
		for (size_t i = 0; i < n; i++)
			kill(pids[i], SIGKILL);
		nanosleep(&(struct timespec){ .tv_nsec = LOOK_MS * NS_PER_MS }, NULL);
	}
}

int aside_continue(const struct aside *a, struct err *e)
{
	struct asking srun = { 0 };
	struct words w = { .n = 0 };
	struct bytes line = { 0 };
	char exe[PATH_MAX];
	int bad;

	add_srun(&w, a->job);
	bad = add_command(&w, exe, &line, e);
	setenv(ASIDE_VARIABLE, a->job->text[BATCH_STEP] ? a->job->text[BATCH_STEP] : "", 1);
	if (!bad && (bad = asking_start(&srun, w.argv, clean_environment)))
		err_set(e, bad, "cannot start srun: %s", strerror(-bad));
	bytes_free(&line);
	if (!bad && !(bad = await_ready(a->job, &srun, e)))
		kill_shepherd(a, srun.pid);
	asking_end(&srun, bad ? SIGTERM : SIGKILL);
	return bad;
}

void aside_say_ready(void)
{
	if (getenv(ASIDE_VARIABLE))
		dprintf(STDOUT_FILENO, READY "\n");
}

/* The variable at *p, "$NAME" or "${NAME}"; *p moves behind it. As a shell, but that one that is
 * not set is left as it is written, so that the sentence about the directory shows it. */
static void put_variable(struct bytes *b, const char **p)
{
	const char *start = *p, *name = start + 1 + (start[1] == '{'), *end = name;
	char key[256];
	const char *value = NULL;

	while (isalnum((unsigned char)*end) || *end == '_')
		end++;
	snprintf(key, sizeof key, "%.*s", (int)(end - name), name);
	if (end > name && (start[1] != '{' || *end == '}'))
		value = getenv(key);
	*p = !value ? start + 1 : end + (start[1] == '{');
	if (value)
		bytes_puts(b, value);
	else
		bytes_u8(b, '$');
}

static void put_expanded(struct bytes *b, const char *text)
{
	const char *home = getenv("HOME");

	if (text[0] == '~' && (!text[1] || text[1] == '/') && home) {
		bytes_puts(b, home);
		text++;
	}
	while (*text)
		if (*text == '$')
			put_variable(b, &text);
		else
			bytes_u8(b, (uint8_t)*text++);
}

static void put_here(struct bytes *b)
{
	char here[PATH_MAX];

	if (getcwd(here, sizeof here))
		bytes_puts(b, here);
	else
		b->failed = true;
}

static bool given(const char *text)
{
	return text && text[0];
}

static bool is_name(const char *text)
{
	return given(text) && !strchr(text, '/') && strcmp(text, ".") != 0 &&
	       strcmp(text, "..") != 0;
}

/* All four, none, or a fault. */
static int check_names(const struct perfmon_names *n, bool *benchmark, struct err *e)
{
	const struct {
		const char *option, *text;
	} all[] = { { "system", n->system },
		    { "partition", n->partition },
		    { "env", n->env },
		    { "name", n->name } };
	size_t some = 0, count = sizeof all / sizeof all[0];

	for (size_t i = 0; i < count; i++)
		some += given(all[i].text);
	*benchmark = some == count;
	for (size_t i = 0; some && i < count; i++) {
		if (!given(all[i].text))
			return err_set(e, -EINVAL,
				       "--system, --partition, --env and --name must be used "
				       "together: add --%s, or remove all of them",
				       all[i].option);
		if (!is_name(all[i].text))
			return err_set(e, -EINVAL,
				       "--%s names a directory of its own, without '/', not '%s'",
				       all[i].option, all[i].text);
	}
	return 0;
}

static int take(char out[PATH_MAX], struct bytes *b, struct err *e)
{
	bytes_u8(b, '\0');
	if (b->failed || b->len > PATH_MAX)
		return err_set(e, -ENAMETOOLONG,
			       "the directory's name is too long; name another "
			       "with -d");
	memcpy(out, b->data, b->len);
	b->len--;
	return 0;
}

int perfmon_place_find(struct perfmon_place *p, const struct perfmon_names *n, struct err *e)
{
	struct bytes b = { 0 }, saved = { 0 };
	int bad = check_names(n, &p->benchmark, e);

	if (bad)
		return bad;
	put_expanded(&saved, given(n->save_dir) ? n->save_dir : "");
	if (!saved.len || saved.data[0] != '/')
		put_here(&b);
	if (saved.len && saved.data[0] != '/')
		bytes_u8(&b, '/');
	bytes_put(&b, saved.data, saved.len);
	bad = take(p->save_dir, &b, e);
	if (given(n->prefix))
		bytes_printf(&b, "/%s", n->prefix);
	if (p->benchmark)
		bytes_printf(&b, "/perfmetrics/%s/%s/%s/%s", n->system, n->partition, n->env,
			     n->name);
	if (!bad)
		bad = take(p->directory, &b, e);
	bytes_free(&b);
	bytes_free(&saved);
	return bad;
}

static int place_make(const char *path, struct err *e)
{
	char part[PATH_MAX];

	for (size_t n = 1;; n++) {
		n += strcspn(path + n, "/");
		snprintf(part, sizeof part, "%.*s", (int)n, path);
		if (mkdir(part, 0700) && errno != EEXIST)
			return err_set(e, -errno,
				       "cannot make the directory %s: %s; name another with -d",
				       part, strerror(errno));
		if (!path[n])
			return 0;
	}
}

int perfmon_place_make(const struct perfmon_place *p, struct err *e)
{
	int bad = place_make(p->save_dir, e);

	return bad ? bad : place_make(p->directory, e);
}

enum { MESSAGE_BYTES = 2048 };

#define LOG_NAME "ska_sdp_monitoring_metrics"

int logfile_open(struct logfile *l, const char *directory, const char *host, bool debug,
		 struct err *e)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof path, "%s/" LOG_NAME "%s%s.log", directory, debug ? "_" : "",
			 debug ? host : "");

	*l = (struct logfile){ .host = host, .debug = debug };
	if (n < 0 || (size_t)n >= sizeof path)
		return err_set(e, -ENAMETOOLONG, "the name of the log in %.200s is too long",
			       directory);
	l->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
	if (l->fd >= 0)
		return 0;
	n = errno;
	l->fd = 0;
	return err_set(e, -n, "cannot write the log %s: %s; name another directory with -d", path,
		       strerror(n));
}

void logfile_close(struct logfile *l)
{
	if (l->fd)
		close(l->fd);
	l->fd = 0;
}

void logfile_write(const struct logfile *l, enum log_level level, const char *function, int line,
		   const char *format, ...)
{
	static const char *const levels[] = { "DEBUG", "INFO", "WARNING", "ERROR" };
	char text[MESSAGE_BYTES], message[MESSAGE_BYTES], stamp[32], whole[MESSAGE_BYTES + 512];
	time_t now = time(NULL);
	struct tm tm;
	va_list ap;
	int n;

	if (!l->fd || (level == LEVEL_DEBUG && !l->debug))
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	if (!localtime_r(&now, &tm) || !strftime(stamp, sizeof stamp, "%Y-%m-%d %H:%M:%S", &tm))
		stamp[0] = '\0';
	n = snprintf(whole, sizeof whole, "%s | %s | %s | sonde.perfmon:%s | %d | %s\n", stamp,
		     levels[level], l->host, function, line,
		     escape_terminal_into(message, sizeof message, text));
	if (n > 0 && (size_t)n < sizeof whole && write(l->fd, whole, (size_t)n) != n)
		return; /* a full disk: it is not the log that matters */
}
