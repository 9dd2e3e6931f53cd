/* SPDX-License-Identifier: Apache-2.0 */
/* bench_sweep.c - try the combinations of a specification. */
#include "base/clock.h"
#include "console/command.h"
#include "sweep/sweeping.h"
#include "trial/benchprint.h"

#include <errno.h>
#include <string.h>

static const struct option rows[] = {
	{ .name = "dry-run",
	  .type = ARG_FLAG,
	  .help = "Print the combinations in order, and run nothing.",
	  OPTION_OFFSET(struct sweep_options, dry_run) },
	{ .name = "executor",
	  .type = ARG_CHOICE,
	  .value = "local|slurm",
	  .fallback = "local",
	  .help = "Run trials here, one after another, or as elements of Slurm job arrays on "
		  "nodes that see the same files.",
	  OPTION_OFFSET(struct sweep_options, executor) },
	{ .name = "jobs",
	  .letter = 'j',
	  .type = ARG_COUNT,
	  .value = "N",
	  .fallback = "1",
	  .min = 1,
	  .max = SCRIPTED_MOST,
	  .help = "Run N trials at a time on this machine, each on cores of its own.",
	  OPTION_OFFSET(struct sweep_options, jobs) },
	{ .name = "output",
	  .letter = 'o',
	  .type = ARG_TEXT,
	  .value = "DIR",
	  .help = "Write recordings and report to DIR. Default: sweep_ and the name of the sweep. "
		  "A resumed sweep keeps its directory.",
	  OPTION_OFFSET(struct sweep_options, output) },
	{ .name = "stacks",
	  .type = ARG_TEXT,
	  .value = "DIR",
	  .help = "Keep virtual environments in DIR, also for other sweeps. Default: sonde/stacks "
		  "in XDG_CACHE_HOME or ~/.cache.",
	  OPTION_OFFSET(struct sweep_options, stacks) },
	{ .name = "fetch",
	  .type = ARG_FLAG,
	  .help = "Download a script that the specification names by its address, if its SHA-256 "
		  "is script_sha256. Without that, show the SHA-256 and run nothing.",
	  OPTION_OFFSET(struct sweep_options, fetch) },
	BENCH_INTERVAL(struct sweep_options, interval_ns),
	BENCH_TRIALS_STORE(struct sweep_options),
	BENCH_MODELS(struct sweep_options),
	{ .name = "element",
	  .type = ARG_TEXT,
	  .value = "LIST",
	  .help = "Run the trial of this job array list that SLURM_ARRAY_TASK_ID selects.",
	  .hidden = true,
	  OPTION_OFFSET(struct sweep_options, element) },
	BENCH_QUIET(struct sweep_options),
	{ .name = "json",
	  .type = ARG_FLAG,
	  .help = "Print the report as JSON, schema sonde/bench-sweep/1.",
	  OPTION_OFFSET(struct sweep_options, json) },
};

static const struct example examples[] = {
	{ "bench sweep --dry-run sweep.yaml", "show what it would run" },
	{ "bench sweep sweep.yaml", "run it; run it again to resume it" },
	{ "bench sweep --jobs 4 sweep.yaml", "four trials at a time, on disjoint cores" },
	{ "bench sweep --executor slurm sweep.yaml", "on the nodes of a cluster" },
};

static int run_here(struct sweeping *x, struct err *e)
{
	bool climbs = sweep_needs_results(x->spec.decision);
	struct swept *p;
	int rc = 0;

	while (!rc && (p = sweeping_next(x, &rc, e))) {
		rc = sweeping_open(x, p, e);
		if (!rc && climbs) /* the next one depends on its result */
			rc = sweeping_run(x, x->nswept - 1, e);
	}
	if (rc || climbs)
		return rc;
	if (x->spec.decision == SWEEP_HALVING)
		return sweephalving_run(x, sweeping_run, e);
	sweepknown_say(x);
	return sweeping_run(x, 0, e);
}

