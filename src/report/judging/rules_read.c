/* SPDX-License-Identifier: Apache-2.0 */
/* rules_read.c - where rules come from: a file, the files of a directory, the program itself. */
#include "base/text/textfiles.h"
#include "report/assets.h"
#include "report/judging/rule.h"

#include <errno.h>
#include <stdlib.h>

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

static int add(void *rules, const char *path, const char *text, size_t len, struct err *e)
{
	return rules_add(rules, path, text, len, e);
}

int rules_read(struct rules **rules, const char *path, struct err *e)
{
	struct textfiles files = {
		.what = "rules", .ending = ".rules", .most = RULES_BYTES_MAX, .take = add
	};
	int rc;

	*rules = files.ctx = calloc(1, sizeof **rules);
	if (!*rules)
		return err_set(e, -ENOMEM, "%.200s: out of memory", path);
	rc = textfiles_read(&files, path, e);
	if (rc) {
		rules_free(*rules);
		*rules = NULL;
	}
	return rc;
}
