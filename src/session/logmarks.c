/* SPDX-License-Identifier: Apache-2.0 */
#include "session/logmarks.h"

#include "base/descriptors.h"
#include "base/orphan.h"
#include "console/say.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

bool logmarks_read(struct mark_log *l, const struct option_list *logs,
		   const struct option_list *rules)
{
	struct err e = { "" };

	*l = (struct mark_log){ .ended = -1 };
	if (!logs->n != !rules->n) {
		say("run: --mark-log FILE and --mark-rule REGEX=NAME belong together: which log, and "
		    "which lines of it are marks");
		return false;
	}
	if (logs->n > MARK_LOGS_MAX) {
		say("run: --mark-log is given more than %d times", MARK_LOGS_MAX);
		return false;
	}
	for (; l->npaths < logs->n; l->npaths++)
		l->path[l->npaths] = logs->text[l->npaths];
	for (; l->nrules < rules->n; l->nrules++)
		if (mark_rule_parse(&l->rule[l->nrules], rules->text[l->nrules], &e)) {
			say("run: --mark-rule %s", e.text);
			return false;
		}
	return true;
}

/* Signals to the job's group are not for it. */
static _Noreturn void be_follower(struct mark_log *l, int ended)
{
	static const int ignored[] = { SIGINT,  SIGQUIT, SIGTERM, SIGHUP,
				       SIGPIPE, SIGUSR1, SIGUSR2, SIGXFSZ };

	prctl(PR_SET_NAME, "sonde-marklog");
	setsid();
	for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
		signal(ignored[i], SIG_IGN);
	descriptors_close(0, ended);
	l->ended = ended;
	mark_log_follow(l);
	_exit(0);
}

int logmarks_start(struct mark_log *l, const char *marks)
{
	int ends[2], forked;

	if (!l->npaths || !*marks)
		return 0;
	l->marks = marks;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
		say("--mark-log: cannot make a socket: %s", strerror(errno));
		return 0;
	}
	forked = orphan_fork();
	if (!forked)
		be_follower(l, ends[1]);
	for (; l->nrules; l->nrules--) /* it has its own copies */
		mark_rule_free(&l->rule[l->nrules - 1]);
	close(ends[1]);
	if (forked > 0)
		return ends[0];
	close(ends[0]);
	say("--mark-log: cannot fork: %s", strerror(-forked));
	return 0;
}
