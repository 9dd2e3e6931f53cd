/* SPDX-License-Identifier: Apache-2.0 */
/*
 * benchmon_binary.c - what benchmon's rt-monitor leaves instead of CSV: records of one size, whose
 * first field is nanoseconds since 1970, little-endian. The file does not say which of benchmon's
 * versions wrote it: it is of a layout when the times of its first records are times.
 */
#include "import/benchmon.h"

#include "base/pool.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	NAME_SIZE = 32,
	FIELDS_MAX = 24,
	HEADINGS_SIZE = 256,
	RECORD_MAX = 256,
	DISKS_MAX = 512,
	LINE_MAX = 8192,
	CPUS_MAX = 65536,
	LOOKED_AT = 64
};

/* Nanoseconds since 1970 of 2001 and 2100: between them are times. */
static const uint64_t first_time = 1000000000000000000, last_time = 4102444800000000000;
static const uint32_t all_cpus = UINT32_MAX;

struct binary {
	FILE *file;
	uint32_t ndisks;
	char disk[DISKS_MAX][NAME_SIZE + 1];
	char whole[DISKS_MAX * (NAME_SIZE + 1) + 2]; /* ",sda,nvme0n1," */
};

struct layout {
	const char *file;
	/* Of each field its column, as the CSV file calls it; "-": not taken. */
	const char *columns;
	/* And its form: 8 or 4 bytes of a number, c: the number of a CPU, d: which of the disks of
	 * the head, s: a name of 32 bytes. */
	const char *forms;
	bool (*head)(struct binary *b); /* what comes before the records; false: not this one */
	bool (*holds)(const double *v); /* of each record; NULL: always */
};

/* ---- fields ---- */

static uint64_t number_of(const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | p[n];
	return v;
}

static size_t size_of(char form)
{
	return form == 's' ? NAME_SIZE : form == '8' ? 8 : 4;
}

static size_t record_size(const struct layout *l)
{
	size_t n = 0;

	for (const char *f = l->forms; *f; f++)
		n += size_of(*f);
	return n;
}

/* A name of at most n bytes, ended by a NUL if it is shorter. */
static bool take_name(char *out, const uint8_t *p, size_t n)
{
	size_t i = 0;

	for (; i < n && p[i]; i++)
		if (!isgraph(p[i]) || p[i] == ',')
			return false;
	memcpy(out, p, i);
	out[i] = '\0';
	return i > 0;
}

/* The values of a record, and the device it is of. False: it is none of this layout. */
static bool take_record(const struct binary *b, const struct layout *l, const uint8_t *p, double *v,
			char *device)
{
	uint64_t at = number_of(p, 8);
	bool known = at >= first_time && at < last_time;

	*device = '\0';
	for (size_t i = 0; l->forms[i] && known; i++) {
		size_t n = size_of(l->forms[i]);
		uint64_t number = n <= 8 ? number_of(p, n) : 0;

		v[i] = (double)number;
		if (l->forms[i] == 's')
			known = take_name(device, p, n);
		else if (l->forms[i] == 'c' && number == all_cpus)
			snprintf(device, NAME_SIZE + 1, "cpu");
		else if (l->forms[i] == 'c')
			known = number < CPUS_MAX &&
				snprintf(device, NAME_SIZE + 1, "cpu%u", (unsigned)number) > 0;
		else if (l->forms[i] == 'd')
			known = number < b->ndisks &&
				snprintf(device, NAME_SIZE + 1, "%s", b->disk[number]) > 0;
		p += n;
	}
	return known && (!l->holds || l->holds(v));
}

/* ---- heads ---- */

/* Some versions have the least and the highest frequency before the records. */
static bool frequency_head(struct binary *b)
{
	uint8_t first[8];
	bool there = fread(first, 1, sizeof first, b->file) == sizeof first;

	if (there && number_of(first, 8) < first_time)
		return fseek(b->file, 16, SEEK_SET) == 0;
	return there && fseek(b->file, 0, SEEK_SET) == 0;
}

