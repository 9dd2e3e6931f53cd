/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spank_sonde.c - Slurm's option --sonde of sbatch, srun and salloc. It starts nothing: it hands
 * the user's wish to the prolog, which starts the recorder beside the job on each of its nodes.
 * Build it with the headers of the Slurm that will load it: cc -O2 -shared -fPIC -o spank_sonde.so
 * spank_sonde.c
 */
#include <slurm/spank.h>
#include <stdlib.h>
#include <string.h>

SPANK_PLUGIN(sonde, 1)

/* What the prolog knows; the last is the one of `--sonde` alone. */
static const char *const wishes[] = { "off", "stacks", "on" };
static const char *wish;

/* Slurm hands an option without its value on to the steps of the job as this text. */
static int is_alone(const char *text)
{
	return !text || !strcmp(text, "(null)");
}

static int take_wish(int value, const char *text, int remote)
{
	const char *known = NULL;

	(void)value, (void)remote;
	for (size_t i = 0; i < sizeof wishes / sizeof wishes[0]; i++)
		if (is_alone(text) || !strcmp(text, wishes[i]))
			known = wishes[i];
	if (known) {
		wish = known;
		return ESPANK_SUCCESS;
	}
	slurm_error("--sonde=%s: wanted on, off or stacks", text);
	return ESPANK_BAD_ARG;
}

static struct spank_option option = {
	.name = "sonde",
	.arginfo = "on|off|stacks",
	.usage = "Record what the job uses, with Sonde.",
	.has_arg = 2,
	.cb = take_wish,
};

int slurm_spank_init(spank_t spank, int count, char **arguments)
{
	(void)count, (void)arguments;
	return spank_option_register(spank, &option);
}

int slurm_spank_init_post_opt(spank_t spank, int count, char **arguments)
{
	(void)count, (void)arguments;
	/* Within a job the prolog is over. */
	if (!wish || spank_remote(spank) == 1 ||
	    (spank_context() == S_CTX_LOCAL && getenv("SLURM_JOB_ID")))
		return ESPANK_SUCCESS;
	return spank_job_control_setenv(spank, "SONDE", wish, 1);
}
