/* SPDX-License-Identifier: Apache-2.0 */
#include "source/procfile.h"

#include "base/text/number.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What no machine reaches. Below it numbers can be multiplied into nanoseconds and bytes, and
 * summed up. */
static const int64_t TICKS_LIMIT = INT64_MAX / 10000000; /* of 10 ms each */
static const int64_t PAGES_LIMIT = INT64_C(1) << 45, BYTES_LIMIT = INT64_C(1) << 60;
static const int64_t SUM_LIMIT = INT64_C(1) << 60;

static bool sum_within(const int64_t *v, size_t n, int64_t limit)
{
	int64_t left = limit;

	for (size_t i = 0; i < n; i++) {
		if (v[i] < 0 || v[i] > left)
			return false;
		left -= v[i];
	}
	return true;
}

static const char *copy_comm(const char *text, struct proc_stat *out)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	size_t n;

	if (!open || !close || close < open)
		return NULL;
	n = (size_t)(close - open - 1);
	if (n >= sizeof out->comm)
		n = sizeof out->comm - 1;
	memcpy(out->comm, open + 1, n);
	out->comm[n] = '\0';
	return close + 1;
}

enum { FIELD_STACK = 28, FIELD_STATUS = 52 };

/* A field behind 24; between are some that no number of ours can hold. 0: it is not there. */
static int64_t field_behind_rss(const char *after_rss, int wanted)
{
	const char *p = after_rss;
	int64_t value;

	for (int i = 25; i < wanted && p; i++)
		p = *p == ' ' ? strchr(p + 1, ' ') : NULL;
	return p && number_i64(&p, &value) && value > 0 ? value : 0;
}

int proc_stat_parse(const char *text, struct proc_stat *out)
{
	int64_t field[25] = { 0 }; /* numbered as in proc(5): 4 = ppid ... 24 = rss */
	const char *p = text;
	int64_t pid;

	*out = (struct proc_stat){ 0 };
	if (!number_i64(&p, &pid) || pid <= 0 || pid > INT32_MAX)
		return -EBADMSG;
	out->pid = (pid_t)pid;
	p = copy_comm(text, out);
	if (!p || p[0] != ' ' || !p[1] || p[2] != ' ')
		return -EBADMSG;
	out->state = p[1];
	p += 2;
	for (int i = 4; i <= 24; i++)
		if (!number_i64(&p, &field[i]))
			return -EBADMSG;
	if (field[4] < 0 || field[4] > INT32_MAX || !sum_within(&field[10], 4, SUM_LIMIT) ||
	    !sum_within(&field[14], 4, TICKS_LIMIT) || !sum_within(&field[20], 1, INT32_MAX) ||
	    !sum_within(&field[23], 1, INT64_MAX) || !sum_within(&field[24], 1, PAGES_LIMIT))
		return -EBADMSG;
	out->ppid = (pid_t)field[4];
	out->flags = field[9];
	out->minflt = field[10];
	out->cminflt = field[11];
	out->majflt = field[12];
	out->cmajflt = field[13];
	out->utime = field[14];
	out->stime = field[15];
	out->cutime = field[16];
	out->cstime = field[17];
	out->nice = field[19];
	out->num_threads = field[20];
	out->starttime = field[22];
	out->vsize_bytes = field[23];
	out->rss_pages = field[24];
	out->stack = field_behind_rss(p, FIELD_STACK);
	if (out->state == 'Z' || out->state == 'X')
		out->status = field_behind_rss(p, FIELD_STATUS) & 0xffff;
	return 0;
}

bool proc_stat_ended(const struct proc_stat *st)
{
	enum { PF_EXITING = 4 };

	return st->num_threads <= 1 &&
	       (st->state == 'Z' || st->state == 'X' || st->flags & PF_EXITING);
}

struct named {
	const char *name; /* with the colon */
	int64_t *to;
	bool optional, add;
};

