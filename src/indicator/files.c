/* SPDX-License-Identifier: Apache-2.0 */
/* files.c - small files: made and written, looked at, read, removed, in a directory of their own.
 *
 * The directory goes whatever happens, but for SIGKILL: signals that end a program end the round
 * first. */
#include "base/bytes.h"
#include "base/root.h"
#include "indicator/indicator.h"
#include "source/storage/mountinfo.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { STEPS = 4, SPACE_SHARE = 4, SIZE_MAX_BYTES = 16 << 20 };
#define REFERENCE 10000.0

static const struct option rows[] = {
	{ .name = "size",
	  .letter = 's',
	  .type = ARG_COUNT,
	  .value = "BYTES",
	  .fallback = "4096",
	  .min = 1,
	  .max = SIZE_MAX_BYTES,
	  .help = "Bytes of each file.",
	  OPTION_OFFSET(struct wish, size) },
	{ .name = "files",
	  .type = ARG_COUNT,
	  .value = "N",
	  .fallback = "256",
	  .min = 1,
	  .max = 1000000,
	  .help = "How many files each thread makes in a round.",
	  OPTION_OFFSET(struct wish, files) },
	{ .name = "directory",
	  .type = ARG_TEXT,
	  .value = "DIR",
	  .fallback = ".",
	  .help = "Where: they are in a directory of their own below it, which is removed.",
	  OPTION_OFFSET(struct wish, directory) },
	{ .name = "sync",
	  .type = ARG_FLAG,
	  .help = "fsync(2) each file before it is closed.",
	  OPTION_OFFSET(struct wish, sync) },
	WISH_THREADS,
	WISH_REPEATS,
};

static atomic_int ended_by; /* a signal */

static void on_signal(int number)
{
	ended_by = number;
}

struct files {
	const struct wish *wish;
	char path[PATH_MAX];
	int fd; /* the directory of their own */
	unsigned step;
	uint8_t *content;  /* what each file begins with is another */
	atomic_int failed; /* errno */
	_Atomic(const char *) doing;
};

static int fail(struct files *f, const char *doing, int code)
{
	f->doing = doing;
	f->failed = code;
	return -1;
}

/* Put what a file has to hold into buf. */
static void fill(const struct files *f, uint8_t *buf, int64_t thread, int64_t number)
{
	const uint64_t word[2] = { (uint64_t)thread + 1, (uint64_t)number + 1 };
	size_t n = (size_t)f->wish->size;

	memcpy(buf, f->content, n);
	memcpy(buf, word, n < sizeof word ? n : sizeof word);
}

static int create(struct files *f, const char *name, uint8_t *buf, int64_t thread, int64_t number)
{
	size_t n = (size_t)f->wish->size;
	int fd = openat(f->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), rc = 0;

	if (fd < 0)
		return fail(f, "made", errno);
	fill(f, buf, thread, number);
	if (write(fd, buf, n) != (ssize_t)n)
		rc = fail(f, "written", errno ? errno : ENOSPC);
	else if (f->wish->sync && fsync(fd))
		rc = fail(f, "synced", errno);
	if (close(fd) && !rc)
		rc = fail(f, "closed", errno);
	return rc;
}

static int look(struct files *f, const char *name)
{
	struct stat st;

	if (fstatat(f->fd, name, &st, 0))
		return fail(f, "examined", errno);
	return st.st_size == f->wish->size ? 0 : fail(f, "found with the size written", EIO);
}

