/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - memory and swap of the node: /proc/meminfo, proc_meminfo(5), fields found by name. */
#include "base/text/number.h"
#include "source/kept.h"
#include "source/meminfo.h"
#include "source/source.h"

#include <errno.h>
#include <string.h>

enum { ROOM = 4096 };

/* K: kibibytes; N: a number of huge pages. In the kernel's order, which makes the search short. */
#define FIELDS(K, N)                                                                               \
	K("MemTotal", "memory_total", "Memory present", "Memory the kernel manages.")              \
	K("MemFree", "memory_free", "Free", "Memory nothing uses.")                                \
	K("MemAvailable", "memory_available", "Available",                                         \
	  "Memory that programs can still get without swapping, as the kernel estimates it.")      \
	K("Buffers", "memory_buffers", "Buffers", "Page cache of block devices.")                  \
	K("Cached", "memory_cached", "Cached", "Page cache of files, shared memory included.")     \
	MEMINFO_USE(K)                                                                             \
	K("SwapTotal", "swap_total", "Swap present", "Swap space.")                                \
	K("SwapFree", "swap_free", "Swap free", "Swap space nothing uses.")                        \
	K("Zswap", "zswap_compressed", "Zswap", "Memory the compressed swap cache takes.")         \
	K("Zswapped", "zswap_stored", "Zswapped", "Memory kept in the compressed swap cache.")     \
	MEMINFO_WRITING(K)                                                                         \
	MEMINFO_ANONYMOUS(K)                                                                       \
	MEMINFO_MAPPED(K)                                                                          \
	MEMINFO_SHARED(K)                                                                          \
	MEMINFO_SLAB(K)                                                                            \
	MEMINFO_KERNEL(K)                                                                          \
	K("SecPageTables", "memory_secondary_page_tables", "Secondary page tables",                \
	  "Page tables of virtual machines and of IOMMUs.")                                        \
	K("CommitLimit", "memory_commit_limit", "Commit limit",                                    \
	  "Most memory that may be promised under strict overcommit.")                             \
	K("Committed_AS", "memory_committed", "Committed", "Memory promised to programs.")         \
	K("VmallocUsed", "memory_vmalloc", "Vmalloc", "Kernel memory from vmalloc.")               \
	K("Percpu", "memory_percpu", "Per-CPU", "Kernel memory kept per core.")                    \
	K("HardwareCorrupted", "memory_corrupted", "Corrupted",                                    \
	  "Memory the kernel gave up because the hardware failed.")                                \
	MEMINFO_HUGE(K)                                                                            \
	MEMINFO_PAGES(N)                                                                           \
	N("HugePages_Rsvd", "hugepages_reserved", "Huge pages reserved",                           \
	  "Free huge pages that are promised.")                                                    \
	MEMINFO_SURPLUS(N)                                                                         \
	K("Hugepagesize", "hugepage", "Huge page size", "Default size of a huge page.")            \
	K("Hugetlb", "hugepages", "Huge pages, all sizes", "Memory set aside for huge pages.")

#define KEY(key, name, heading, sentence) { key, sizeof key - 1 },
static const struct field {
	const char *key;
	size_t len;
} fields[] = { FIELDS(KEY, KEY) };

enum { NFIELDS = sizeof fields / sizeof fields[0] };
enum { USED, USED_RATIO, FILE_CACHE, SWAP_USED, HUGEPAGES_USED, MEASURED };

#define GAUGE .kind = KIND_GAUGE, .over_nodes = COMBINE_SUM
#define KIBIBYTES(key, word, heading, sentence)                                                    \
	{ "node." word "_bytes", GAUGE,           .unit = UNIT_BYTES, .mul = 1024,                 \
	  .label = heading,      .help = sentence },
#define PAGES(key, word, heading, sentence)                                                        \
	{ "node." word "_count", GAUGE, .unit = UNIT_COUNT, .label = heading, .help = sentence },