static int plan(struct sweeping *x, struct err *e)
{
	struct swept *p;
	int rc = sweepspace_init(&x->space, &x->spec) ? err_set(e, -ENOMEM, "out of memory") : 0;

	if (!rc)
		rc = sweephalving_plan(x, e);
	if (!rc)
		sweephost_has(&x->spec.run, x->lacks, sizeof x->lacks);
	while (!rc && (p = sweeping_next(x, &rc, e))) {
		p->skipped = x->spec.stack[p->at[SWEEP_AXIS_STACK]].unresolved;
		if (sweep_needs_results(x->spec.decision) && !p->skipped)
			break;
	}
	return rc;
}

static int work(struct sweeping *x, struct err *e)
{
	int rc;

	if (x->o->jobs > 1 && x->o->executor == SWEEP_SLURM)
		return err_set(e, -EINVAL,
			       "--jobs is for trials on this machine: leave it out, or leave out "
			       "--executor slurm, which runs trials side by side itself");
	rc = beside_open(&x->beside, x->o->jobs, e);
	if (rc)
		return rc;
	if (x->o->dry_run)
		return plan(x, e);
	if (x->o->element) {
		rc = sweeping_join(x, e);
		return rc ? rc : sweepslurm_element(x, x->o->element, e);
	}
	rc = sweeping_begin(x, e);
	if (rc)
		return rc;
	return x->o->executor == SWEEP_SLURM ? sweepslurm_run(x, e) : run_here(x, e);
}

/* The first is the sentence itself, unless another was in the way. */
static void say_faults(const struct sweeping *x, const char *sentence)
{
	const struct sweep_faults *f = &x->faults;

	if (!f->n || strcmp(sentence, f->text[0]) != 0)
		say("bench sweep: %s", sentence);
	for (uint32_t i = 0; i < f->n; i++)
		say("bench sweep: %s", f->text[i]);
	if (f->left_out)
		say("bench sweep: further faults: %u", f->left_out);
}

static int sweep_exec(const void *options, int noperands, char **operands)
{
	struct sweeping x = { .o = options, .lock = -1 };
	struct err e = { "" };
	bool well = true;
	int rc, code = EXIT_OK;

	if (noperands != 1) {
		say("bench sweep: no specification given: sonde bench sweep SPEC.yaml");
		return EXIT_USAGE;
	}
	rc = sweeping_read(&x, operands[0], &e);
	if (!rc)
		rc = work(&x, &e);
	if (!rc && x.spec.dropped && !x.o->element)
		say("bench sweep: python_packages: %.60s is left out; pip makes the stacks here",
		    x.spec.dropped);
	if (rc) {
		say_faults(&x, e.text);
		code = rc == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	} else if (x.o->dry_run) {
		code = sweepprint_plan(&x);
	} else if (!x.o->element) {
		code = sweepprint_report(&x, &well);
	}
	sweeping_end(&x);
	return code == EXIT_OK && !well ? EXIT_FAILED : code;
}

const struct command command_bench_sweep = {
	.name = "bench sweep",
	.operands = "SPEC.yaml",
	.what = "Run all combinations of a specification",
	.description =
		"A specification defines the script, its requirements, and a matrix of software "
		"stacks, environments and parameters; see docs/sweeps.md. Each combination "
		"becomes a batch of trials, like those of sonde bench run. Combinations that "
		"cannot run are skipped with a reason; failed trials are stored with a reason; "
		"the rest still run.\n\n"
		"Trials run in rounds: one of each combination, in an order that is shuffled for "
		"each round, so that a machine that becomes slower or faster favors none. What is "
		"needed of all stacks is built first. --jobs N starts trials in the same order, "
		"N at a time: each has an equal share of the cores that this process may use, and "
		"the facts trial.jobs and trial.cpus in the store. With hill-climbing and simulated-annealing the next combination "
		"depends on the results of the last one, so that all its trials run together. "
		"With successive-halving the best combinations of a round get the trials of the next.\n\n"
		"The same specification is the same sweep: running it again resumes it with the "
		"trials that are missing in the store, whatever interrupted it, and repeats "
		"none.\n\n"
		"For variables with names of secrets, the store has *** and specification.json in "
		"the sweep's directory (mode 0600) has the value.\n\n"
		"Exit code 1: a trial failed or is missing, or Slurm rejected it.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct sweep_options),
	COMMAND_EXAMPLES(examples),
	.exec = sweep_exec,
};