static int read_back(struct files *f, const char *name, uint8_t *buf, int64_t thread,
		     int64_t number)
{
	size_t n = (size_t)f->wish->size;
	int fd = openat(f->fd, name, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return fail(f, "opened", errno);
	got = read(fd, buf + n, n);
	close(fd);
	if (got != (ssize_t)n)
		return fail(f, "read", got < 0 ? errno : EIO);
	fill(f, buf, thread, number);
	return memcmp(buf, buf + n, n) ? fail(f, "read back as written", EIO) : 0;
}

static const char *name_of(char name[48], int64_t thread, int64_t number)
{
	snprintf(name, 48, "%" PRId64 "/%06" PRId64, thread, number);
	return name;
}

static void work(void *ctx, int64_t thread)
{
	struct files *f = ctx;
	uint8_t *buf = malloc(2 * (size_t)f->wish->size);
	char name[48];
	int rc = buf ? 0 : fail(f, "kept in memory", ENOMEM);

	for (int64_t i = 0; i < f->wish->files && !rc && !f->failed && !ended_by; i++) {
		name_of(name, thread, i);
		if (f->step == 0)
			rc = create(f, name, buf, thread, i);
		else if (f->step == 1)
			rc = look(f, name);
		else if (f->step == 2)
			rc = read_back(f, name, buf, thread, i);
		else if (unlinkat(f->fd, name, 0))
			rc = fail(f, "removed", errno);
	}
	free(buf);
}

/* Files, the threads' directories, their own: whatever is still there. */
static void clean_up(struct files *f)
{
	char name[48];

	if (f->fd < 0)
		return;
	for (int64_t t = 0; t < f->wish->threads; t++) {
		for (int64_t i = 0; i < f->wish->files; i++)
			if (unlinkat(f->fd, name_of(name, t, i), 0) && errno != ENOENT)
				break;
		snprintf(name, sizeof name, "%" PRId64, t);
		unlinkat(f->fd, name, AT_REMOVEDIR);
	}
	close(f->fd);
	rmdir(f->path);
}

/* Space for all of them, with a block more for each. */
static int check_space(const struct wish *w, struct err *e)
{
	struct statvfs v;
	struct statfs kind;
	double files = (double)w->files * (double)w->threads, bytes;

	if (statvfs(w->directory, &v))
		return err_set(e, -EINVAL, "%.300s: %s", w->directory, strerror(errno));
	bytes = files * ((double)w->size + (double)v.f_bsize);
	if (bytes > (double)v.f_bavail * (double)v.f_frsize / SPACE_SHARE)
		return err_set(
			e, -EINVAL,
			"%.0f files of %" PRId64 " bytes take more than a quarter of the "
			"space that is free in %.300s: give a smaller --size or fewer --files",
			files, w->size, w->directory);
	if (v.f_files && files > (double)v.f_favail / SPACE_SHARE)
		return err_set(e, -EINVAL,
			       "%.0f files are more than a quarter of those that %.300s has room "
			       "for: give fewer --files",
			       files, w->directory);
	/* What is written there is memory of this process's control group. */
	if (!statfs(w->directory, &kind) && kind.f_type == TMPFS_MAGIC)
		return room_check(bytes, "these files, which are kept in memory,", e);
	return 0;
}

static int make_directories(struct files *f, struct err *e)
{
	const char *where = f->wish->directory;
	char name[48];

	if ((size_t)snprintf(f->path, sizeof f->path, "%s/sonde-files.XXXXXX", where) >=
	    sizeof f->path)
		return err_set(e, -EINVAL, "%.300s is too long a name", where);
	if (!mkdtemp(f->path))
		return err_set(e, -errno, "cannot make a directory in %.300s: %s", where,
			       strerror(errno));
	f->fd = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->fd < 0) {
		err_set(e, -errno, "cannot open %.300s: %s", f->path, strerror(errno));
		rmdir(f->path);
		return -EIO;
	}
	for (int64_t t = 0; t < f->wish->threads; t++) {
		snprintf(name, sizeof name, "%" PRId64, t);
		if (mkdirat(f->fd, name, 0700))
			return err_set(e, -errno, "cannot make a directory in %.300s: %s", f->path,
				       strerror(errno));
	}
	return 0;
}

static int failure(const struct files *f, struct err *e)
{
	if (ended_by)
		return err_set(e, -EINTR, "ended by a signal: %s", strsignal(ended_by));
	return err_set(e, -f->failed, "a file in %.300s cannot be %s: %s", f->wish->directory,
		       f->doing, strerror(f->failed));
}

/* Each step of all files; the seconds that each took are added. */
static int round_of(struct files *f, double seconds[STEPS], struct err *e)
{
	const struct team team = { f->wish->threads, work, f };
	int rc = 0;

	for (f->step = 0; f->step < STEPS && !rc; f->step++) {
		double took;

		rc = team_run(&team, &took, e);
		if (!rc && (f->failed || ended_by))
			rc = failure(f, e);
		if (!rc)
			seconds[f->step] += took;
	}
	return rc;
}

static double sum_of(const double seconds[STEPS])
{
	double sum = 0;

	for (size_t i = 0; i < STEPS; i++)
		sum += seconds[i];
	return sum;
}

/* As many rounds as the time that is asked for takes. */
static int repeat(struct files *f, struct figure *rate, struct err *e)
{
	double seconds[STEPS] = { 0 }, wanted = (double)f->wish->seconds_ns / 1e9, files = 0;

	do {
		int rc = round_of(f, seconds, e);

		if (rc)
			return rc;
		files += (double)f->wish->files * (double)f->wish->threads;
	} while (sum_of(seconds) < wanted);
	for (size_t i = 0; i < STEPS; i++)
		figure_add(&rate[i], files / seconds[i]);
	figure_add(&rate[STEPS], files / sum_of(seconds));
	return 0;
}

