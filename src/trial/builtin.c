/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/builtin.h"

#include "base/helper.h"
#include "trial/scripted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INDICATOR(name, what) { #name, what },
const struct builtin builtins[] = {
#include "indicators.def"
};
#undef INDICATOR

const size_t nbuiltins = sizeof builtins / sizeof builtins[0];

static bool is_builtin(const char *word)
{
	for (size_t i = 0; i < nbuiltins; i++)
		if (!strcmp(builtins[i].name, word))
			return true;
	return false;
}

int chosen_script_find(struct chosen_script *s, char *const *words, struct err *e)
{
	size_t n = 1;
	int rc = scripted_find(words[0], s->path, e);

	s->builtin = rc == -ENOENT && is_builtin(words[0]);
	if (rc && !s->builtin)
		return rc;
	if (s->builtin)
		rc = helper_find("indicator", NULL, s->path, sizeof s->path, e);
	if (s->builtin && rc)
		return rc;
	while (words[n])
		n++;
	s->argv = calloc(n + 2, sizeof *s->argv);
	if (!s->argv)
		return err_set(e, -ENOMEM, "out of memory");
	s->argv[0] = s->path;
	memcpy(s->argv + 1, words + !s->builtin, (n - !s->builtin) * sizeof *s->argv);
	return 0;
}

void builtin_help(char *const *words)
{
	struct chosen_script s = { 0 };
	bool asked = false;
	struct err e;

	for (size_t i = 1; words[0] && words[i]; i++)
		asked |= !strcmp(words[i], "--help") || !strcmp(words[i], "-h");
	if (asked && !chosen_script_find(&s, words, &e) && s.builtin)
		execv(s.path, s.argv);
	chosen_script_free(&s);
}

void chosen_script_free(struct chosen_script *s)
{
	free(s->argv);
	s->argv = NULL;
}
