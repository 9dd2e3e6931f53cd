/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/task_end.h"

#include "source/process.h"

#include <stdio.h>
#include <sys/wait.h>

static void label_number(struct sample *s, uint32_t instance, const char *key, int64_t value)
{
	char text[24];

	snprintf(text, sizeof text, "%lld", (long long)value);
	sample_label(s, instance, key, text);
}

static void say_end(struct sample *s, uint32_t instance, const struct message *m)
{
	const int64_t used[TASK_FINALS] = {
		[TASK_CPU - TASK_FIRST] = m->total_user_ns + m->total_system_ns,
		[TASK_PEAK_RESIDENT - TASK_FIRST] = m->max_rss_bytes,
	};

	if (WIFSIGNALED(m->status))
		label_number(s, instance, "signal", WTERMSIG(m->status));
	else
		label_number(s, instance, "exit_code", WEXITSTATUS(m->status));
	sample_final(s, instance, &process_metrics[TASK_FIRST], TASK_FINALS, used,
		     (UINT64_C(1) << TASK_FINALS) - 1);
}

void task_end_say(struct sample *s, const struct task_end *t, const struct message *m,
		  int64_t now_ns)
{
	int64_t end_ns = m ? m->at_ns : now_ns;
	uint32_t instance;
	char name[32] = "task";

	if (t->rank >= 0)
		snprintf(name, sizeof name, "rank %lld", (long long)t->rank);
	instance = sample_instance(s, "task", name, 0, t->started_ns ? t->started_ns : end_ns, 0);
	if (!instance)
		return;
	if (t->rank >= 0)
		label_number(s, instance, "rank", t->rank);
	if (t->step[0])
		sample_label(s, instance, "step", t->step);
	if (m)
		say_end(s, instance, m);
	sample_end(s, instance, end_ns);
}