static int measure_all(struct files *f, struct figure *rate, struct err *e)
{
	double warm[STEPS] = { 0 };
	int rc = round_of(f, warm, e);

	for (int64_t i = 0; i < f->wish->repeats && !rc; i++)
		rc = repeat(f, rate, e);
	return rc;
}

/* "ext4" */
static void find_type(int fd, char type[MOUNT_TYPE_SIZE])
{
	struct root proc = { 0 };
	struct bytes mounts = { 0 };
	char path[48], text[1024], point[MOUNT_PATH_SIZE];
	enum { MOUNTS = 4 << 20 };
	uint64_t id;

	snprintf(type, MOUNT_TYPE_SIZE, "unknown");
	snprintf(path, sizeof path, "self/fdinfo/%d", fd);
	if (!root_open(&proc, "/proc") && root_read(&proc, path, text, sizeof text) > 0 &&
	    mountinfo_id_of(text, &id) && bytes_room(&mounts, MOUNTS) &&
	    root_read(&proc, "self/mountinfo", (char *)mounts.data, MOUNTS) > 0)
		mountinfo_find((const char *)mounts.data, id, point, sizeof point, type);
	bytes_free(&mounts);
	root_close(&proc);
}

static void tell_all(struct measured *t, const struct wish *w, const char *type)
{
	snprintf(t->component, sizeof t->component, "%s", type);
	json_put_text(&t->parameters, "file_system", type);
	json_put_int(&t->parameters, "size", w->size);
	json_put_int(&t->parameters, "files", w->files);
	json_key(&t->parameters, "sync");
	json_bool(&t->parameters, w->sync);
	json_put_int(&t->parameters, "threads", w->threads);
	json_put_int(&t->parameters, "repeats", w->repeats);
	json_put_real(&t->parameters, "seconds", (double)w->seconds_ns / 1e9);
	json_put_text(
		&t->info, "formula",
		"rate = files / seconds, of all threads together. create: open, write, close, "
		"with --sync fsync; stat; read: open, read, close, mostly out of the page "
		"cache; unlink; rate: files / seconds of the four steps");
	json_put_text(&t->info, "score", "log10(rate / 10000), within -1 and 1");
	json_put_text(&t->info, "verified",
		      "each file has its size, and each byte is read back as written");
}

/* One that is ignored, as by nohup, stays so. */
static void take_signals(void)
{
	static const int ending[] = { SIGHUP, SIGINT, SIGTERM, SIGXCPU };
	struct sigaction a = { .sa_handler = on_signal }, before;

	sigemptyset(&a.sa_mask);
	for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++)
		if (!sigaction(ending[i], NULL, &before) && before.sa_handler != SIG_IGN)
			sigaction(ending[i], &a, NULL);
}

static int make_content(struct files *f, struct err *e)
{
	f->content = malloc((size_t)f->wish->size);
	if (!f->content)
		return err_set(e, -ENOMEM, "out of memory");
	for (int64_t i = 0; i < f->wish->size; i++)
		f->content[i] = (uint8_t)(i * 31 + i / 251);
	return 0;
}

static int measure(const struct wish *w, struct measured *t, struct err *e)
{
	static const char *const names[STEPS + 1] = { "create_rate", "stat_rate", "read_rate",
						      "unlink_rate", "rate" };
	struct files f = { .wish = w, .fd = -1 };
	struct figure *rate = calloc(STEPS + 1, sizeof *rate);
	char type[MOUNT_TYPE_SIZE] = "";
	int rc = rate ? check_space(w, e) : err_set(e, -ENOMEM, "out of memory");

	if (!rc)
		rc = make_content(&f, e);
	take_signals();
	if (!rc)
		rc = make_directories(&f, e);
	if (!rc)
		rc = measure_all(&f, rate, e);
	if (!rc) {
		find_type(f.fd, type);
		tell_all(t, w, type);
		for (size_t i = 0; i <= STEPS; i++)
			measured_figure(t, names[i], &rate[i]);
		measured_score(t, figure_mean(&rate[STEPS]), REFERENCE);
	}
	clean_up(&f);
	free(rate);
	free(f.content);
	return rc;
}

const struct indicator indicator_files = {
	.name = "files",
	.indicator = "SondeFiles",
	.options = rows,
	.noptions = sizeof rows / sizeof rows[0],
	.measure = measure,
};
