/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks of workflow tools: of any command lines and any records of Snakemake there are tables that
 * are whole, and any text is read as the rules of tools or refused with a sentence. Lines of the
 * input: the first byte says what it is of (t: tools, r: a record, else a process). */
#include "report/summary/pipeline.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PROCESSES = 32 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct forest {
	struct run_instance instance[PROCESSES + 1];
	struct summary_process process[PROCESSES];
	uint32_t n;
};

/* The folder that Snakemake would have been started in; its one record is what was read last. */
static const char *folder(void)
{
	static char name[] = "pipeline_XXXXXX", path[PATH_MAX], *made;

	if (!made) {
		char below[PATH_MAX + 32];

		made = mkdtemp(name) ? realpath(name, path) : NULL;
		if (!made)
			abort();
		snprintf(below, sizeof below, "%s/.snakemake", path);
		mkdir(below, 0700);
		snprintf(below, sizeof below, "%s/.snakemake/metadata", path);
		mkdir(below, 0700);
	}
	return made;
}

static void keep_record(const char *text)
{
	char path[PATH_MAX + 32];
	int fd;

	snprintf(path, sizeof path, "%s/.snakemake/metadata/one", folder());
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		abort();
	close(fd);
}

/* Its lines end in \r. */
static void read_tools(char *text)
{
	struct pipeline_tools t = { 0 };
	struct err e = { "" };

	for (char *at = text; (at = strchr(at, '\r'));)
		*at = '\n';
	if (pipeline_tools_add(&t, "fuzz", text, strlen(text), &e) && !e.text[0])
		abort();
	pipeline_tools_free(&t);
}

/* "\002name\001command line": a child of the second before it; of none where there are fewer. */
static void add_process(struct forest *f, char *line)
{
	char *behind = strchr(line[0] ? line + 1 : line, '\001');
	uint32_t up = (uint8_t)line[0];

	if (f->n == PROCESSES)
		return;
	if (behind)
		*behind++ = '\0';
	f->instance[f->n + 1].parent = up && up <= f->n ? f->n + 1 - up : 0;
	f->process[f->n] = (struct summary_process){ .instance = f->n + 1,
						     .name = line[0] ? line + 1 : line,
						     .command_line = behind,
						     .start_s = f->n,
						     .end_s = up == 99 ? (double)NAN : f->n + up,
						     .cpu_s = up,
						     .peak_rss_bytes = up % 3 ? up * 1e6 : NAN,
						     .read_bytes = NAN,
						     .written_bytes = 1,
						     .gpu_bytes = up % 5 ? NAN : 1e9,
						     .gpus = up % 5 ? 0 : 1 };
	f->n++;
}

static void make(struct forest *f)
{
	struct run_meta meta[] = {
		{ 0 }, { .type = META_TEXT, .key = "job.working_directory", .text = folder() }
	};
	struct summary s = { .path = "fuzz", .processes = f->process, .nprocesses = f->n };
	struct run_node node[2] = { { 0 } };
	struct run r = { .instances = f->instance,
			 .ninstances = f->n + 1,
			 .nodes = node,
			 .nnodes = 2,
			 .metas = meta,
			 .nmetas = 2 };
	struct pipelines p;
	struct bytes out = { 0 };
	struct err e = { "" };

	if (pipelines_make(&p, &s, &r, NULL, &e))
		abort();
	pipelines_text(&out, &p, &s, true);
	pipelines_markdown(&out, &p);
	pipelines_json(&out, &p, &s);
	for (uint32_t i = 0; i < p.n; i++) {
		uint32_t tasks = 0;

		for (uint32_t k = 0; k < p.of[i].nrules; k++)
			tasks += p.of[i].rule[k].tasks;
		if (tasks != p.of[i].ntasks || tasks > f->n)
			abort();
	}
	if (memchr(out.data, '\033', out.len))
		abort();
	bytes_free(&out);
	pipelines_free(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct forest *f = calloc(1, sizeof *f);
	char *text = calloc(1, size + 1);

	if (!f || !text)
		abort();
	if (size)
		memcpy(text, data, size);
	for (size_t at = 0, n; at < size; at += n + 1) {
		n = strcspn(text + at, "\n");
		if (at + n < size && !text[at + n])
			break;
		text[at + n] = '\0';
		if (text[at] == 't')
			read_tools(text + at + 1);
		else if (text[at] == 'r')
			keep_record(text + at + 1);
		else
			add_process(f, text + at);
	}
	make(f);
	free(f);
	free(text);
	return 0;
}