/* Read "Name: 123 kB" lines; `add` rows sum up. They mostly come in the order of the rows. */
static int named_parse(const char *text, const struct named *rows, size_t n, int64_t factor)
{
	uint64_t found = 0;
	size_t next = 0;

	for (const char *line = text; line && *line; line = number_next_line(line)) {
		for (size_t tried = 0; tried < n; tried++) {
			size_t i = next + tried < n ? next + tried : next + tried - n;
			size_t len = strlen(rows[i].name);
			const char *p = line + len;
			int64_t v;

			if (strncmp(line, rows[i].name, len) != 0)
				continue;
			if (!number_i64(&p, &v) || v < 0 || v > BYTES_LIMIT / factor)
				return -EBADMSG;
			if (!rows[i].add)
				*rows[i].to = 0;
			number_add(rows[i].to, v * factor);
			if (*rows[i].to > BYTES_LIMIT)
				return -EBADMSG;
			found |= UINT64_C(1) << i;
			next = i + 1 < n ? i + 1 : 0;
			break;
		}
	}
	for (size_t i = 0; i < n; i++)
		if (!rows[i].optional && !(found >> i & 1))
			return -EBADMSG;
	return 0;
}

int proc_io_parse(const char *text, struct proc_io *out)
{
	const struct named rows[] = {
		{ "rchar:", &out->rchar, false, false },
		{ "wchar:", &out->wchar, false, false },
		{ "syscr:", &out->syscr, false, false },
		{ "syscw:", &out->syscw, false, false },
		{ "read_bytes:", &out->read_bytes, false, false },
		{ "write_bytes:", &out->write_bytes, false, false },
		{ "cancelled_write_bytes:", &out->cancelled_write_bytes, true, false },
	};

	*out = (struct proc_io){ 0 };
	return named_parse(text, rows, sizeof rows / sizeof rows[0], 1);
}

int proc_smaps_parse(const char *smaps_rollup, struct proc_smaps *out)
{
	const struct named rows[] = {
		{ "Pss:", &out->pss, false, false },
		{ "Private_Clean:", &out->uss, false, true },
		{ "Private_Dirty:", &out->uss, false, true },
		{ "Private_Hugetlb:", &out->uss, true, true },
		{ "Swap:", &out->swap, true, false },
		{ "AnonHugePages:", &out->anonymous_huge, true, false },
		{ "Pss_Shmem:", &out->shared_memory, true, false },
	};

	*out = (struct proc_smaps){ .anonymous_huge = -1, .shared_memory = -1 };
	return named_parse(smaps_rollup, rows, sizeof rows / sizeof rows[0], 1024);
}

int proc_statm_parse(const char *text, struct proc_statm *out)
{
	const char *p = text;
	int64_t v[3];

	for (int i = 0; i < 3; i++)
		if (!number_i64(&p, &v[i]) || v[i] < 0 || v[i] > PAGES_LIMIT)
			return -EBADMSG;
	*out = (struct proc_statm){ .resident_pages = v[1], .shared_pages = v[2] };
	return 0;
}

int64_t proc_hugetlb(const char *status)
{
	const char *p = number_find_line(status, "HugetlbPages:");
	int64_t kib;

	return p && number_i64(&p, &kib) && kib > 0 && kib <= BYTES_LIMIT / 1024 ? kib * 1024 : 0;
}

/* Hugetlb is of all sizes; how many are free is told of the default size alone. */
int proc_hugetlb_parse(const char *meminfo, struct proc_hugetlb *out)
{
	int64_t total = 0, free = 0, size = 0, all = -1;
	const struct named rows[] = {
		{ "HugePages_Total:", &total, true, false },
		{ "HugePages_Free:", &free, true, false },
		{ "Hugepagesize:", &size, true, false },
		{ "Hugetlb:", &all, true, false },
	};
	int bad = named_parse(meminfo, rows, sizeof rows / sizeof rows[0], 1);

	*out = (struct proc_hugetlb){ 0 };
	if (bad || (size && total > BYTES_LIMIT / 1024 / size) || free > total ||
	    all > BYTES_LIMIT / 1024)
		return -EBADMSG;
	out->present = 1024 * (all >= 0 ? all : total * size);
	out->used = out->present - 1024 * free * size;
	return out->used < 0 ? -EBADMSG : 0;
}

