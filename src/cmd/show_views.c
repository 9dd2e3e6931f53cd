/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/show_views.h"

#include "console/command.h"
#include "report/steps/steps.h"
#include "report/summary/code.h"
#include "report/summary/mpi.h"
#include "report/summary/path.h"
#include "report/summary/peersused.h"
#include "report/summary/pipeline.h"
#include "report/summary/touched.h"
#include "report/summary/waittime.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CODE_ROWS_BY = 50, CODE_ROWS_JSON = 1000 };

static int print_all(struct bytes *out, const struct run *r, struct err *e)
{
	int rc = out->failed ? err_set(e, -ENOMEM, "out of memory for %.300s", r->path) : 0;

	if (!rc)
		fwrite(out->data, 1, out->len, stdout);
	bytes_free(out);
	return rc;
}

/* Which code it was. Nothing recorded is no error: one line says what to do. */
int show_code(const struct show_options *o, const struct summary *s, struct run *r, struct err *e)
{
	struct code *code = s->code;
	bool phases = o->json || o->by == STACKS_BY_PHASE + 1;
	struct bytes out = { 0 };
	int rc = phases && code && code->stacks ? code_phases(code, r, e) : 0;

	if (rc) {
		return rc;
	} else if (o->json) {
		code_json(code, r, CODE_ROWS_JSON, &out);
		rc = print_all(&out, r, e);
	} else if (!code || !code->stacks) {
		say("show: no stacks in %s%s", r->path, code ? "" : "; record them with --stacks");
		if (code)
			code_print_gaps(code, stderr);
	} else if (o->by) {
		code_print_by(code, (enum stacks_by)(o->by - 1), stdout,
			      o->all ? UINT_MAX : CODE_ROWS_BY);
	} else {
		code_print(code, stdout, o->all ? UINT_MAX : SHOW_ROWS);
	}
	return rc;
}

/* The table of waits that --by names. False: waits have none. */
bool show_waits_table(int64_t by, enum waiting_by *out)
{
	const char *name = by == BY_OBJECT  ? waiting_by_names[WAITING_BY_OBJECT]
			   : by == BY_PLACE ? waiting_by_names[WAITING_BY_PLACE]
					    : stacks_by_names[by - 1];

	for (int i = 0; i < WAITING_BY_NUMBER_OF; i++)
		if (!strcmp(name, waiting_by_names[i])) {
			*out = (enum waiting_by)i;
			return true;
		}
	return false;
}

static int print_waits_json(const struct waittime *w, const struct run *r, struct err *e)
{
	struct bytes out = { 0 };

	waittime_json(w, r, CODE_ROWS_JSON, &out);
	return print_all(&out, r, e);
}

/* What was waited for. Nothing recorded is no error: one line says what to do. */
int show_waits(const struct show_options *o, struct run *r, struct err *e)
{
	enum waiting_by by = WAITING_BY_OBJECT;
	struct waittime *w;
	int rc = waittime_make(&w, r, o->json || o->by == STACKS_BY_PHASE + 1, e);

	if (rc)
		return rc;
	if (o->json)
		rc = print_waits_json(w, r, e);
	else if (!w || !w->waiting)
		say("show: no waits in %s%s%s", r->path,
		    w && w->refused ? ": " : "; record them with --waits",
		    w && w->refused ? w->refused : "");
	else if (o->by && show_waits_table(o->by, &by))
		waittime_print_by(w->waiting, by, stdout, o->all ? UINT_MAX : CODE_ROWS_BY);
	else
		waittime_print(w, stdout, o->all ? UINT_MAX : SHOW_ROWS);
	waittime_free(w);
	return rc;
}

/* What ranks did with MPI. Nothing recorded is no error: one line says what to do. */
int show_mpi(const struct show_options *o, const struct summary *s, struct run *r, struct err *e)
{
	struct bytes out = { 0 };
	int rc = s->mpi ? mpi_phases_make(s->mpi, r, e) : 0;

	if (rc)
		return rc;
	if (o->json) {
		mpi_json(s->mpi, r, &out);
		return print_all(&out, r, e);
	}
	if (s->mpi)
		mpi_print(s->mpi, r, stdout);
	else
		say("show: no calls of MPI in %s; record them with --annotations mpi", r->path);
	return 0;
}

