/* SPDX-License-Identifier: Apache-2.0 */
/* A process of the job and its child, whose files hold anything, sampled three times, on other
 * texts after the first: nothing but values of series comes out, no total is below 0. */
#include "sampler/tree/tree.h"
#include "tree_fuzz.h"

static const char *const paths[] = { "proc/loadavg",
				     "proc/7/stat",
				     "proc/7/statm",
				     "proc/7/io",
				     "proc/7/smaps_rollup",
				     "proc/7/status",
				     "proc/7/schedstat",
				     "proc/7/task/7/children",
				     "proc/8/stat",
				     "proc/8/statm",
				     NULL };

static void check(const struct tree *t)
{
	struct tree_totals all;

	tree_totals(t, &all);
	if (all.cpu_ns < 0 || all.attributed_ns < 0 || all.live < 0 || all.started < 0 ||
	    all.started > 1000000 || all.peak_memory_bytes < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const pid_t root = 7;
	struct tree_options o = { .roots = &root,
				  .nroots = 1,
				  .process_events = PROCESS_EVENTS_POLLING,
				  .pss = PSS_ALWAYS };
	struct root proc;
	struct sample s;
	struct tree *t;

	for (const char *const *p = paths; *p; p++)
		tree_fuzz_make_directories(*p);
	mkdir("proc/7/fd", 0700);
	tree_fuzz_fill(paths, &data, &size);
	if (sample_init(&s, 16384, 4096) < 0 || root_open(&proc, "proc") < 0)
		abort();
	o.proc = &proc;
	sample_begin(&s, 1, 1);
	if (tree_open(&t, &o, &s, NULL) == 0) {
		for (int64_t i = 1; i <= 3; i++) {
			sample_begin(&s, i, s.mono_ns + INT64_C(11000000000));
			tree_sample(t, &s, i == 3);
			tree_fuzz_check(&s);
			check(t);
			if (i == 1 && size)
				tree_fuzz_fill(paths, &data, &size);
		}
		tree_close(t);
	}
	root_close(&proc);
	sample_free(&s);
	return 0;
}