int proc_last_pid_parse(const char *loadavg, pid_t *out)
{
	size_t n = strlen(loadavg);
	const char *p;
	int64_t v;

	while (n && (loadavg[n - 1] == '\n' || loadavg[n - 1] == ' '))
		n--;
	while (n && loadavg[n - 1] >= '0' && loadavg[n - 1] <= '9')
		n--;
	p = loadavg + n;
	if (!n || !number_i64(&p, &v) || v < 0 || v > INT32_MAX)
		return -EBADMSG;
	*out = (pid_t)v;
	return 0;
}

int fdlist_open(struct fdlist *l, const struct root *proc, pid_t pid)
{
	char path[32];
	int dir;

	fdlist_close(l);
	snprintf(path, sizeof path, "%d/fd", (int)pid);
	dir = root_file(proc, path);
	if (dir < 0)
		return dir;
	l->dir = dir;
	l->listed = l->at = 0;
	return 0;
}

void fdlist_close(struct fdlist *l)
{
	file_close(&l->dir);
}

bool fdlist_next(struct fdlist *l, int *fd, char target[FDLIST_TARGET])
{
	while (l->dir) {
		const struct dirent64 *entry;
		const char *name;
		int64_t number;
		ssize_t n;

		if (l->at >= l->listed) {
			l->listed = getdents64(l->dir, l->entries, sizeof l->entries);
			l->at = 0;
			if (l->listed <= 0)
				break;
		}
		entry = (const struct dirent64 *)(const void *)(l->entries + l->at);
		l->at += entry->d_reclen;
		name = entry->d_name;
		if (!number_i64(&name, &number) || *name || number < 0 || number > INT32_MAX)
			continue;
		n = readlinkat(l->dir, entry->d_name, target, FDLIST_TARGET - 1);
		target[n > 0 ? n : 0] = '\0';
		*fd = (int)number;
		return true;
	}
	fdlist_close(l);
	return false;
}

bool fdlist_device(const char *target, const char *device, uint64_t first, uint64_t *number)
{
	size_t n = strlen(device);
	const char *p = target + n;

	return strncmp(target, device, n) == 0 && *p >= '0' && *p <= '9' &&
	       number_u64(&p, number) && !*p && *number >= first;
}

/* What no thread reaches: such numbers can be summed up. */
static const int64_t COUNT_LIMIT = INT64_C(1) << 48, NS_LIMIT = INT64_C(1) << 60;

static int count_behind(const char *text, const char *key, int64_t *out)
{
	const char *p = number_find_line(text, key);

	if (!p || !number_i64(&p, out) || *out < 0 || *out > COUNT_LIMIT)
		return -EBADMSG;
	return 0;
}

static const char *list_behind(const char *text, const char *key)
{
	const char *p = number_find_line(text, key);

	return p ? number_skip_blanks(p) : NULL;
}

bool thread_ignores_children(const char *status)
{
	const char *p = list_behind(status, "SigIgn:");

	return p && strtoull(p, NULL, 16) >> (SIGCHLD - 1) & 1;
}

int thread_status_parse(const char *status, struct thread_status *out)
{
	const char *state = list_behind(status, "State:");

	*out = (struct thread_status){ 0 };
	if (!state || !*state || *state == '\n' ||
	    count_behind(status, "voluntary_ctxt_switches:", &out->voluntary) ||
	    count_behind(status, "nonvoluntary_ctxt_switches:", &out->involuntary))
		return -EBADMSG;
	out->state = *state;
	out->cpus = list_behind(status, "Cpus_allowed_list:");
	out->nodes = list_behind(status, "Mems_allowed_list:");
	if (count_behind(status, "VmHWM:", &out->high_water_bytes))
		out->high_water_bytes = 0;
	out->high_water_bytes *= 1024;
	out->ignores_children = thread_ignores_children(status);
	return 0;
}

