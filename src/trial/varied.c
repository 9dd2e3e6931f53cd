/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/varied.h"

#include "base/clock.h"
#include "base/hash.h"
#include "job/secret/secret.h"
#include "job/words.h"
#include "trial/scripted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATIENCE (20 * NS_PER_S)
enum { TEXT_MOST = 4000, NAME_MOST = 255, DIGEST_SHOWN = 16, OUTPUT_KEPT = 4096 };

/* text ends with a NUL. */
static void add(struct bench_facts *f, const char *name, struct bytes *text)
{
	char digest[SHA256_HEX];

	if (text->failed) {
		f->failed = true;
		return;
	}
	if (text->len > TEXT_MOST + 1) {
		sha256_hex(digest, text->data, text->len - 1);
		text->len = TEXT_MOST;
		bytes_printf(text, "... (SHA-256 %.*s)", DIGEST_SHOWN, digest);
		bytes_u8(text, 0);
	}
	if (text->failed)
		f->failed = true;
	else
		bench_facts_put(f, name, (const char *)text->data);
}

/* ---- variables and arguments ---- */

static bool is_set_later(const struct option_list *l, uint32_t i, size_t n)
{
	for (uint32_t k = i + 1; k < l->n; k++)
		if (!strncmp(l->text[k], l->text[i], n + 1)) /* with its = */
			return true;
	return false;
}

void varied_environment(struct bench_facts *f, const struct secret_list *l,
			const struct option_list *environment)
{
	for (uint32_t i = 0; i < environment->n; i++) {
		const char *text = environment->text[i];
		size_t n = strcspn(text, "=");
		struct bytes value = { 0 };
		char name[NAME_MOST + 8];

		if (!n || n > NAME_MOST || text[n] != '=' || is_set_later(environment, i, n))
			continue;
		snprintf(name, sizeof name, "env.%.*s", (int)n, text);
		if (secret_variable(l, text, n, text + n + 1))
			bytes_puts(&value, SECRET_MASK);
		else
			secret_text(l, &value, text + n + 1);
		bytes_u8(&value, 0);
		add(f, name, &value);
		bytes_free(&value);
	}
}

void varied_arguments(struct bench_facts *f, const struct secret_list *l, char *const *argv,
		      const char *script)
{
	struct bytes text = { 0 }, first = { 0 };
	char *alone[] = { argv[0], NULL };
	char **word;
	size_t n = 0, kept = 1;

	while (argv[n])
		n++;
	word = calloc(n + 1, sizeof *word);
	if (!word) {
		f->failed = true;
		return;
	}
	word[0] = argv[0]; /* of some commands, what follows is known to be a secret */
	for (size_t i = 1; i < n; i++)
		if (argv[i] != script)
			word[kept++] = argv[i];
	words_join(l, &first, alone);
	words_join(l, &text, word);
	bytes_u8(&text, 0);
	if (kept > 1 && !first.failed && !text.failed) {
		size_t head = first.len + 1; /* with a blank */

		memmove(text.data, text.data + head, text.len - head);
		text.len -= head;
		add(f, "script.arguments", &text);
	}
	f->failed |= first.failed || text.failed;
	free(word);
	bytes_free(&text);
	bytes_free(&first);
}

/* ---- the working tree ---- */

/* What git prints, NUL at its end. False: it failed, or there is no git. */
static bool git(const char *folder, const char *const *words, struct bytes *out)
{
	static char program[] = "git", in[] = "-C", option[] = "-c",
		    quick[] = "core.fsmonitor=false", quiet[] = "core.hooksPath=/dev/null",
		    no_locks[] = "--no-optional-locks";
	static char config[] = "GIT_CONFIG_NOSYSTEM=1", pager[] = "GIT_PAGER=cat";
	char *argv[16] = { program, no_locks, in, (char *)folder, option, quick, option, quiet };
	struct option_list environment = { .text = { config, pager }, .n = 2 };
	const struct scripted_wish w = { .argv = argv,
					 .environment = &environment,
					 .limit_ns = PATIENCE };
	struct scripted r;
	struct err e;
	char why[600];
	bool well;

	for (size_t i = 0; words[i] && i < 7; i++)
		argv[8 + i] = (char *)words[i];
	well = !scripted_run(&r, &w, &e) && !scripted_failed(&r, why, sizeof why);
	if (well)
		bytes_put(out, r.out.data, r.out.len);
	scripted_free(&r);
	return well && out->len && !out->failed;
}

static bool git_line(const char *folder, const char *const *words, char *line, size_t size)
{
	struct bytes out = { 0 };
	bool well = git(folder, words, &out);

	if (well)
		snprintf(line, size, "%.*s", (int)strcspn((const char *)out.data, "\n"),
			 (const char *)out.data);
	bytes_free(&out);
	return well && *line;
}

static bool folder_of(const char *path, char out[PATH_MAX])
{
	struct stat st;
	char *slash;

	if (!path || !realpath(path, out) || stat(out, &st))
		return false;
	slash = S_ISDIR(st.st_mode) ? NULL : strrchr(out, '/');
	if (slash)
		slash[slash == out] = '\0';
	return true;
}

/* What differs from the commit, of files that git knows: recordings and builds lie beside them. */
static void add_dirt(struct bench_facts *f, const char *folder)
{
	static const char *const diff[] = { "diff",
					    "--no-ext-diff",
					    "--no-textconv",
					    "--no-color",
					    "--ignore-submodules=dirty",
					    "HEAD",
					    NULL };
	struct bytes out = { 0 };
	char digest[SHA256_HEX];

	if (git(folder, diff, &out)) {
		bench_facts_put(f, "script.git_dirty", out.len > 1 ? "true" : "false");
		sha256_hex(digest, out.data, out.len);
		digest[DIGEST_SHOWN] = '\0';
		if (out.len > 1)
			bench_facts_put(f, "script.git_diff", digest);
	}
	bytes_free(&out);
}

void varied_tree(struct bench_facts *f, const char *script, const char *otherwise)
{
	static const char *const commit[] = { "rev-parse", "--verify", "-q", "HEAD", NULL };
	static const char *const branch[] = { "symbolic-ref", "--short", "-q", "HEAD", NULL };
	const char *const paths[] = { script, otherwise };
	char folder[PATH_MAX], line[OUTPUT_KEPT] = "", program[PATH_MAX];
	struct err e;

	if (scripted_find_in(getenv("PATH"), "git", program, &e))
		return;
	for (size_t i = 0; i < 2; i++) {
		if (!folder_of(paths[i], folder) || !git_line(folder, commit, line, sizeof line))
			continue;
		bench_facts_put(f, "script.git_commit", line);
		if (git_line(folder, branch, line, sizeof line))
			bench_facts_put(f, "script.git_branch", line);
		add_dirt(f, folder);
		return;
	}
}
