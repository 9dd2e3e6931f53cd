/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline.h - the tasks of workflow tools (Snakemake, Nextflow, make), by rule: how many there
 * were, how long they took, what they used, and what to write down for them in the tool's words.
 *
 * A task is a process that the tool started, with all that this one started. Which processes are
 * meant is data (core/pipeline.h). A name that no command line says is looked up where the tool
 * itself keeps it, if that is still there. Texts are hostile. {0} is empty and safe to free.
 */
#ifndef SONDE_REPORT_SUMMARY_PIPELINE_H
#define SONDE_REPORT_SUMMARY_PIPELINE_H

#include "base/bytes.h"
#include "base/pool.h"
#include "core/frame/run.h"
#include "core/pipeline.h"
#include "report/summary/summary.h"

/* A task, and all tasks of a rule. What is not known is NAN. */
struct pipeline_task {
	const char *rule;
	uint32_t process; /* in summary.processes: the first of it */
	uint32_t gpus;
	double wall_s; /* NAN: it did not end */
	double cpu_s, peak_bytes, read_bytes, written_bytes, gpu_bytes;
	double unsampled_s; /* of its processes whose memory nobody looked at, the longest */
};

struct pipeline_rule {
	const char *name;
	uint32_t tasks, unfinished, gpus;
	uint32_t
		peaks; /* tasks of which the peak is known; of the others it is not in peak_bytes */
	double wall_median_s, wall_max_s, wall_s;
	double peak_bytes, cpu_s, cores, read_bytes, written_bytes, gpu_bytes;
	double cores_max;          /* of the task that used most */
	uint32_t longest, largest; /* in summary.processes; UINT32_MAX: none */
};

struct pipeline {
	const struct pipeline_tool *tool;
	struct pipeline_rule *rule; /* most wall time first */
	uint32_t nrules, ntasks;
	bool nameless; /* of some tasks the name was looked up and not found */
	/* What is free for tasks: cores and memory of the job; NAN: not known. */
	double job_cores, job_memory_bytes;
};

struct pipelines {
	struct pipeline_tools tools;
	struct pipeline *of; /* of each tool that was at work */
	uint32_t n;
	uint32_t strays; /* ended processes whose parent is not known: they may be a task's */
	double strays_cpu_s;
	struct pool pool;
};

/* site: a file or folder with more rules, or NULL. 0 or -errno with a sentence. */
int pipelines_make(struct pipelines *p, const struct summary *s, const struct run *r,
		   const char *site, struct err *e);
void pipelines_free(struct pipelines *p);

/* The name of a task of which no command line says it, from what the tool keeps
 * (pipeline_names.c). */
struct pipeline_names;
int pipeline_names_open(struct pipeline_names **n, const struct run *r);
/* Snakemake's: what job began about then (UTC, in s) and had such a command line, or NULL. Into
 * rule, of PIPELINE_RULE_MAX bytes. */
bool pipeline_names_snakemake(struct pipeline_names *n, double start_utc_s, double end_utc_s,
			      const char *command_line, char *rule);
void pipeline_names_close(struct pipeline_names *n);
/* From the first lines of the file beside one that the command line names. */
bool pipeline_names_file(const struct pipeline_tool *tool, const char *command_line, char *rule);
/* The first file that a command line says it writes. */
bool pipeline_names_output(const struct pipeline_tool *tool, const char *command_line, char *file);
/* Tasks named by a file and a program, where several files of a program end alike, become one rule:
 * "*.o: cc". 0 or -ENOMEM. */
int pipeline_names_join(struct pool *pool, struct pipeline_task *task, uint32_t n);
/* Behind -c, -ec and the like of a shell; NULL: there is none. May be NULL. */
const char *pipeline_names_text(const char *command_line);
/* The program that the text of a shell's -c runs: the first that does not prepare only. */
bool pipeline_names_program(const char *text, char *out, size_t size);
/* "bash" and "bash .command.sh", which say nothing; not "bash align.sh". */
bool pipeline_names_shell(const char *name);
/* Whether it only prepares, as mkdir. */
bool pipeline_names_setup(const char *name, size_t n);

/* Lines to paste for a rule, or for all of them; none for what is not known, and for a rule whose
 * name is not plain. */
void pipeline_paste(struct bytes *out, const struct pipeline *p, const struct pipeline_rule *rule);

void pipelines_text(struct bytes *out, const struct pipelines *p, const struct summary *s,
		    bool all);
void pipelines_markdown(struct bytes *out, const struct pipelines *p);
/* Schema sonde/pipelines/1. */
void pipelines_json(struct bytes *out, const struct pipelines *p, const struct summary *s);
/* docs/pipelines.md. */
int pipelines_manual(struct bytes *out, struct err *e);

#endif
