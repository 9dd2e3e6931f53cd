/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/recover.h"

#include "console/command.h"
#include "output/outfile.h"
#include "recording/join.h"
#include "session/find.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct recover_options {
	const char *output;
	bool without_environment, json;
};

static const struct option rows[] = {
	{ .name = "output",
	  .letter = 'o',
	  .type = ARG_TEXT,
	  .value = "DIR",
	  .help = "Write to DIR, created if missing. Default: the recording's name followed by "
		  "-recovered.",
	  OPTION_OFFSET(struct recover_options, output) },
	{ .name = "without-environment",
	  .type = ARG_FLAG,
	  .help = "Leave out the job's environment and what it printed last, for a copy that is given "
		  "to others.",
	  OPTION_OFFSET(struct recover_options, without_environment) },
	{ .name = "json",
	  .type = ARG_FLAG,
	  .help = "Print the names of the written files as JSON.",
	  OPTION_OFFSET(struct recover_options, json) },
};

static const struct example examples[] = {
	{ "recover sonde_1234", "write sonde_1234-recovered" },
	{ "recover sonde_1234 -o whole", "write to another directory" },
};

struct recovering {
	struct run *run;
	char to[PATH_MAX];
	bool public;
	struct outputs written;
};

/* Everything is decoded once, so that damage inside of blocks is known, too. */
static int read_all(struct run *r, struct err *e)
{
	struct chunk c;
	int rc;

	while ((rc = r->next_chunk(r, NULL, &c, e)) > 0)
		;
	return rc;
}

static void say_damages(const struct run *r)
{
	for (uint32_t i = 0; i < r->ndamages; i++) {
		const struct run_damage *d = &r->damages[i];

		say("recover: %s, byte %llu, length %llu: %s", d->file,
		    (unsigned long long)d->offset, (unsigned long long)d->length, d->what);
	}
}

static void choose_place(struct recovering *x, const char *from, const char *output)
{
	size_t n = strlen(from);

	while (n > 1 && from[n - 1] == '/')
		n--;
	if (output)
		snprintf(x->to, sizeof x->to, "%s", output);
	else
		snprintf(x->to, sizeof x->to, "%.*s-recovered", (int)n, from);
}

static int write_all(struct recovering *x, struct err *e)
{
	int fd, rc;

	if (mkdir(x->to, 0700) && errno != EEXIST)
		return err_set(e, -errno, "cannot make %.300s: %s", x->to, strerror(errno));
	fd = open(x->to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, -errno, "cannot open %.300s: %s", x->to, strerror(errno));
	rc = recover(x->run, fd, x->public, outputs_in, &x->written, e);
	close(fd);
	return rc;
}

static uint64_t count_rows(const struct run *r)
{
	uint64_t n = 0;

	for (uint32_t i = 1; i < r->nnodes; i++)
		n += r->nodes[i].rows;
	return n;
}

static int recover_run(struct recovering *x, const char *from)
{
	struct err e = { "" };
	int rc = read_all(x->run, &e);

	if (!rc)
		rc = write_all(x, &e);
	say_damages(x->run);
	if (rc) {
		say("recover: %s%s", e.text,
		    rc == -EEXIST ? "; existing files are not overwritten: choose another "
				    "directory with -o"
				  : "");
		return EXIT_FAILED;
	}
	say("recover: %u recording%s with %llu samples of %s in %s", x->written.files,
	    x->written.files == 1 ? "" : "s", (unsigned long long)count_rows(x->run), from, x->to);
	return outputs_end(&x->written, x->run->ndamages);
}

static int recover_exec(const void *options, int noperands, char **operands)
{
	const struct recover_options *o = options;
	struct recovering x = { 0 };
	struct choice c;
	int code = choose_recording(&c, "recover", "recovering", noperands, operands);

	if (code)
		return code;
	x.run = c.run;
	x.public = o->without_environment;
	choose_place(&x, c.path, o->output);
	x.written = (struct outputs){
		.verb = "recover", .recording = c.path, .to = x.to, .json = o->json
	};
	code = recover_run(&x, c.path);
	run_close(c.run);
	return code;
}

const struct command command_recover = {
	.name = "recover",
	.operands = "[DIR]",
	.what = "Copy the readable data of a damaged recording",
	.description =
		"Reads every block of every recording in DIR (default: the newest here) and "
		"writes the undamaged ones, including the last samples of a recorder that was "
		"killed, as clean recordings to a new directory. DIR itself is only read.\n\n"
		"Every damaged place is reported with its file and offset. Exit code 0 means that "
		"all readable data was written, however much was damaged. If the command is "
		"killed, it leaves no partial recording; run it again. All commands can read a "
		"damaged recording without this step; its purpose is a copy that other programs "
		"can read without warnings. A recording that was not closed, or that lost data, "
		"still counts as incomplete afterwards.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct recover_options),
	COMMAND_EXAMPLES(examples),
	.exec = recover_exec,
};