int thread_times_parse(const char *schedstat, struct thread_times *out)
{
	const char *p = schedstat;
	int64_t v[3];

	for (int i = 0; i < 3; i++)
		if (!number_i64(&p, &v[i]) || v[i] < 0 || v[i] > NS_LIMIT)
			return -EBADMSG;
	*out = (struct thread_times){ v[0], v[1], v[2] };
	return 0;
}

int thread_schedstat_parse(const char *schedstat, int64_t *wait_ns)
{
	struct thread_times t;
	int bad = thread_times_parse(schedstat, &t);

	if (bad)
		return bad;
	if (!t.run_ns && !t.ready_ns && !t.turns)
		return -EOPNOTSUPP;
	*wait_ns = t.ready_ns;
	return 0;
}

int thread_sched_parse(const char *sched, int64_t *migrations)
{
	const char *p = number_find_line(sched, "se.nr_migrations");

	if (!p)
		return -EBADMSG;
	p = number_skip_blanks(p);
	if (*p++ != ':' || !number_i64(&p, migrations) || *migrations < 0 ||
	    *migrations > COUNT_LIMIT)
		return -EBADMSG;
	return 0;
}

const struct limit_row limit_rows[LIMIT_ROWS] = {
	{ "job.limit.cpu_seconds", "Max cpu time", RLIMIT_CPU },
	{ "job.limit.file_bytes", "Max file size", RLIMIT_FSIZE },
	{ "job.limit.data_bytes", "Max data size", RLIMIT_DATA },
	{ "job.limit.stack_bytes", "Max stack size", RLIMIT_STACK },
	{ "job.limit.core_bytes", "Max core file size", RLIMIT_CORE },
	{ "job.limit.address_space_bytes", "Max address space", RLIMIT_AS },
	{ "job.limit.locked_bytes", "Max locked memory", RLIMIT_MEMLOCK },
	{ "job.limit.processes_count", "Max processes", RLIMIT_NPROC },
	{ "job.limit.open_files_count", "Max open files", RLIMIT_NOFILE },
};

const char *limit_label(const struct limit_row *row)
{
	return row->key + sizeof "job." - 1;
}

void limits_take(const struct rlimit *rlimits, struct limits *out)
{
	for (size_t i = 0; i < LIMIT_ROWS; i++) {
		rlim_t soft = rlimits[limit_rows[i].resource].rlim_cur;

		out->value[i] =
			soft == RLIM_INFINITY || soft > INT64_MAX ? LIMIT_NONE : (int64_t)soft;
	}
}

static int64_t value_of(const char *text, const char *line)
{
	const char *p = number_find_line(text, line);
	int64_t value;

	if (!p)
		return LIMIT_UNKNOWN;
	p = number_skip_blanks(p);
	if (strncmp(p, "unlimited", 9) == 0)
		return LIMIT_NONE;
	return number_i64(&p, &value) && value >= 0 ? value : LIMIT_UNKNOWN;
}

void limits_parse(const char *text, struct limits *out)
{
	for (size_t i = 0; i < LIMIT_ROWS; i++)
		out->value[i] = value_of(text, limit_rows[i].line);
}

int limits_read(const struct root *proc, pid_t pid, struct limits *out)
{
	char path[32], text[2048];
	ssize_t n;

	snprintf(path, sizeof path, "%d/limits", (int)pid);
	n = root_read(proc, path, text, sizeof text);
	if (n < 0)
		return (int)n;
	limits_parse(text, out);
	return 0;
}
