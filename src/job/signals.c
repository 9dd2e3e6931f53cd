/* SPDX-License-Identifier: Apache-2.0 */
#include "job/signals.h"

#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { KERNEL_SET = SIGNALS / 8 }; /* bytes of the kernel's set */

void signals_all(sigset_t *set)
{
	sigemptyset(set);
	memset(set, 0xff, KERNEL_SET);
}

void signals_one(sigset_t *set, int signal)
{
	uint64_t bit = UINT64_C(1) << (signal - 1);

	sigemptyset(set);
	memcpy(set, &bit, sizeof bit);
}

int signals_mask(int how, const sigset_t *set, sigset_t *old)
{
	if (old)
		sigemptyset(old);
	return (int)syscall(SYS_rt_sigprocmask, how, set, old, KERNEL_SET);
}

/* The kernel's struct sigaction of zeros, which is SIG_DFL without a flag and with an empty mask.
 */
int signals_default(int signal)
{
	static const uint64_t standard[4];

	return (int)syscall(SYS_rt_sigaction, signal, standard, NULL, KERNEL_SET);
}

/* What kill(2) sends and what the kernel itself sends may not be repeated as it was. */
void signals_send(pid_t pid, siginfo_t *info)
{
	if (info->si_code < 0 && info->si_code != SI_TKILL &&
	    !syscall(SYS_rt_sigqueueinfo, pid, info->si_signo, info))
		return;
	kill(pid, info->si_signo);
}
