/* SPDX-License-Identifier: Apache-2.0 */
#include "base/helper.h"
#include "base/reserve.h"
#include "base/text/escape.h"
#include "console/command.h"
#include "console/help.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>
#include <wchar.h>

/* A closed descriptor 0, 1 or 2 would be taken by the next file that is opened. Held the wrong way
 * round, so that using it is still an error, and closed again for whatever is executed. */
static void hold_stdio(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)open("/dev/null", (fd ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
}

/* A closed pipe ends no command that has files to write; but what a job or a helper inherits is not
 * ours to change. */
static void own_output(void)
{
	signal(SIGPIPE, SIG_IGN);
}

static int overview(void)
{
	struct bytes b = { 0 };

	own_output();
	help_overview(&b);
	return print_bytes(&b);
}

static int explain(const struct command *c)
{
	struct bytes b = { 0 };

	own_output();
	help_command(&b, c);
	return print_bytes(&b);
}

static int no_arguments(void)
{
	struct bytes b = { 0 };

	help_overview(&b);
	fwrite(b.data, 1, b.len, stderr);
	bytes_free(&b);
	return EXIT_USAGE;
}

/* Whether JSON was requested: by the option, or, of words that could not be parsed, by one of them.
 * What follows the command to run is that command's. */
static bool wants_json(const struct command *c, const struct args *args, const void *options,
		       bool parsed)
{
	const struct option *json = NULL;

	for (size_t i = 0; i < c->noptions; i++)
		if (!strcmp(c->options[i].name, "json") && c->options[i].type == ARG_FLAG)
			json = &c->options[i];
	if (json && parsed)
		return *(const bool *)((const char *)options + json->offset);
	for (int i = 0; json && i < args->argc && strcmp(args->argv[i], "--"); i++)
		if (!strcmp(args->argv[i], "--json"))
			return true;
	return false;
}

/* In place of the document that there is none of, where that one goes: `run` leaves standard output
 * to the job. */
static void error_json(const struct command *c)
{
	bool of_a_job = c->stop_at_operand && c->usage_code;

	if (!*say_last())
		return;
	if (of_a_job)
		print_error_json(stderr, c->name);
	else if (!fwide(stdout, 0)) /* without an orientation: nothing was written to it */
		print_error_json(stdout, c->name);
}

static int run_command(const struct command *c, int argc, char **argv)
{
	int code, rc;
	bool json;
	struct args args = { argc - 1, argv + 1, c->stop_at_operand, 0 };
	void *options = calloc(1, c->size ? c->size : 1);
	struct err e = { 0 };

	if (!c->stop_at_operand)
		own_output();
	if (!options) {
		say("out of memory");
		return c->usage_code ? c->usage_code : EXIT_FAILED;
	}
	rc = args_parse(c->options, c->noptions, options, &args, &e);
	if (rc < 0) {
		say("%s: %s", c->name, e.text);
		code = c->usage_code ? c->usage_code : EXIT_USAGE;
	} else if (rc > 0) {
		code = explain(c);
	} else {
		code = c->exec(options, args.argc - args.first, args.argv + args.first);
	}
	json = code != EXIT_OK && wants_json(c, &args, options, rc >= 0);
	free(options);
	if (json)
		error_json(c);
	return code;
}

static int unknown_word(const char *word)
{
	const char *near = command_nearest(word);

	if (near)
		say("unknown command '%s'; did you mean '%s'?", word, near);
	else
		say("unknown command '%s'; sonde --help lists the commands", word);
	return EXIT_USAGE;
}

/* Not one of our commands: a helper's, a program that was meant to be recorded, or a slip. A word
 * that is a program's whole name is that program: srun, bash and ps are near to commands, too. */
static int other_word(int argc, char **argv)
{
	struct err e = { 0 };
	struct bytes line = { 0 };
	const char *word = argv[0];

	if (helper_exec(word, argv, &e) != -ENOENT || *e.text) {
		say("%s", e.text);
		return EXIT_FAILED;
	}
	if (!program_exists(word))
		return unknown_word(word);
	for (int i = 0; i < argc; i++) {
		bytes_u8(&line, ' ');
		escape_shell(&line, argv[i]);
	}
	bytes_u8(&line, '\0');
	say("'%s' is a program, not a command of sonde; to record it: sonde run --%s", word,
	    line.failed ? " CMD" : (const char *)line.data);
	bytes_free(&line);
	return EXIT_USAGE;
}

static int help_word(int argc, char **argv)
{
	const struct command *c = argc > 1 ? command_find(argv[1]) : NULL;

	if (argc == 1 || argv[1][0] == '-')
		return overview();
	if (c && c->nverbs && argc > 2 && argv[2][0] != '-') {
		const struct command *verb = command_verb(c, argv[2]);

		if (!verb) {
			say("%s: unknown command '%s'; sonde %s --help lists the commands", c->name,
			    argv[2], c->name);
			return EXIT_USAGE;
		}
		c = verb;
	}
	return c ? explain(c) : unknown_word(argv[1]);
}

static int version_option(int argc, char **argv)
{
	struct {
		bool json;
	} given = { 0 };
	static const struct option rows[] = { { .name = "json", .help = "As JSON.", .offset = 0 } };
	struct err e = { 0 };
	struct args args = { argc - 1, argv + 1, false, 0 };
	int rc = args_parse(rows, 1, &given, &args, &e);

	if (rc > 0)
		return overview();
	if (rc < 0 || args.first < args.argc) {
		say("--version: %s", rc < 0 ? e.text : "takes no operands");
		return EXIT_USAGE;
	}
	own_output();
	return version_print(given.json);
}

static int dispatch(int argc, char **argv)
{
	const char *word = argv[0];
	const struct command *c = command_find(word);

	if (c && argc > 1 && command_verb(c, argv[1]))
		return run_command(command_verb(c, argv[1]), argc - 1, argv + 1);
	if (c)
		return run_command(c, argc, argv);
	if (!strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h"))
		return help_word(argc, argv);
	if (!strcmp(word, "--version") || !strcmp(word, "-V"))
		return version_option(argc, argv);
	if (word[0] == '-') {
		say("unknown option %s before the command; sonde --help lists the commands", word);
		return EXIT_USAGE;
	}
	return other_word(argc, argv);
}

/* The command that a link of its name stands for; its own name stands for none. */
static const struct command *called_by_name(const char *word)
{
	const char *slash = strrchr(word, '/'), *name = slash ? slash + 1 : word;
	const struct command *c = strcmp(name, "sonde") != 0 ? command_find(name) : NULL;

	return c && c->by_name ? c : NULL;
}

/* Else an array that moved to grow leaves a hole of its old size, and malloc takes ever larger ones
 * from the same heap: a fifth of the memory in which a recording of 10,000 nodes is read. */
static void keep_arrays_apart(void)
{
	enum { LARGE = 1 << 20 };

	mallopt(M_MMAP_THRESHOLD, LARGE);
}

static int sonde(int argc, char **argv)
{
	const struct command *own = argc ? called_by_name(argv[0]) : NULL;
	int code;

	keep_arrays_apart();
	hold_stdio();
	if (argc < 2 && !own)
		return no_arguments();
	code = own ? run_command(own, argc, argv) : dispatch(argc - 1, argv + 1);
	errno = 0;
	if ((fflush(stdout) || ferror(stdout)) && say_reader_is_gone())
		return EXIT_OK; /* as head -1 does: it has what it wanted */
	if (ferror(stdout) && code == EXIT_OK) {
		say("cannot write to standard output: %s",
		    errno ? strerror(errno) : "an earlier write failed");
		code = EXIT_FAILED;
	}
	return code;
}

/* The job's limit of the stack is ours, too, and may be less than we need. */
enum { REFUSED = 125, STACK_SMALL = 1 << 20, STACK_OWN = 8 << 20, STACK_GUARD = 1 << 16 };

static struct {
	int argc, code;
	char **argv;
	ucontext_t before, inside;
} moved;

static void on_own_stack(void)
{
	moved.code = sonde(moved.argc, moved.argv);
}

/* Whoever calls it would record, and write, as somebody else. Capabilities of the file are another
 * matter: they give no other user's files. */
static bool is_set_id(void)
{
	struct stat st;

	return (geteuid() != getuid() || getegid() != getgid()) && !stat("/proc/self/exe", &st) &&
	       st.st_mode & (S_ISUID | S_ISGID);
}

int main(int argc, char **argv)
{
	struct rlimit limit;
	char *stack = NULL;

	if (is_set_id()) {
		say("it is installed set-user-ID or set-group-ID, which it must not be: chmod ug-s "
		    "the program, and give it capabilities where it shall see more (sonde doctor)");
		return REFUSED;
	}
	if (!getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur < STACK_SMALL)
		stack = reserve(STACK_OWN);
	if (!stack || getcontext(&moved.inside))
		return sonde(argc, argv);
	mprotect(stack, STACK_GUARD, PROT_NONE);
	moved.argc = argc;
	moved.argv = argv;
	moved.inside.uc_stack.ss_sp = stack;
	moved.inside.uc_stack.ss_size = STACK_OWN;
	moved.inside.uc_link = &moved.before;
	makecontext(&moved.inside, on_own_stack, 0);
	swapcontext(&moved.before, &moved.inside);
	return moved.code;
}
