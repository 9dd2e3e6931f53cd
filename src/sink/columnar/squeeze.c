/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/columnar/squeeze.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <zstd.h>

enum { LEVEL = 1, WORTH_A_THREAD = 1 << 18 };

size_t squeeze(void **context, struct bytes *out, const void *data, size_t n)
{
	size_t size;

	if (!*context)
		*context = ZSTD_createCCtx();
	if (!*context)
		out->failed = true;
	if (!bytes_room(out, ZSTD_compressBound(n)))
		return 0;
	size = ZSTD_compressCCtx(*context, out->data + out->len, out->cap - out->len, data, n,
				 LEVEL);
	if (ZSTD_isError(size)) {
		out->failed = true;
		return 0;
	}
	out->len += size;
	return size;
}

void squeeze_free(void *context)
{
	ZSTD_freeCCtx(context);
}

struct crew {
	struct squeeze_job *jobs;
	size_t n;
	atomic_size_t next;
};

struct hand {
	struct crew *crew;
	void **context;
};

static void *work(void *argument)
{
	struct hand *h = argument;
	size_t i;

	while ((i = atomic_fetch_add(&h->crew->next, 1)) < h->crew->n) {
		/* From the last one: a table's numbers, which take longest, stand behind its
		 * texts, and who gets one at the end keeps the other waiting. */
		struct squeeze_job *j = &h->crew->jobs[h->crew->n - 1 - i];

		bytes_reset(&j->out);
		if (j->n)
			squeeze(h->context, &j->out, j->data, j->n);
	}
	return NULL;
}

static bool another_cpu(void)
{
	cpu_set_t set;

	return !sched_getaffinity(0, sizeof(set), &set) && CPU_COUNT(&set) > 1;
}

void squeeze_all(void *context[SQUEEZE_THREADS], struct squeeze_job *jobs, size_t n)
{
	struct crew crew = { .jobs = jobs, .n = n };
	struct hand mine = { &crew, &context[0] }, other = { &crew, &context[1] };
	pthread_t thread;
	size_t bytes = 0;
	bool helped;

	for (size_t i = 0; i < n; i++)
		bytes += jobs[i].n;
	helped = n > 1 && bytes >= WORTH_A_THREAD && another_cpu() &&
		 !pthread_create(&thread, NULL, work, &other);
	work(&mine);
	if (helped)
		pthread_join(thread, NULL);
}
