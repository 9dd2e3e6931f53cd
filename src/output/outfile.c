/* SPDX-License-Identifier: Apache-2.0 */
#include "output/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The open ones: a signal handler is handed nothing. Each change is one store, so that the list is
 * whole whenever a signal comes. */
static struct outfile *volatile unfinished;

static void take_away(int signal)
{
	for (const struct outfile *f = unfinished; f; f = f->next) {
		struct stat st;

		unlink(f->temporary);
		if (f->held_empty && !stat(f->path, &st) && !st.st_size)
			unlink(f->path);
	}
	raise(signal); /* which now ends the process, when this returns */
}

/* A signal that is ignored, as by nohup, or that a command takes itself, is left to it. */
static void take_signals(void)
{
	static const int ending[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
	struct sigaction act = { .sa_handler = take_away, .sa_flags = (int)SA_RESETHAND }, old;

	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		if (!sigaction(ending[i], NULL, &old) && old.sa_handler == SIG_DFL)
			sigaction(ending[i], &act, NULL);
}

static void enlist(struct outfile *f)
{
	take_signals();
	f->next = unfinished;
	unfinished = f;
}

static void delist(const struct outfile *f)
{
	struct outfile *before = unfinished;

	if (before == f) {
		unfinished = f->next;
		return;
	}
	while (before && before->next != f)
		before = before->next;
	if (before)
		before->next = f->next;
}

/* The last '/' of an absolute path is left alone. */
static void cut_last(char *path)
{
	char *slash = strrchr(path, '/');

	slash[slash == path] = '\0';
}

/* Where the file system of a file is mounted: the highest directory on the same device. */
static void find_mount(const char *path, char out[PATH_MAX])
{
	char directory[PATH_MAX], parent[PATH_MAX];
	struct stat here, above;

	snprintf(directory, sizeof(directory), "%s", path);
	if (strrchr(directory, '/'))
		cut_last(directory);
	else
		snprintf(directory, sizeof(directory), ".");
	if (!realpath(directory, out) || stat(out, &here)) {
		snprintf(out, PATH_MAX, "%s", directory);
		return;
	}
	while (strcmp(out, "/")) {
		memcpy(parent, out, sizeof(parent));
		cut_last(parent);
		if (stat(parent, &above) || above.st_dev != here.st_dev)
			return;
		memcpy(out, parent, sizeof(parent));
	}
}

static int fail(const struct outfile *f, int code, const char *why, struct err *e)
{
	char mount[PATH_MAX];

	if (code != -ENOSPC && code != -EDQUOT)
		return err_set(e, code, "cannot write %s: %s", f->path, why);
	find_mount(f->path, mount);
	return err_set(e, code, "cannot write %s: %s on the disk mounted at %s", f->path,
		       strerror(-code), mount);
}

int outfile_open(struct outfile *f, const char *directory, const char *name, struct err *e)
{
	int fd, n = snprintf(f->temporary, sizeof(f->temporary), "%s/.%s.XXXXXX", directory, name);

	f->file = NULL;
	f->held_empty = false;
	snprintf(f->path, sizeof(f->path), "%s/%s", directory, name);
	if (n < 0 || (size_t)n >= sizeof(f->temporary))
		return err_set(e, -ENAMETOOLONG, "cannot write into %s: the name is too long",
			       directory);
	if (mkdir(directory, 0700) && errno != EEXIST) {
		int code = errno;

		return err_set(e, -code, "cannot make the directory %s: %s", directory,
			       strerror(code));
	}
	enlist(f);
	fd = mkostemp(f->temporary, O_CLOEXEC);
	f->file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f->file) {
		int code = errno;

		if (fd >= 0) {
			close(fd);
			unlink(f->temporary);
		}
		delist(f);
		return fail(f, -code, strerror(code), e);
	}
	return 0;
}

static int finish(struct outfile *f)
{
	int rc = 0;

	if (fflush(f->file) || fsync(fileno(f->file)))
		rc = -errno;
	if (fclose(f->file) && !rc)
		rc = -errno;
	if (!rc && rename(f->temporary, f->path))
		rc = -errno;
	return rc;
}

int outfile_close(struct outfile *f, int failed, struct err *e)
{
	char why[sizeof(e->text)];
	int rc = failed;

	if (!failed)
		rc = finish(f);
	else
		fclose(f->file);
	if (rc)
		unlink(f->temporary);
	delist(f);
	if (!rc)
		return 0;
	snprintf(why, sizeof(why), "%s", failed && e ? e->text : strerror(-rc));
	return fail(f, rc, why, e);
}

const char *outfile_directory(const char *path, char *out, size_t size)
{
	struct stat st;
	char *slash;

	snprintf(out, size, "%s", path);
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return out;
	slash = strrchr(out, '/');
	if (!slash)
		snprintf(out, size, ".");
	else
		slash[slash == out] = '\0';
	return out;
}
