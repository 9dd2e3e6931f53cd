/* SPDX-License-Identifier: Apache-2.0 */
/* The rings that the kernel writes births and ends into, whatever lies in them: every record is
 * handed out once, or left out, and the rings are empty then. */
#include "sampler/tree/exits.c" /* its rings are nobody else's */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void forked(void *ctx, pid_t pid, pid_t ppid, pid_t tid, int64_t at_ns)
{
	(void)pid, (void)ppid, (void)tid, (void)at_ns;
	++*(size_t *)ctx;
}

static void named(void *ctx, pid_t pid, pid_t tid, const char *comm, bool exec)
{
	(void)pid, (void)tid, (void)exec;
	if (!comm || strlen(comm) > 16)
		abort();
	++*(size_t *)ctx;
}

static void exited(void *ctx, pid_t pid, pid_t tid, int64_t at_ns)
{
	(void)pid, (void)tid, (void)at_ns;
	++*(size_t *)ctx;
}

static void counted(void *ctx, pid_t pid, int64_t cpu_ns)
{
	(void)pid, (void)cpu_ns;
	++*(size_t *)ctx;
}

static void fill(struct ring *r, const uint8_t *data, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *m =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (m == MAP_FAILED)
		abort();
	*r = (struct ring){ .fd = -1, .page = (void *)m, .data = m + page, .size = page };
	size = size < page ? size : page;
	if (size)
		memcpy(m + page, data, size);
	/* It may lie across the end. */
	r->tail = size ? data[0] / 8 * 8 : 0;
	r->page->data_head = r->tail + size / 8 * 8;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct exits *x = calloc(1, sizeof *x);
	size_t handed = 0, most = size / 8;
	const struct exits_handler h = { &handed, forked, named, exited, counted };

	if (!x)
		return 0;
	x->nrings = 2;
	fill(&x->ring[0], data, size / 2);
	fill(&x->ring[1], data + size / 2, size - size / 2);
	x->ring[1].counts = true;
	exits_drain(x, &h, INT64_MAX);
	for (size_t i = 0; i < 2; i++)
		if (x->ring[i].page && x->ring[i].page->data_head != x->ring[i].tail)
			abort();
	if (handed > most)
		abort();
	exits_close(x);
	return 0;
}