/* Which code touched memory. Nothing recorded is no error: one line says what to do. */
int show_memory(const struct show_options *o, const struct summary *s, struct run *r, struct err *e)
{
	struct touched_memory *t = s->touched;
	bool phases = o->json || o->by == STACKS_BY_PHASE + 1;
	struct bytes out = { 0 };
	int rc = phases && t && t->peak ? touched_phases(t, r, e) : 0;

	if (rc)
		return rc;
	if (o->json) {
		touched_json(t, r, CODE_ROWS_JSON, &out);
		return print_all(&out, r, e);
	}
	if (!t || !t->peak)
		say("show: no samples of page faults in %s%s%s", r->path,
		    t ? ": " : "; record them with --memory",
		    !t           ? ""
		    : t->refused ? t->refused
				 : "its processes were too short, or touched too little memory");
	else if (o->by)
		touched_print_by(t, (enum stacks_by)(o->by - 1), stdout,
				 o->all ? UINT_MAX : CODE_ROWS_BY);
	else
		touched_print(t, stdout, o->all ? UINT_MAX : SHOW_ROWS);
	return 0;
}

/* Which processes were the time of the job. */
int show_path(const struct show_options *o, const struct summary *s, struct run *r, struct err *e)
{
	struct bytes out = { 0 };
	struct path p;
	int rc = path_make(&p, s, r, e);

	if (!rc && o->json)
		path_json(&out, &p, s);
	else if (!rc && p.root == UINT32_MAX)
		say("show: no process of the job is known from its start to its end in %s",
		    r->path);
	else if (!rc)
		path_text(&out, &p, s, o->all);
	path_free(&p);
	if (!rc)
		return print_all(&out, r, e);
	bytes_free(&out);
	return rc;
}

/* What each rule of a workflow used. No task is no error. */
int show_pipelines(const struct show_options *o, const struct summary *s, struct run *r,
		   struct err *e)
{
	struct bytes out = { 0 };
	struct pipelines p;
	int rc = pipelines_make(&p, s, r, o->pipeline_rules, e);

	if (!rc && o->json)
		pipelines_json(&out, &p, s);
	else if (!rc && !p.n)
		say("show: no process in %s is a task of a workflow tool that Sonde knows; "
		    "--pipeline-rules adds others",
		    r->path);
	else if (!rc)
		pipelines_text(&out, &p, s, o->all);
	pipelines_free(&p);
	if (!rc)
		return print_all(&out, r, e);
	bytes_free(&out);
	return rc;
}

/* Its iterations. None is no error: one line says what would show them. */
int show_steps(const struct show_options *o, const struct summary *s, struct run *r, struct err *e)
{
	struct bytes out = { 0 };

	if (o->json)
		steps_json(&out, s->iterations, r);
	else if (s->iterations->n)
		steps_text(&out, s->iterations, r, o->all);
	else
		say("show: no steps in %s: nothing repeats that takes four samples or more; for "
		    "shorter ones record with a shorter interval (-i), or mark them (sonde mark)",
		    r->path);
	return print_all(&out, r, e);
}

bool show_files_table(int64_t by, enum used_by *out)
{
	*out = USED_BY_FILE;
	if (by >= BY_FILE && by <= BY_MOUNT)
		*out = (enum used_by)(by - BY_FILE);
	else if (by == STACKS_BY_PHASE + 1)
		*out = USED_BY_PHASE;
	else if (by == STACKS_BY_PROCESS + 1)
		*out = USED_BY_PROCESS;
	else if (by == STACKS_BY_COMMAND + 1)
		*out = USED_BY_COMMAND;
	else
		return !by;
	return true;
}

int show_files(const struct show_options *o, const struct summary *s, struct run *r, struct err *e)
{
	struct bytes out = { 0 };
	enum used_by by;
	int rc;

	(void)show_files_table(o->by, &by);
	if (o->json) {
		rc = files_used_json(s->files_used, r, &out, e);
		return rc ? rc : print_all(&out, r, e);
	}
	if (!s->files_used) {
		say("show: no files in %s; record them with --files", r->path);
		return 0;
	}
	return files_used_print(s->files_used, r, by,
				o->all  ? SIZE_MAX
				: o->by ? CODE_ROWS_BY
					: SHOW_ROWS,
				stdout, e);
}

int show_peers(const struct show_options *o, const struct summary *s, const struct run *r,
	       struct err *e)
{
	struct bytes out = { 0 };

	if (o->json) {
		peers_used_json(s->peers_used, &out);
		return print_all(&out, r, e);
	}
	if (!s->peers_used)
		say("show: no connections in %s; record them with --peers", r->path);
	else
		peers_used_print(s->peers_used, o->all ? SIZE_MAX : SHOW_ROWS, stdout);
	return 0;
}
