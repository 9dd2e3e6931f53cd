/* SPDX-License-Identifier: Apache-2.0 */
/* platform_fact.c - small files, links and folders, and the facts in them. */
#include "base/text/number.h"
#include "source/platform/platform_part.h"
#include "source/sysfs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *platform_trim(char *text)
{
	char *end;

	text += strspn(text, " \t");
	end = text + strcspn(text, "\r\n");
	while (end > text && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*end = '\0';
	return text;
}

bool platform_line(const struct root *r, const char *path, char out[PLATFORM_TEXT])
{
	char buf[4096];
	ssize_t n = root_read(r, path, buf, sizeof buf); /* -EFBIG: the beginning is there */
	const char *line = platform_trim(buf);

	if (n == 0 || !*line)
		return false;
	snprintf(out, PLATFORM_TEXT, "%.*s", PLATFORM_TEXT - 1, line);
	return true;
}

bool platform_list(const struct root *r, const char *path, struct cpulist *set)
{
	char list[CPULIST_TEXT];

	sysfs_line(r, path, list, sizeof list);
	return *list && cpulist_parse(set, list);
}

void platform_text(const struct platform *p, const char *key, const char *text, size_t n)
{
	char copy[PLATFORM_TEXT], *value;

	snprintf(copy, sizeof copy, "%.*s", (int)(n < sizeof copy ? n : sizeof copy - 1), text);
	value = platform_trim(copy);
	if (*value)
		sample_meta_text(p->sample, key, value);
}

bool platform_link(const struct root *r, const char *path, char out[PLATFORM_NAME])
{
	char target[512];
	const char *name;
	ssize_t n = r->fd > 0 ? readlinkat(r->fd, path, target, sizeof target - 1) : -1;

	if (n <= 0)
		return false;
	target[n] = '\0';
	name = strrchr(target, '/');
	name = name ? name + 1 : target;
	if (!*name || strlen(name) >= PLATFORM_NAME)
		return false;
	snprintf(out, PLATFORM_NAME, "%s", name);
	return true;
}

/* In the manner of versions: eth2 before eth10. */
static int by_name(const void *a, const void *b)
{
	return strverscmp(a, b);
}

size_t platform_names(const struct root *r, const char *path, char (*names)[PLATFORM_NAME],
		      size_t max)
{
	_Alignas(struct dirent64) char buf[8192];
	int fd = root_file(r, path);
	ssize_t len = fd >= 0 ? 1 : 0;
	size_t n = 0;

	while (len > 0 && (len = getdents64(fd, buf, sizeof buf)) > 0)
		for (ssize_t at = 0; at < len;) {
			const struct dirent64 *d =
				(const struct dirent64 *)(const void *)(buf + at);

			at += d->d_reclen;
			if (d->d_name[0] != '.' && strlen(d->d_name) < PLATFORM_NAME && n < max)
				snprintf(names[n++], PLATFORM_NAME, "%s", d->d_name);
		}
	file_close(&fd);
	qsort(names, n, sizeof *names, by_name);
	return n;
}

static const struct root *root_of(const struct platform *p, enum platform_place place)
{
	return place == IN_PROC ? p->proc : place == IN_SYS ? p->sys : p->files;
}

static void say_chosen(const struct platform *p, const char *key, const char *line)
{
	const char *open = strchr(line, '['), *close = open ? strchr(open, ']') : NULL;

	if (close)
		platform_text(p, key, open + 1, (size_t)(close - open - 1));
	else if (!open)
		platform_text(p, key, line, strlen(line));
}

static void say_number(const struct platform *p, const char *key, const char *line, int64_t scale)
{
	int64_t v;

	if (number_i64(&line, &v) && !__builtin_mul_overflow(v, scale ? scale : 1, &v))
		sample_meta_int(p->sample, key, v);
}

/* With every other thread off, a list is long: cut, it would be another one. */
static void say_cpus(const struct platform *p, const struct platform_fact *f, const char *key,
		     const char *path)
{
	char list[CPULIST_TEXT];
	struct cpulist set;

	sysfs_line(root_of(p, f->place), path, list, sizeof list);
	if (*list && cpulist_parse(&set, list))
		sample_meta_text(p->sample, key, list);
}

static void say_fact(const struct platform *p, const struct platform_fact *f, const char *key,
		     const char *path)
{
	char line[PLATFORM_TEXT];

	if (f->form == FORM_CPUS)
		say_cpus(p, f, key, path);
	else if (!platform_line(root_of(p, f->place), path, line))
		return;
	else if (f->form == FORM_NUMBER)
		say_number(p, key, line, f->scale);
	else if (f->form == FORM_CHOSEN)
		say_chosen(p, key, line);
	else
		sample_meta_text(p->sample, key, line);
}

void platform_facts(const struct platform *p, const struct platform_fact *fact, size_t n)
{
	for (size_t i = 0; i < n; i++)
		say_fact(p, &fact[i], fact[i].key, fact[i].path);
}

/* The text with its one %s replaced: such formats come from tables, not from a literal. */
static void fill(char *out, size_t size, const char *text, const char *of)
{
	const char *at = strstr(text, "%s");

	if (at)
		snprintf(out, size, "%.*s%s%s", (int)(at - text), text, of, at + 2);
	else
		snprintf(out, size, "%s", text);
}

void platform_facts_of(const struct platform *p, const struct platform_fact *fact, size_t n,
		       const char *of)
{
	char key[PLATFORM_KEY], path[PLATFORM_PATH];

	for (size_t i = 0; i < n; i++) {
		fill(key, sizeof key, fact[i].key, of);
		fill(path, sizeof path, fact[i].path, of);
		say_fact(p, &fact[i], key, path);
	}
}