static const struct metric metrics[] = {
	[USED] = { "node.memory_used_bytes", GAUGE, .unit = UNIT_BYTES,
		   .formula = "node.memory_total_bytes - node.memory_available_bytes",
		   .label = "Memory used",
		   .help = "Memory that programs cannot get without swapping." },
	[USED_RATIO] = { "node.memory_used_ratio", .unit = UNIT_RATIO, .kind = KIND_GAUGE,
			 .over_nodes = COMBINE_MAX,
			 .formula = "1 - node.memory_available_bytes / node.memory_total_bytes",
			 .label = "Memory used",
			 .help = "Memory used as a share of the memory present." },
	[FILE_CACHE] = { "node.memory_file_bytes", GAUGE, .unit = UNIT_BYTES,
			 .formula = "node.memory_cached_bytes + node.memory_buffers_bytes - "
				    "node.memory_shared_bytes",
			 .label = "File cache",
			 .help = "Page cache of files and block devices, shared memory left out." },
	[SWAP_USED] = { "node.swap_used_bytes", GAUGE, .unit = UNIT_BYTES,
			.formula = "node.swap_total_bytes - node.swap_free_bytes",
			.label = "Swap used", .help = "Swap space in use." },
	[HUGEPAGES_USED] = { "node.hugepages_used_bytes", GAUGE, .unit = UNIT_BYTES,
			     .formula =
				     "(node.hugepages_total_count - node.hugepages_free_count) * "
				     "node.hugepage_bytes",
			     .label = "Huge pages used",
			     .help = "Memory in use in huge pages of the default size." },
	[MEASURED] = FIELDS(KIBIBYTES, PAGES)
};
_Static_assert(sizeof metrics / sizeof metrics[0] == MEASURED + NFIELDS, "a row for every field");
_Static_assert(sizeof fields / sizeof fields[0] <= EVENT_SET_MAX,
	       "the fields are one set of series");

struct memory {
	struct kept meminfo;
	uint32_t slot; /* of NFIELDS series */
};

/* The field of this line, looked for from next on; NFIELDS when it is none of ours. */
static size_t field_of(const char *line, size_t next)
{
	for (size_t tried = 0; tried < NFIELDS; tried++) {
		size_t i = next + tried < NFIELDS ? next + tried : next + tried - NFIELDS;
		const struct field *f = &fields[i];

		if (f->key[0] == line[0] && strncmp(line, f->key, f->len) == 0 &&
		    line[f->len] == ':')
			return i;
	}
	return NFIELDS;
}

static int scan(const struct memory *m, struct sample *s)
{
	size_t next = 0, found = 0;

	for (const char *p = m->meminfo.text; *p; p = number_next_line(p)) {
		size_t i = field_of(p, next);
		int64_t v;

		if (i == NFIELDS)
			continue;
		p += fields[i].len + 1;
		next = i + 1;
		if (!number_i64(&p, &v) || v < 0)
			continue;
		found++;
		if (m->slot)
			sample_put(s, m->slot + (uint32_t)i, v);
	}
	return found ? 0 : -EBADMSG;
}

static void memory_close(void *state)
{
	struct memory *m = state;

	kept_close(&m->meminfo);
}

/* What the first reading did not give. */
static void refuse_missing(const struct memory *m, struct sample *s)
{
	for (uint32_t i = 0; m->slot && i < NFIELDS; i++) {
		const char *after = number_find_line(m->meminfo.text, fields[i].key);

		if (s->state[m->slot + i] == STATE_PRESENT)
			continue;
		if (after && *after == ':')
			sample_refuse(s, m->slot + i, STATE_FAILED,
				      "meminfo gives no number for it");
		else
			sample_refuse(s, m->slot + i, STATE_UNSUPPORTED,
				      "this kernel does not report it");
	}
}

static int memory_open(void *state, const struct source_env *env, struct sample *s, struct err *e)
{
	struct memory *m = state;
	int r = kept_open(&m->meminfo, &env->proc, "meminfo", ROOM, e);

	if (r < 0)
		return r;
	if (scan(m, s) < 0) {
		memory_close(m);
		return err_set(e, -EBADMSG, "%s/meminfo: it has none of the fields of meminfo",
			       env->proc.path);
	}
	m->slot = sample_series(s, &metrics[MEASURED], NFIELDS, 0);
	sample_catalogue(s, metrics, MEASURED);
	scan(m, s);
	refuse_missing(m, s);
	return 0;
}

static int memory_read(void *state, struct sample *s)
{
	struct memory *m = state;
	int r = kept_read(&m->meminfo);

	return r < 0 ? r : scan(m, s);
}

const struct source source_memory = {
	.name = "memory",
	.what = "memory and swap of the node",
	.fix_admin = SOURCE_FIX_PROC,
	SOURCE_METRICS(metrics),
	.size = sizeof(struct memory),
	.open = memory_open,
	.read = memory_read,
	.close = memory_close,
};
