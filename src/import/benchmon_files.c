/* SPDX-License-Identifier: Apache-2.0 */
#include "import/benchmon.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KB     (1 / 1024.0)
#define TICKS  100.0
#define SECTOR (1 / 512.0) /* of /proc/diskstats, whatever the disk's own sectors are */

static const struct benchmon_column of_cpus[] = {
	{ "user", "node.cpu_user_seconds", TICKS },
	{ "nice", "node.cpu_nice_seconds", TICKS },
	{ "system", "node.cpu_system_seconds", TICKS },
	{ "idle", "node.cpu_idle_seconds", TICKS },
	{ "iowait", "node.cpu_iowait_seconds", TICKS },
	{ "irq", "node.cpu_irq_seconds", TICKS },
	{ "softirq", "node.cpu_softirq_seconds", TICKS },
	{ "steal", "node.cpu_steal_seconds", TICKS },
	{ "guest", "node.cpu_guest_seconds", TICKS },
	{ "guestnice", "node.cpu_guest_nice_seconds", TICKS },
	{ .column = NULL },
};

static const struct benchmon_column of_frequencies[] = {
	{ "frequency", "cpu.frequency_hertz", 1e-3 },
	{ .column = NULL },
};

static const struct benchmon_column of_memory[] = {
	{ "MemTotal", "node.memory_total_bytes", KB },
	{ "MemFree", "node.memory_free_bytes", KB },
	{ "MemAvailable", "node.memory_available_bytes", KB },
	{ "Buffers", "node.memory_buffers_bytes", KB },
	{ "Cached", "node.memory_cached_bytes", KB },
	{ "SwapCached", "node.swap_cached_bytes", KB },
	{ "Active", "node.memory_active_bytes", KB },
	{ "Inactive", "node.memory_inactive_bytes", KB },
	{ "Active(anon)", "node.memory_active_anon_bytes", KB },
	{ "Inactive(anon)", "node.memory_inactive_anon_bytes", KB },
	{ "Active(file)", "node.memory_active_file_bytes", KB },
	{ "Inactive(file)", "node.memory_inactive_file_bytes", KB },
	{ "Unevictable", "node.memory_unevictable_bytes", KB },
	{ "Mlocked", "node.memory_locked_bytes", KB },
	{ "SwapTotal", "node.swap_total_bytes", KB },
	{ "SwapFree", "node.swap_free_bytes", KB },
	{ "Zswap", "node.zswap_compressed_bytes", KB },
	{ "Zswapped", "node.zswap_stored_bytes", KB },
	{ "Dirty", "node.memory_dirty_bytes", KB },
	{ "Writeback", "node.memory_writeback_bytes", KB },
	{ "AnonPages", "node.memory_anonymous_bytes", KB },
	{ "Mapped", "node.memory_mapped_bytes", KB },
	{ "Shmem", "node.memory_shared_bytes", KB },
	{ "KReclaimable", "node.memory_kernel_reclaimable_bytes", KB },
	{ "Slab", "node.memory_slab_bytes", KB },
	{ "SReclaimable", "node.memory_slab_reclaimable_bytes", KB },
	{ "SUnreclaim", "node.memory_slab_unreclaimable_bytes", KB },
	{ "KernelStack", "node.memory_kernel_stack_bytes", KB },
	{ "PageTables", "node.memory_page_tables_bytes", KB },
	{ "SecPageTables", "node.memory_secondary_page_tables_bytes", KB },
	{ "CommitLimit", "node.memory_commit_limit_bytes", KB },
	{ "Committed_AS", "node.memory_committed_bytes", KB },
	{ "VmallocUsed", "node.memory_vmalloc_bytes", KB },
	{ "Percpu", "node.memory_percpu_bytes", KB },
	{ "HardwareCorrupted", "node.memory_corrupted_bytes", KB },
	{ "AnonHugePages", "node.memory_anonymous_huge_bytes", KB },
	{ "ShmemHugePages", "node.memory_shared_huge_bytes", KB },
	{ "FileHugePages", "node.memory_file_huge_bytes", KB },
	{ "HugePages_Total", "node.hugepages_total_count", 1 },
	{ "HugePages_Free", "node.hugepages_free_count", 1 },
	{ "HugePages_Rsvd", "node.hugepages_reserved_count", 1 },
	{ "HugePages_Surp", "node.hugepages_surplus_count", 1 },
	{ "Hugepagesize", "node.hugepage_bytes", KB },
	{ "Hugetlb", "node.hugepages_bytes", KB },
	{ .column = NULL },
};

