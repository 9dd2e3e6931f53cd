/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/hang.h"

#include "source/procfile.h"

#include <stdio.h>
#include <string.h>

enum { PROCESSES_SHOWN = 6, EVIDENCE_BYTES = 400 };

static const char *state_words(char state)
{
	switch (state) {
	case 'D':
		return "waits uninterruptibly";
	case 'T':
	case 't':
		return "is stopped";
	default:
		return "sleeps";
	}
}

/* The kernel function that it waits in, which may be hidden: then it is "0". */
static void read_wchan(const struct root *proc, pid_t pid, char *out, size_t size)
{
	char path[48];
	ssize_t n;

	snprintf(path, sizeof path, "%d/wchan", (int)pid);
	n = root_read(proc, path, out, size);
	if (n <= 0 ||
	    out[strspn(out, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			    "0123456789_.")] ||
	    strcmp(out, "0") == 0)
		*out = '\0';
}

/* "solver (pid 12, 16 threads) sleeps in futex_wait_queue" of its first thread. ready: set when it
 * wants a core. */
static int describe(const struct root *proc, pid_t pid, char *out, size_t size, bool *ready)
{
	char path[48], text[512], wchan[64], threads[32] = "";
	struct proc_stat st;

	snprintf(path, sizeof path, "%d/stat", (int)pid);
	if (root_read(proc, path, text, sizeof text) <= 0 || proc_stat_parse(text, &st) != 0)
		return 0;
	*ready = *ready || st.state == 'R';
	read_wchan(proc, pid, wchan, sizeof wchan);
	if (st.num_threads > 1)
		snprintf(threads, sizeof threads, ", %lld threads", (long long)st.num_threads);
	return snprintf(out, size, "%s (pid %d%s) %s%s%s", st.comm, (int)pid, threads,
			state_words(st.state), *wchan ? " in " : "", wchan);
}

/* Of the last ones that were born: what they wait in is what the others wait for. False: one of
 * them wants a core, or a thread that was looked at did: others hold the job up, it does not hang.
 */
static bool collect(const struct tree *t, const struct root *proc, char *out, size_t size)
{
	pid_t pid[256];
	size_t n = tree_pids(t, pid, sizeof pid / sizeof pid[0]), len = 0, shown = 0;
	bool ready = tree_threads_running(t) > 0;

	*out = '\0';
	while (!ready && n-- && shown < PROCESSES_SHOWN) {
		char one[160];
		int length = describe(proc, pid[n], one, sizeof one, &ready);

		if (length <= 0 || len + (size_t)length + 3 > size)
			continue;
		len += (size_t)snprintf(out + len, size - len, "%s%s", shown ? "; " : "", one);
		shown++;
	}
	return !ready;
}

static void begin_anew(struct hang *h, int64_t cpu_ns, int64_t now_ns)
{
	h->since_ns = now_ns;
	h->cpu_ns = cpu_ns;
	h->told = false;
}

void hang_step(struct hang *h, const struct tree *t, const struct root *proc, struct sample *s)
{
	int64_t cpu_ns, now_ns = s->mono_ns;
	char evidence[EVIDENCE_BYTES];

	if (!h->patience_ns)
		return;
	cpu_ns = tree_cpu_ns(t);
	if (!h->since_ns || cpu_ns - h->cpu_ns > h->patience_ns / 100) {
		if (h->told)
			sample_mark(s, 0, now_ns, "sonde.progress", "the job went on");
		begin_anew(h, cpu_ns, now_ns);
		return;
	}
	if (now_ns - h->since_ns < h->patience_ns)
		return;
	if (h->told) { /* what little it uses does not add up to progress */
		h->since_ns = now_ns;
		h->cpu_ns = cpu_ns;
		return;
	}
	if (!collect(t, proc, evidence, sizeof evidence))
		return;
	sample_mark(s, 0, now_ns, "sonde.hang", *evidence ? evidence : "no process was left");
	h->told = true;
}
