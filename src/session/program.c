/* SPDX-License-Identifier: Apache-2.0 */
#include "session/program.h"

#include "base/bytes.h"
#include "base/text/escape.h"
#include "console/say.h"
#include "job/launch.h"
#include "job/words.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* 0, or the errno of executing it. */
static int check_file(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno == EACCES ? EACCES : ENOENT;
	if (S_ISDIR(st.st_mode))
		return EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) ? errno : 0;
}

static int check_in(const char *list, const char *name)
{
	char path[PATH_MAX];
	int found = ENOENT;

	for (const char *at = list;; at++) {
		size_t n = strcspn(at, ":");
		int rc = ENOENT;

		if ((size_t)snprintf(path, sizeof path, "%.*s%s%s", (int)n, at, n ? "/" : "",
				     name) < sizeof path)
			rc = check_file(path);
		if (!rc)
			return 0;
		found = rc == ENOENT ? found : rc;
		at += n;
		if (!*at)
			return found;
	}
}

static int check_name(const char *name)
{
	char standard[256];
	const char *list = getenv("PATH");

	if (!*name)
		return ENOENT;
	if (strchr(name, '/'))
		return check_file(name);
	if (list)
		return check_in(list, name);
	return confstr(_CS_PATH, standard, sizeof standard) < sizeof standard
		       ? check_in(standard, name)
		       : 0;
}

static bool is_for_a_shell(char *const *argv)
{
	static const char *const builtins[] = { "cd",     "export", "source", ".",
						"ulimit", "umask",  "alias",  "set",
						"unset",  "eval",   "exec",   "if",
						"for",    "while",  "case",   "module" };

	for (size_t i = 0; i < sizeof builtins / sizeof builtins[0]; i++)
		if (!strcmp(argv[0], builtins[i]))
			return true;
	return strpbrk(argv[0], " \t|&;<>()$`*") || strchr(argv[0], '=');
}

/* "; for a shell: sonde run -- sh -c 'cd /tmp'" */
static void add_hint(struct bytes *b, char *const *argv)
{
	struct bytes words = { 0 };

	for (char *const *word = argv; *word; word++) {
		bytes_puts(&words, word == argv ? "" : " ");
		if (word == argv) /* as it was written: it may be a whole line */
			bytes_puts(&words, *word);
		else
			escape_shell(&words, *word);
	}
	bytes_u8(&words, '\0');
	bytes_puts(b, "; to run it in a shell: sonde run -- sh -c ");
	escape_shell(b, words.failed ? "LINE" : (const char *)words.data);
	bytes_free(&words);
}

int program_check(char *const *argv)
{
	int rc = check_name(argv[0]);
	struct bytes hint = { 0 };

	if (rc == ENOENT && is_for_a_shell(argv))
		add_hint(&hint, argv);
	bytes_u8(&hint, '\0');
	if (rc == ENOENT)
		say("%s: command not found%s", argv[0], hint.failed ? "" : (const char *)hint.data);
	else if (rc)
		say("%s: cannot execute: %s", argv[0], strerror(rc));
	bytes_free(&hint);
	if (!rc)
		return 0;
	return rc == ENOENT ? LAUNCH_NOT_FOUND : LAUNCH_NOT_EXECUTABLE;
}
