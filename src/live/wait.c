/* SPDX-License-Identifier: Apache-2.0 */
#include "live/wait.h"

#include "base/root.h"

#include <stdio.h>
#include <string.h>

/* Names of functions begin or go on so, or hold the word; the first row that fits. */
static const struct {
	const char *in, *words;
} functions[] = {
	{ "futex", "a lock or thread" },
	{ "hrtimer_nanosleep", "a timer" },
	{ "nanosleep", "a timer" },
	{ "do_wait", "a child" },
	{ "kernel_wait4", "a child" },
	{ "pipe", "a pipe" },
	{ "fifo", "a pipe" },
	{ "wait_for_partner", "a pipe's other end" },
	{ "poll", "events" },
	{ "do_select", "events" },
	{ "sigsuspend", "a signal" },
	{ "sigtimedwait", "a signal" },
	{ "do_sigtimedwait", "a signal" },
	{ "pause", "a signal" },
	{ "unix_", "a local socket" },
	{ "skb_wait_for_more", "a socket" },
	{ "csk_accept", "a connection" },
	{ "tcp_", "the network" },
	{ "sk_wait", "the network" },
	{ "sk_stream", "the network" },
	{ "rpc_wait", "a file server" },
	{ "nfs", "a file server" },
	{ "cl_sync", "a file server" },
	{ "ptlrpc", "a file server" },
	{ "n_tty_read", "the terminal" },
	{ "do_signal_stop", "to go on" },
	{ "folio_wait", "storage" },
	{ "io_schedule", "storage" },
	{ "wait_on_page", "storage" },
	{ "jbd2", "storage" },
	{ "xlog", "storage" },
	{ "blk_", "storage" },
	{ "submit_bio_wait", "storage" },
	{ "balance_dirty_pages", "storage: writes back" },
	{ "throttle_direct_reclaim", "memory" },
	{ "mem_cgroup", "memory: its limit" },
	{ "flock", "a file's lock" },
	{ "fcntl_setlk", "a file's lock" },
	{ "do_msgrcv", "a message" },
	{ "do_semtimedop", "a semaphore" },
	{ "vfork", "its child to begin" },
};

const char *wait_words_of(char *out, size_t size, char state, const char *function)
{
	const char *words = NULL;

	if (!function || !*function || !strcmp(function, "0"))
		function = NULL;
	for (size_t i = 0; function && !words && i < sizeof functions / sizeof functions[0]; i++)
		words = strstr(function, functions[i].in) ? functions[i].words : NULL;
	switch (state) {
	case 'R':
		snprintf(out, size, "runs");
		break;
	case 'T':
	case 't':
		snprintf(out, size, "stopped");
		break;
	case 'Z':
		snprintf(out, size, "ended, not waited for");
		break;
	case 'D':
		snprintf(out, size, "%s", words ? words : function ? function : "storage, mostly");
		break;
	case 'S':
	case 'I':
		snprintf(out, size, "%s", words ? words : function ? function : "sleeps");
		break;
	default:
		snprintf(out, size, "-");
	}
	return out;
}

const char *wait_words(char *out, size_t size, int64_t pid)
{
	char path[48], stat[512], function[64] = "", *state;
	struct root proc;

	snprintf(out, size, "-");
	if (pid <= 0 || root_open(&proc, "/proc"))
		return out;
	snprintf(path, sizeof path, "%lld/stat", (long long)pid);
	if (root_read(&proc, path, stat, sizeof stat) > 0 && (state = strrchr(stat, ')')) &&
	    state[1] == ' ') {
		snprintf(path, sizeof path, "%lld/wchan", (long long)pid);
		if (state[2] != 'R' && root_read(&proc, path, function, sizeof function) < 0)
			function[0] = '\0';
		wait_words_of(out, size, state[2], function);
	}
	root_close(&proc);
	return out;
}