static const struct benchmon_column of_networks[] = {
	{ "rx-bytes", "network.received_bytes", 1 },
	{ "rx-packets", "network.received_packets", 1 },
	{ "rx-errs", "network.receive_errors", 1 },
	{ "rx-drop", "network.receive_drops", 1 },
	{ "rx-fifo", "network.receive_overruns", 1 },
	{ "rx-multicast", "network.received_multicast", 1 },
	{ "tx-bytes", "network.transmitted_bytes", 1 },
	{ "tx-packets", "network.transmitted_packets", 1 },
	{ "tx-errs", "network.transmit_errors", 1 },
	{ "tx-drop", "network.transmit_drops", 1 },
	{ "tx-fifo", "network.transmit_overruns", 1 },
	{ "tx-colls", "network.collisions", 1 },
	{ "tx-carrier", "network.carrier_losses", 1 },
	{ .column = NULL },
};

static const struct benchmon_column of_disks[] = {
	{ "#rd-cd", "disk.reads", 1 },
	{ "#rd-md", "disk.reads_merged", 1 },
	{ "sect-rd", "disk.read_bytes", SECTOR },
	{ "time-rd", "disk.reading_seconds", 1000 },
	{ "#wr-cd", "disk.writes", 1 },
	{ "#wr-md", "disk.writes_merged", 1 },
	{ "sect-wr", "disk.written_bytes", SECTOR },
	{ "time-wr", "disk.writing_seconds", 1000 },
	{ "#io-ip", "disk.in_flight_count", 1 },
	{ "time-io", "disk.busy_seconds", 1000 },
	{ "time-wei-io", "disk.queued_seconds", 1000 },
	{ "#disc-cd", "disk.discards", 1 },
	{ "#disc-md", "disk.discards_merged", 1 },
	{ "sect-disc", "disk.discarded_bytes", SECTOR },
	{ "time-disc", "disk.discarding_seconds", 1000 },
	{ "#flush-req", "disk.flushes", 1 },
	{ "time-flush", "disk.flushing_seconds", 1000 },
	{ .column = NULL },
};

/* Its rows name the counter, too. A word of data has four bytes. */
static const struct benchmon_column of_ports[] = {
	{ "port_rcv_data", "infiniband.received_bytes", 0.25 },
	{ "port_xmit_data", "infiniband.transmitted_bytes", 0.25 },
	{ .column = NULL },
};

static const struct benchmon_column of_energy[] = {
	{ "joules", "energy.consumed_joules", 1 },
	{ .column = NULL },
};

static bool name_cpu(const char *disks, char *name, bool *aside)
{
	const char *digits = name + 3;

	(void)disks;
	*aside = false;
	if (strncmp(name, "cpu", 3) != 0 || strspn(digits, "0123456789") != strlen(digits))
		return false;
	memmove(name, digits, strlen(digits) + 1); /* "" is all of them */
	return true;
}

static bool name_network(const char *disks, char *name, bool *aside)
{
	size_t n = strlen(name);

	(void)disks;
	if (n && name[n - 1] == ':')
		name[n - 1] = '\0';
	*aside = strcmp(name, "lo") == 0;
	return *name;
}

static bool name_port(const char *disks, char *name, bool *aside)
{
	char *colon = strchr(name, ':');

	(void)disks;
	*aside = false;
	if (colon)
		*colon = '/';
	return *name;
}

/* Partitions are a part of their disk. */
static bool name_disk(const char *disks, char *name, bool *aside)
{
	char wanted[72];

	snprintf(wanted, sizeof wanted, ",%.64s,", name);
	*aside = disks && !strstr(disks, wanted);
	return *name;
}

const struct benchmon_trace benchmon_traces[] = {
	{ .file = "cpu_report.csv",
	  .binary = "cpu_report.bin",
	  .columns = of_cpus,
	  .device = "cpu_core",
	  .name = name_cpu },
	{ .file = "cpufreq_report.csv",
	  .binary = "cpufreq_report.bin",
	  .columns = of_frequencies,
	  .device = "cpu_core",
	  .name = name_cpu },
	{ .file = "mem_report.csv", .binary = "mem_report.bin", .columns = of_memory },
	{ .file = "net_report.csv",
	  .binary = "net_report.bin",
	  .columns = of_networks,
	  .device = "interface",
	  .name = name_network },
	{ .file = "disk_report.csv",
	  .binary = "disk_report.bin",
	  .columns = of_disks,
	  .device = "device",
	  .disks = true,
	  .name = name_disk },
	{ .file = "ib_report.csv",
	  .columns = of_ports,
	  .device = "ib-interf:port",
	  .name = name_port,
	  .named_values = true },
	{ .file = "pow_report.csv", .columns = of_energy, .energy = true },
};
const size_t benchmon_ntraces = sizeof benchmon_traces / sizeof benchmon_traces[0];

/* ---- lines of a file ---- */