/* Of sda1 or nvme0n1p2 the disk is there, too. */
static bool is_partition(const struct binary *b, const char *name)
{
	for (uint32_t i = 0; i < b->ndisks; i++) {
		size_t n = strlen(b->disk[i]);
		const char *rest = name + n;

		if (strncmp(name, b->disk[i], n) != 0 || !*rest)
			continue;
		rest += *rest == 'p' && isdigit((unsigned char)rest[-1]);
		if (*rest && strspn(rest, "0123456789") == strlen(rest))
			return true;
	}
	return false;
}

/* How many block devices; of each its name, with its length, and the size of a block. */
static bool disk_head(struct binary *b)
{
	uint8_t word[4], name[NAME_SIZE];
	size_t used = 1;

	if (fread(word, 1, 4, b->file) != 4 || number_of(word, 4) > DISKS_MAX)
		return false;
	b->ndisks = (uint32_t)number_of(word, 4);
	for (uint32_t i = 0; i < b->ndisks; i++) {
		size_t n;

		if (fread(word, 1, 4, b->file) != 4)
			return false;
		n = (size_t)number_of(word, 4);
		if (n > NAME_SIZE || fread(name, 1, n, b->file) != n ||
		    !take_name(b->disk[i], name, n) || fread(word, 1, 4, b->file) != 4)
			return false;
	}
	b->whole[0] = ',';
	b->whole[1] = '\0';
	for (uint32_t i = 0; i < b->ndisks; i++)
		if (!is_partition(b, b->disk[i]))
			used += (size_t)snprintf(b->whole + used, sizeof b->whole - used, "%s,",
						 b->disk[i]);
	return b->ndisks > 0;
}

/* Two numbers, and a line "sda,512,nvme0n1,512" of the disks and their sectors. */
static bool disk_line_head(struct binary *b)
{
	char line[LINE_MAX], *p = line;
	size_t used = 1;

	if (fseek(b->file, 16, SEEK_SET) || !fgets(line, sizeof line, b->file) ||
	    !strchr(line, '\n'))
		return false;
	b->whole[0] = ',';
	b->whole[1] = '\0';
	for (uint32_t i = 0; i < DISKS_MAX && *p; i++) {
		size_t n = strcspn(p, ",\n");

		if (n && n <= NAME_SIZE)
			used += (size_t)snprintf(b->whole + used, sizeof b->whole - used, "%.*s,",
						 (int)n, p);
		p += n + (p[n] == ',');
		p += strcspn(p, ",\n");
		p += *p != '\0';
	}
	return true;
}

/* Where a record has each of these. */
struct memory_order {
	unsigned total, free, buffers, cached, swap, swap_free, swap_cached;
};

static bool is_memory(const double *v, const struct memory_order *o)
{
	return v[o->total] > 0 && v[o->free] + v[o->buffers] + v[o->cached] <= v[o->total] &&
	       v[o->swap_free] + v[o->swap_cached] <= v[o->swap];
}

static bool is_memory_as_listed(const double *v)
{
	return is_memory(v, &(struct memory_order){ 1, 2, 3, 4, 6, 7, 5 });
}

/* Later versions write them in the order of libstdc++'s hash table of their names. */
static bool is_memory_as_hashed(const double *v)
{
	return is_memory(v, &(struct memory_order){ 8, 7, 5, 4, 3, 1, 2 });
}

/* The same with older kernels, whose 25th line is another one. */
static bool is_memory_as_hashed_before(const double *v)
{
	return is_memory(v, &(struct memory_order){ 8, 7, 6, 5, 4, 2, 3 });
}

#define CPU_TIMES "user,nice,system,idle,iowait,irq,softirq,steal,guest,guestnice"
#define DISK_COUNTS                                                                                \
	"#rd-cd,#rd-md,sect-rd,time-rd,#wr-cd,#wr-md,sect-wr,time-wr,#io-ip,time-io,time-wei-io,"  \
	"#disc-cd,#disc-md,sect-disc,time-disc,#flush-req,time-flush"

/* Each file is of the first that it can be of. Of the memory one number is left out: with older
 * kernels it is another one, and has the same name in the file's documented layout.
 */
