/* SPDX-License-Identifier: Apache-2.0 */
/* rules_read.c - where rules come from: a file, the files of a directory, the program itself. */
#include "base/textfile.h"
#include "report/assets.h"
#include "report/rule.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int rules_parse(struct rules **rules, const char *name, const char *text, size_t len, struct err *e)
{
	int rc;

	*rules = calloc(1, sizeof **rules);
	if (!*rules)
		return err_set(e, -ENOMEM, "%.200s: out of memory", name);
	rc = rules_add(*rules, name, text, len, e);
	if (rc) {
		rules_free(*rules);
		*rules = NULL;
	}
	return rc;
}

int rules_builtin(struct rules **rules, struct err *e)
{
	return rules_parse(rules, "rules", asset_rules, (size_t)(asset_rules_end - asset_rules), e);
}

static int read_file(struct rules *rules, const char *path, struct err *e)
{
	struct bytes text = { 0 };
	int rc = textfile_read(path, "rules file", RULES_BYTES_MAX, &text, e);

	if (!rc)
		rc = rules_add(rules, path, (const char *)text.data, text.len, e);
	bytes_free(&text);
	return rc;
}

static int is_rules_file(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return n > 6 && d->d_name[0] != '.' && strcmp(d->d_name + n - 6, ".rules") == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* All of its files NAME.rules, by name. One without any is most likely another directory. */
static int read_directory(struct rules *rules, const char *path, struct err *e)
{
	struct dirent **entry;
	int n = scandir(path, &entry, is_rules_file, by_name), rc = 0;

	if (n < 0)
		return err_set(e, -errno, "cannot read the rules directory %.300s: %s", path,
			       strerror(errno));
	if (!n)
		rc = err_set(e, -ENOENT,
			     "the directory %.300s holds no file named *.rules; name the one that "
			     "does, or a file",
			     path);
	for (int i = 0; i < n; i++) {
		char file[PATH_MAX];
		int length = snprintf(file, sizeof file, "%s/%s", path, entry[i]->d_name);

		if (!rc && length >= (int)sizeof file)
			rc = err_set(e, -ENAMETOOLONG, "%.300s: this path is too long", path);
		if (!rc)
			rc = read_file(rules, file, e);
		free(entry[i]);
	}
	free(entry);
	return rc;
}

int rules_read(struct rules **rules, const char *path, struct err *e)
{
	struct stat st;
	int rc;

	*rules = calloc(1, sizeof **rules);
	if (!*rules)
		return err_set(e, -ENOMEM, "%.200s: out of memory", path);
	rc = stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? read_directory(*rules, path, e)
							 : read_file(*rules, path, e);
	if (rc) {
		rules_free(*rules);
		*rules = NULL;
	}
	return rc;
}
