/* SPDX-License-Identifier: Apache-2.0 */
/* signals: prints "ready", then, 300 ms after the first signal, which came and how often. Exits
 * with 7. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t got[NSIG], any;

static void count(int sig)
{
	got[sig]++;
	any = 1;
}

int main(void)
{
	static const int watched[] = { SIGTERM, SIGINT,  SIGHUP,   SIGQUIT,
				       SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT };
	struct sigaction act = { .sa_handler = count };
	struct timespec left = { .tv_nsec = 300000000 };

	for (size_t i = 0; i < sizeof(watched) / sizeof(watched[0]); i++)
		sigaction(watched[i], &act, NULL);
	puts("ready");
	fflush(stdout);
	while (!any)
		usleep(10000);
	while (nanosleep(&left, &left) && errno == EINTR)
		;
	for (int sig = 1; sig < NSIG; sig++)
		if (got[sig])
			printf("%s %d\n", sigabbrev_np(sig), (int)got[sig]);
	return 7;
}
