/* SPDX-License-Identifier: Apache-2.0 */
/* repeats.c - programs that do nothing but read a file and write what comes of it, run several
 * times with the same arguments: each reads the same file and does the same work again. */
#include "core/glob.h"
#include "report/summary/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 64, WORD_MAX = 64 };

/* Programs that take a file as they are called, and all of it. Those that have other words as well,
 * as grep its pattern and sort its columns, may read a pipe, with other data each time. */
static const struct {
	const char *commands;
	const char *option; /* that must be among the words; NULL: none */
} readers[] = {
	{ "gzip,pigz,bzip2,pbzip2,lbzip2,xz,lzma,zstd,lz4,brotli", "-*d*,--test,-t" },
	{ "zcat,gunzip,unpigz,bzcat,xzcat,zstdcat,lz4cat,unzip", NULL },
	{ "md5sum,sha1sum,sha224sum,sha256sum,sha384sum,sha512sum,b2sum,cksum", NULL },
	{ "ncdump,h5dump,objdump,readelf", NULL },
};

struct repeated {
	const char *name, *line;
	double runs, cpu_s;
};

/* The next word of a command line as it is recorded, which is quoted for a shell. */
static const char *next_word(const char *at, char word[WORD_MAX])
{
	char quote = '\0';
	size_t n = 0;

	at += strspn(at, " ");
	for (; *at && (quote || *at != ' '); at++) {
		if (*at == '\'')
			quote = quote ? '\0' : '\'';
		else if (n + 1 < WORD_MAX)
			word[n++] = *at;
	}
	word[n] = '\0';
	return at;
}

/* Whether it reads a file that is among its arguments. */
static bool reads_files(size_t kind, const char *line)
{
	char word[WORD_MAX];
	bool has_option = !readers[kind].option;
	bool has_file = false;

	for (const char *at = next_word(line, word); *at;) {
		at = next_word(at, word);
		if (!strcmp(word, "-"))
			return false;
		if (readers[kind].option && glob_match(readers[kind].option, word))
			has_option = true;
		if (*word != '-' && strpbrk(word, "./"))
			has_file = true;
	}
	return has_option && has_file;
}

/* Lines that were cut, or in which a secret was masked, may differ in what is missing. */
static bool is_whole(const char *line)
{
	size_t n = strlen(line);

	return !(n >= 3 && !strcmp(line + n - 3, "...")) && !strstr(line, "***");
}

static bool is_reader(const char *name, const char *line)
{
	char first[WORD_MAX];

	next_word(name, first);
	for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++)
		if (glob_match(readers[i].commands, first))
			return is_whole(line) && reads_files(i, line);
	return false;
}

static void add(struct repeated *lines, uint32_t *n, const struct repeated *x)
{
	uint32_t i = 0;

	while (i < *n &&
	       (strcmp(lines[i].name, x->name) != 0 || strcmp(lines[i].line, x->line) != 0))
		i++;
	if (i == LINES_MAX)
		return;
	if (i == *n)
		lines[(*n)++] = (struct repeated){ .name = x->name, .line = x->line };
	lines[i].runs++;
	lines[i].cpu_s += x->cpu_s;
}

int summary_repeats_make(struct summary *s, const struct run *r)
{
	struct repeated *lines = calloc(LINES_MAX, sizeof *lines), *most = lines;
	uint32_t n = 0;

	s->repeated_runs = s->repeated_cpu_s = 0;
	*s->repeated = '\0';
	if (!lines)
		return -ENOMEM;
	for (uint32_t i = 1; i < r->ninstances; i++) {
		const struct run_instance *in = &r->instances[i];
		struct repeated x = { .name = in->name, .line = run_label(r, i, "command_line") };

		if (x.name && x.line && in->domain && !strcmp(in->domain, "process") &&
		    is_reader(x.name, x.line) &&
		    run_final_value(r, i, "process.cpu_seconds", &x.cpu_s))
			add(lines, &n, &x);
	}
	for (uint32_t i = 1; i < n; i++)
		if (lines[i].cpu_s * (lines[i].runs - 1) > most->cpu_s * (most->runs - 1))
			most = &lines[i];
	if (n && most->runs > 1) {
		s->repeated_runs = most->runs;
		s->repeated_cpu_s = most->cpu_s;
		summary_put_command(s->repeated, sizeof s->repeated, most->line);
	}
	free(lines);
	return 0;
}
