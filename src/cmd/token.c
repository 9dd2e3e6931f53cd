/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/token.h"

#include "base/entropy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int check(const struct token *t, const char *where, struct err *e)
{
	size_t n = strlen(t->text);

	for (size_t i = 0; i < n; i++)
		if (t->text[i] <= ' ' || t->text[i] > '~')
			return err_set(
				e, -EINVAL,
				"the token in %.300s has a character that HTTP cannot carry; "
				"take letters and digits",
				where);
	if (n >= TOKEN_LEAST)
		return 0;
	return err_set(e, -EINVAL, "the token in %.300s is shorter than %d characters", where,
		       TOKEN_LEAST);
}

static int read_file(struct token *t, struct err *e)
{
	int fd = open(t->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_mode & 077 || st.st_uid != geteuid()) {
		close(fd);
		return err_set(e, -EPERM,
			       "others may read %.300s, or it is not a file of your own: "
			       "chmod 600 it, or name another with --token-file",
			       t->file);
	}
	n = read(fd, t->text, sizeof t->text - 1);
	close(fd);
	t->text[n > 0 ? n : 0] = '\0';
	t->text[strcspn(t->text, "\r\n")] = '\0';
	return check(t, t->file, e);
}

/* A new one, which nobody can guess. */
static int make_file(struct token *t, struct err *e)
{
	uint8_t random[24];
	int fd, rc = 0;

	if (!entropy_fill(random, sizeof random))
		return err_set(e, -EIO, "the kernel gives no random numbers for a token");
	for (size_t i = 0; i < sizeof random; i++)
		snprintf(t->text + 2 * i, 3, "%02x", random[i]);
	fd = open(t->file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || dprintf(fd, "%s\n", t->text) < 0 || fchmod(fd, 0600))
		rc = -errno;
	if (fd >= 0)
		close(fd);
	return rc ? err_set(e, rc, "cannot make the token file %.300s: %s", t->file, strerror(-rc))
		  : 0;
}

/* Directories of the way are private, too. */
static int own_file(struct token *t, struct err *e)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	char dir[PATH_MAX - 16];
	int n;

	if (config && *config)
		n = snprintf(dir, sizeof dir, "%s", config);
	else
		n = snprintf(dir, sizeof dir, "%s/.config", home && *home ? home : ".");
	if (n < 0 || (size_t)n >= sizeof dir - 8)
		return err_set(e, -ENAMETOOLONG, "the home directory's path is too long");
	mkdir(dir, 0700);
	strncat(dir, "/sonde", 7);
	mkdir(dir, 0700);
	snprintf(t->file, sizeof t->file, "%s/token", dir);
	return 0;
}

int token_find(struct token *t, const char *file, struct err *e)
{
	const char *said = getenv("SONDE_TOKEN");
	int rc = 0;

	*t = (struct token){ .text = "" };
	if (said && *said && !file) {
		if ((size_t)snprintf(t->text, sizeof t->text, "%s", said) >= sizeof t->text)
			return err_set(e, -EINVAL, "SONDE_TOKEN is too long");
		return check(t, "SONDE_TOKEN", e);
	}
	if (file)
		snprintf(t->file, sizeof t->file, "%s", file);
	else
		rc = own_file(t, e);
	if (rc)
		return rc;
	e->text[0] = '\0';
	rc = read_file(t, e);
	if (rc == -ENOENT && !file)
		return make_file(t, e);
	if (rc && !e->text[0])
		err_set(e, rc, "cannot read the token file %.300s: %s", t->file, strerror(-rc));
	return rc;
}
