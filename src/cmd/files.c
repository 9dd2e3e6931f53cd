/* SPDX-License-Identifier: Apache-2.0 */
/* sonde files: the inputs and outputs of a job, with size, time and, asked for, a checksum. */
#include "base/bytes.h"
#include "base/hash.h"
#include "base/text/escape.h"
#include "base/text/json.h"
#include "console/command.h"
#include "recording/join.h"
#include "report/lines.h"
#include "report/summary/filesused.h"
#include "session/find.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct files_options {
	bool manifest, hash;
};

static const struct option rows[] = {
	{ .name = "manifest",
	  .help = "Print JSON for programs instead: schema sonde/manifest/1.",
	  OPTION_OFFSET(struct files_options, manifest) },
	{ .name = "hash",
	  .help = "Compute the SHA-256 of each file as it is now; a file that has changed since has none.",
	  OPTION_OFFSET(struct files_options, hash) },
};

static const struct example examples[] = {
	{ "files sonde_1234", "what the job read and wrote" },
	{ "files --manifest --hash sonde_1234", "the same with checksums, for programs" },
};

/* "": it cannot be read, or is another by now. */
static void hash_of(const struct used_sum *s, char out[SHA256_HEX])
{
	int fd = open(s->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	void *data;

	*out = '\0';
	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && (double)st.st_size == s->value[USED_SIZE] &&
	    (int64_t)st.st_mtim.tv_sec == (int64_t)s->value[USED_MODIFIED]) {
		data = st.st_size ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
				  : NULL;
		if (data != MAP_FAILED)
			sha256_hex(out, data, (size_t)st.st_size);
		if (data && data != MAP_FAILED)
			munmap(data, (size_t)st.st_size);
	}
	close(fd);
}

static const char *kind_of(const struct used_sum *s)
{
	static const char *const names[] = {
		[USED_INPUT] = "input", [USED_OUTPUT] = "output", [USED_BOTH] = "both"
	};

	return names[used_kind(s)];
}

static void print_text(const struct used_sum *s, const char *hash)
{
	char bytes[CELL], when[40] = "-", name[4 * 1024];
	time_t t = (time_t)s->value[USED_MODIFIED];
	struct tm tm;

	if (gmtime_r(&t, &tm))
		strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &tm);
	printf("%-6s %10s  %s  %s%s%s\n", kind_of(s),
	       cell_text(bytes, UNIT_BYTES, s->value[USED_SIZE]), when, hash, *hash ? "  " : "",
	       escape_terminal_into(name, sizeof name, s->name));
}

static void put_json(struct json *j, const struct used_sum *s, const char *hash)
{
	json_object(j);
	json_put_text(j, "path", s->name);
	json_put_text(j, "kind", kind_of(s));
	json_put_real(j, "size_bytes", s->value[USED_SIZE]);
	json_put_real(j, "modified_seconds", s->value[USED_MODIFIED]);
	json_put_real(j, "read_bytes", s->value[USED_READ]);
	json_put_real(j, "written_bytes", s->value[USED_WRITTEN]);
	json_put_text(j, "sha256", *hash ? hash : NULL);
	json_object_end(j);
}

static int list(const struct files_options *o, struct run *r, const struct files_used *u,
		struct err *e)
{
	struct bytes out = { 0 };
	struct json j = { .out = &out, .indent = true };
	struct used_sum *s = NULL;
	char hash[SHA256_HEX] = "";
	size_t n = 0;
	int rc = used_sums(&s, &n, u, r, USED_BY_FILE, e);

	json_object(&j);
	json_put_text(&j, "schema", "sonde/manifest/1");
	json_put_text(&j, "by", u->by_positions ? "positions" : "calls");
	json_key(&j, "files");
	json_array(&j);
	for (size_t i = 0; i < n; i++) {
		if (used_kind(&s[i]) == USED_UNLISTED)
			continue;
		if (o->hash)
			hash_of(&s[i], hash);
		if (o->manifest)
			put_json(&j, &s[i], hash);
		else
			print_text(&s[i], hash);
	}
	json_array_end(&j);
	json_object_end(&j);
	if (!rc && o->manifest && !out.failed)
		printf("%.*s\n", (int)out.len, (const char *)out.data);
	if (out.failed)
		rc = err_set(e, -ENOMEM, "out of memory for the files of %.300s", r->path);
	bytes_free(&out);
	used_sums_free(s, n);
	return rc;
}

static int files_exec(const void *options, int noperands, char **operands)
{
	struct files_used *u = NULL;
	struct choice c;
	struct err e = { "" };
	int rc, code = choose_recording(&c, "files", "reading", noperands, operands);

	if (code)
		return code;
	rc = files_used_make(&u, c.run, &e);
	if (!rc && u)
		rc = list(options, c.run, u, &e);
	if (!rc && (!u || !u->n))
		say("files: no files in %s; record them with `sonde run --files`", c.path);
	if (!rc && (fflush(stdout) || ferror(stdout)))
		rc = err_set(&e, -EIO, "cannot write to standard output");
	if (rc)
		say("files: %s", e.text);
	if (c.run->ndamages)
		say("files: %s is damaged; what is undamaged was read", c.path);
	code = rc || c.run->ndamages ? EXIT_FAILED : EXIT_OK;
	files_used_free(u);
	run_close(c.run);
	return code;
}

const struct command command_files = {
	.name = "files",
	.operands = "[DIR]",
	.what = "List the files that a job read and wrote",
	.description =
		"Lists the inputs and outputs of a job recorded with `sonde run --files`: regular "
		"files, with their size and modification time when the process that used them ended. `sonde show --files` has bytes, calls and times.\n\n"
		"DIR is a directory that Sonde wrote, or one of its files. Default: the newest "
		"recording here. Exit code 1 also means that the recording is damaged and some "
		"data was skipped.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct files_options),
	COMMAND_EXAMPLES(examples),
	.exec = files_exec,
};