int csvfile_next(struct csvfile *r)
{
	size_t n;

	if (!fgets(r->line, sizeof r->line, r->file))
		return 0;
	n = strlen(r->line);
	if (n && r->line[n - 1] == '\n') {
		r->line[--n] = '\0';
		if (n && r->line[n - 1] == '\r')
			r->line[n - 1] = '\0';
		return 1;
	}
	if (feof(r->file))
		return -1; /* it was being written */
	for (int c = 0; c != '\n' && c != EOF;)
		c = getc(r->file);
	return -1;
}

uint32_t csvfile_split(struct csvfile *r, char **cell)
{
	uint32_t n = 0;

	for (char *p = r->line; p && n < CSVFILE_CELLS_MAX; n++) {
		cell[n] = p;
		p = strchr(p, ',');
		if (p)
			*p++ = '\0';
	}
	return n;
}

bool csvfile_number(const char *text, double *out)
{
	char *end;

	while (*text == ' ')
		text++;
	if (*text != '-' && *text != '.' && (*text < '0' || *text > '9'))
		return false;
	if (text[0] == '0' && (text[1] | 32) == 'x')
		return false;
	*out = strtod(text, &end);
	while (*end == ' ')
		end++;
	return end != text && !*end && isfinite(*out);
}

/* ---- annotations ---- */

struct events {
	struct store *store;
	struct csvfile csv;
	uint64_t malformed, elsewhere;
};

/* Where the headings of annotations.csv are. */
enum { AT, PIPELINE, STAGE, EVENT, NODE, HEADINGS };
static const char *const headings[HEADINGS] = { "timestamp", "pipeline", "stage", "event", "node" };

static char *trimmed(char *text)
{
	size_t n;

	text += strspn(text, " \t");
	n = strlen(text);
	while (n && (text[n - 1] == ' ' || text[n - 1] == '\t'))
		text[--n] = '\0';
	return text;
}

static int64_t known_node(const struct store *s, const char *host)
{
	for (uint32_t i = 0; i < s->nnodes; i++)
		if (!strcmp(s->node[i].host, host))
			return i;
	return -1;
}

static void take_event(struct events *r, char *const field[HEADINGS])
{
	int64_t node = known_node(r->store, trimmed(field[NODE]));
	char name[256], *event = trimmed(field[EVENT]);
	double at;

	if (!csvfile_number(field[AT], &at)) {
		r->malformed++;
		return;
	}
	if (node < 0) {
		r->elsewhere++;
		return;
	}
	snprintf(name, sizeof name, "%.120s/%.120s", trimmed(field[PIPELINE]),
		 trimmed(field[STAGE]));
	if (!strcasecmp(event, "START"))
		store_event(r->store, (uint32_t)node, STORE_BEGIN, at, name, "");
	else if (!strcasecmp(event, "FINISHED"))
		store_event(r->store, (uint32_t)node, STORE_END, at, name, "");
	else
		store_event(r->store, (uint32_t)node, STORE_MARK, at, name, event);
}

static void take_events(struct events *r, const char *path)
{
	char *cell[CSVFILE_CELLS_MAX], *field[HEADINGS];
	uint32_t place[HEADINGS] = { 0 }, n;
	int got, found = 0;

	if (csvfile_next(&r->csv) > 0) {
		n = csvfile_split(&r->csv, cell);
		for (int h = 0; h < HEADINGS; h++)
			for (uint32_t i = 0; i < n; i++)
				if (!strcmp(trimmed(cell[i]), headings[h])) {
					place[h] = i;
					found |= 1 << h;
				}
	}
	if (found != (1 << HEADINGS) - 1) {
		store_leave_out(r->store,
				"%.300s has no columns timestamp, pipeline, stage, event and node",
				path);
		return;
	}
	while ((got = csvfile_next(&r->csv)) != 0) {
		bool whole = got > 0;

		n = whole ? csvfile_split(&r->csv, cell) : 0;
		for (int h = 0; h < HEADINGS && whole; h++) {
			whole = place[h] < n;
			field[h] = whole ? cell[place[h]] : NULL;
		}
		if (whole)
			take_event(r, field);
		else
			r->malformed++;
	}
}

void benchmon_annotations(const struct import *x, const char *path)
{
	struct events *r = calloc(1, sizeof *r);

	if (!r)
		return;
	r->store = x->store;
	r->csv.file = fopen(path, "re");
	if (r->csv.file) {
		take_events(r, path);
		fclose(r->csv.file);
	}
	if (r->malformed)
		store_leave_out(x->store, "%.300s: rows that are malformed: %llu", path,
				(unsigned long long)r->malformed);
	if (r->elsewhere)
		store_note(x->store, "%.300s: events of nodes that are not here: %llu", path,
			   (unsigned long long)r->elsewhere);
	free(r);
}
