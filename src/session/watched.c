/* SPDX-License-Identifier: Apache-2.0 */
#include "session/watched.h"

#include "base/child.h"
#include "base/descriptors.h"
#include "console/say.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BEGIN_MS = 15000, END_MS = 3000, STEP_MS = 10, GONE_MS = 500 };

static void directory_remove(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		if (!strncmp(entry->d_name, "node-", 5))
			unlinkat(dirfd(d), entry->d_name, 0);
	if (d)
		closedir(d);
	rmdir(path);
}

/* ---- the recorder ---- */

/* From then on the terminal is another's. */
static void tell_begun(const void *context, const char *name)
{
	const int *begun = context;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)name;
	if (null >= 0)
		dup2(null, STDERR_FILENO);
	(void)!write(*begun, "", 1);
}

/* What `attach` takes without options; perf events are left to what may be asked for. */
static bool options_fill(struct recording_options *o, const char *directory, int64_t interval_ns)
{
	static const struct option rows[] = { RECORDING_OPTIONS };
	struct args none = { 0 };

	*o = (struct recording_options){ 0 };
	if (args_parse(rows, sizeof rows / sizeof rows[0], o, &none, NULL))
		return false;
	o->output = directory;
	o->interval_ns = interval_ns;
	o->perf = "off";
	o->sync_ns = 0;
	o->quiet = true;
	return true;
}

/* Until they have ended, or whoever watches has. */
static int record(const char *directory, struct attached *x, int64_t interval_ns, int begun)
{
	struct recording_options o;
	struct recording_plan *plan = calloc(1, sizeof *plan);
	struct recorder_options r;
	int rc = -ENOMEM;

	if (plan && options_fill(&o, directory, interval_ns) && recording_plan(plan, &o)) {
		r = attached_recorder(plan, x);
		r.opened = tell_begun;
		r.opened_context = &begun;
		rc = recorder_run(&r);
		identity_free(&plan->identity);
	}
	free(plan);
	return rc;
}

/* In a session of its own, so that neither Ctrl-C nor Ctrl-Z reaches it; it ends with whoever
 * watches, and leaves nothing behind. */
static _Noreturn void be_recorder(const struct watched *w, struct attached *x, int64_t interval_ns,
				  int begun)
{
	setsid();
	descriptors_close(3, begun);
	descriptors_null(STDERR_FILENO);
	prctl(PR_SET_NAME, "sonde-recorder");
	if (!record(w->directory, x, interval_ns, begun))
		while (!attached_signalled()) /* their end is shown as long as somebody looks */
			poll(NULL, 0, GONE_MS);
	directory_remove(w->directory);
	_exit(0);
}

/* ---- the calls ---- */

static bool directory_make(char *path, size_t size)
{
	const char *where = getenv("TMPDIR");

	return (size_t)snprintf(path, size, "%s/sonde-top.XXXXXX",
				where && where[0] == '/' ? where : "/tmp") < size &&
	       mkdtemp(path);
}

static bool wait_begun(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char byte;

	return poll(&p, 1, BEGIN_MS) > 0 && read(fd, &byte, 1) == 1;
}

static int begin(struct watched *w, struct attached *x, int64_t interval_ns)
{
	pid_t self = getpid();
	int ends[2];
	bool begun;

	if (!directory_make(w->directory, sizeof w->directory) || pipe2(ends, O_CLOEXEC)) {
		say("top: cannot make a directory for the recording: %s", strerror(errno));
		return EXIT_FAILED;
	}
	w->recorder = fork();
	if (!w->recorder) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() == self)
			be_recorder(w, x, interval_ns, ends[1]);
		_exit(0);
	}
	if (w->recorder < 0)
		say("top: cannot fork: %s", strerror(errno));
	close(ends[1]);
	begun = w->recorder > 0 && wait_begun(ends[0]);
	close(ends[0]);
	if (!begun)
		watched_end(w);
	return begun ? EXIT_OK : EXIT_FAILED;
}

int watched_begin(struct watched *w, const char *pids, int64_t interval_ns)
{
	struct attached *x = calloc(1, sizeof *x);
	int code = EXIT_FAILED;

	if (!x) {
		say("top: out of memory");
	} else if (!attached_pids(x, pids)) {
		say("top: -p %s is not a list of at most %d process ids, as 1234,1235", pids,
		    ATTACHED_PIDS);
		code = EXIT_USAGE;
	} else {
		snprintf(x->command, sizeof x->command, "top -p %s", pids);
		code = begin(w, x, interval_ns);
	}
	free(x);
	return code;
}

void watched_end(struct watched *w)
{
	bool gone = w->recorder <= 0;

	if (!gone)
		kill(w->recorder, SIGTERM);
	for (int ms = 0; !gone && ms < END_MS; ms += STEP_MS) {
		gone = waitpid(w->recorder, NULL, WNOHANG) != 0;
		if (!gone)
			usleep(STEP_MS * 1000);
	}
	if (!gone)
		child_end(w->recorder);
	directory_remove(w->directory);
}