static const struct layout layouts[] = {
	{ "cpu_report.bin", "timestamp,cpu_core," CPU_TIMES, "8c8888888888", NULL, NULL },
	{ "cpu_report.bin", "timestamp,cpu_core," CPU_TIMES, "8c4444444444", NULL, NULL },
	{ "cpufreq_report.bin", "timestamp,cpu_core,frequency", "8c4", frequency_head, NULL },
	{ "mem_report.bin",
	  "timestamp,MemTotal,MemFree,Buffers,Cached,SwapCached,SwapTotal,SwapFree,-", "888888888",
	  NULL, is_memory_as_listed },
	{ "mem_report.bin",
	  "timestamp,SwapFree,SwapCached,SwapTotal,Cached,Buffers,-,MemFree,MemTotal", "888888888",
	  NULL, is_memory_as_hashed },
	{ "mem_report.bin",
	  "timestamp,-,SwapFree,SwapCached,SwapTotal,Cached,Buffers,MemFree,MemTotal", "888888888",
	  NULL, is_memory_as_hashed_before },
	{ "net_report.bin",
	  "timestamp,interface,rx-bytes,rx-packets,rx-errs,rx-drop,rx-fifo,rx-frame,rx-compressed,"
	  "rx-multicast,tx-bytes,tx-packets,tx-errs,tx-drop,tx-fifo,tx-colls,tx-carrier,"
	  "tx-compressed",
	  "8s8888888888888888", NULL, NULL },
	{ "disk_report.bin", "timestamp,-,-,device," DISK_COUNTS, "844d88888888888888888",
	  disk_head, NULL },
	{ "disk_report.bin", "timestamp,-,-,device," DISK_COUNTS, "844s88888888888888888",
	  disk_line_head, NULL },
};

/* ---- files ---- */

/* Where its records begin, when it is of that layout: two of them, or one and nothing else. */
static bool is_of(struct binary *b, const struct layout *l)
{
	uint8_t record[RECORD_MAX];
	size_t size = record_size(l), got = size, n = 0;
	double v[FIELDS_MAX];
	char device[NAME_SIZE + 1];
	long begin;

	b->ndisks = 0;
	rewind(b->file);
	if ((l->head && !l->head(b)) || (begin = ftell(b->file)) < 0)
		return false;
	while (n < LOOKED_AT && (got = fread(record, 1, size, b->file)) == size) {
		if (!take_record(b, l, record, v, device))
			return false;
		n++;
	}
	return (n > 1 || (n == 1 && got == 0)) && fseek(b->file, begin, SEEK_SET) == 0;
}

static const struct layout *layout_of(struct binary *b, const char *file)
{
	for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
		if (!strcmp(layouts[i].file, file) && is_of(b, &layouts[i]))
			return &layouts[i];
	return NULL;
}

static bool take_headings(struct reading *r, const struct layout *l)
{
	char text[HEADINGS_SIZE], *cell[FIELDS_MAX], *p = text;
	uint32_t n = 0;

	snprintf(text, sizeof text, "%s", l->columns);
	while (p && n < FIELDS_MAX) {
		cell[n++] = p;
		p = strchr(p, ',');
		if (p)
			*p++ = '\0';
	}
	return benchmon_headings(r, cell, n);
}

int benchmon_binary(struct reading *r, const char *file, FILE *f, uint64_t *malformed)
{
	struct binary b = { .file = f };
	const struct layout *l = layout_of(&b, file);
	uint8_t record[RECORD_MAX];
	char device[NAME_SIZE + 1];
	double v[FIELDS_MAX];
	size_t size = l ? record_size(l) : 0, got;
	int rc = 0;

	if (!l || !take_headings(r, l) || !benchmon_whole_disks(r, b.whole))
		return 1;
	while (!rc && (got = fread(record, 1, size, f)) > 0) {
		if (got == size && take_record(&b, l, record, v, device))
			rc = benchmon_row(r, v[0] / 1e9, device, v);
		else
			(*malformed)++;
	}
	return rc;
}
