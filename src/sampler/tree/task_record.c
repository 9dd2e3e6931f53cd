/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/tree/task_record.h"

#include "base/clock.h"
#include "source/process.h"

#include <stdio.h>
#include <sys/wait.h>

static void label_number(struct sample *s, uint32_t instance, const char *key, int64_t value)
{
	char text[24];

	snprintf(text, sizeof text, "%lld", (long long)value);
	sample_label(s, instance, key, text);
}

void task_record_begin(struct sample *s, struct task_record *t, int64_t at_ns)
{
	char name[32] = "task";

	if (t->rank >= 0)
		snprintf(name, sizeof name, "rank %lld", (long long)t->rank);
	t->instance = sample_instance(s, "task", name, 0, at_ns, 0);
	if (!t->instance)
		return;
	if (t->rank >= 0)
		label_number(s, t->instance, "rank", t->rank);
	if (t->step[0])
		sample_label(s, t->instance, "step", t->step);
	if (t->pid > 0) /* by which its processes are known */
		label_number(s, t->instance, "command_pid", t->pid);
	if (t->goes_on)
		sample_label(s, t->instance, "goes_on", "1");
}

void task_record_started(struct sample *s, struct task_record *t, const struct message *m)
{
	if (m->kind != MESSAGE_STARTED || t->instance)
		return;
	t->pid = m->pid;
	task_record_begin(s, t, m->at_ns);
}

static void say_used(struct sample *s, struct task_record *t, int64_t cpu_ns, int64_t peak_bytes)
{
	const int64_t used[TASK_FINALS] = {
		[TASK_CPU - TASK_FIRST] = cpu_ns,
		[TASK_PEAK_RESIDENT - TASK_FIRST] = peak_bytes,
	};
	const uint64_t peak = UINT64_C(1) << (TASK_PEAK_RESIDENT - TASK_FIRST);
	const uint64_t all = (UINT64_C(1) << TASK_FINALS) - 1;

	sample_final(s, t->instance, &process_metrics[TASK_FIRST], TASK_FINALS, used,
		     peak_bytes < 0 ? all & ~peak : all);
	t->used_ns = cpu_ns;
}

void task_record_used(struct sample *s, struct task_record *t, int64_t cpu_ns)
{
	if (t->instance && cpu_ns > t->used_ns + t->used_ns / 20 + NS_PER_MS)
		say_used(s, t, cpu_ns, -1);
}

void task_record_end(struct sample *s, struct task_record *t, const struct message *m)
{
	if (!t->instance)
		task_record_begin(s, t, m->at_ns);
	if (!t->instance)
		return;
	if (WIFSIGNALED(m->status))
		label_number(s, t->instance, "signal", WTERMSIG(m->status));
	else
		label_number(s, t->instance, "exit_code", WEXITSTATUS(m->status));
	say_used(s, t, m->total_user_ns + m->total_system_ns,
		 m->max_rss_bytes > 0 ? m->max_rss_bytes : -1);
	sample_end(s, t->instance, m->at_ns);
}

void task_record_lost(struct sample *s, struct task_record *t, int64_t cpu_ns, int64_t now_ns)
{
	if (!t->instance)
		task_record_begin(s, t, now_ns);
	if (!t->instance)
		return;
	if (cpu_ns > t->used_ns)
		say_used(s, t, cpu_ns, -1);
	sample_end(s, t->instance, now_ns);
}
