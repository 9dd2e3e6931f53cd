/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes that lie where a recording should, and each command that reads one: it ends, as its
 * help says, in bounded time and memory. What the commands print goes nowhere. */
#define LLVMFuzzerTestOneInput lay_and_read
#include "fuzz_recording.c"
#undef LLVMFuzzerTestOneInput

#include "console/command.h"

#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>

enum { WORDS = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);
void __sanitizer_set_report_fd(void *fd) __attribute__((weak));

#define TABLES "csv,json,openmetrics,parquet,feather,orc,pickle,perfmon"

/* IN is the recording, OUT a directory that is not there. Nothing of them starts a helper. */
static const char *const lines[][WORDS] = {
	{ "show", "IN" },
	{ "show", "--json", "IN" },
	{ "show", "--tracker", "IN" },
	{ "ls", "." },
	{ "ls", "--json", "." },
	{ "export", "IN", "--to", TABLES, "-o", "OUT" },
	{ "export", "IN", "--wide", "-o", "-" },
	{ "export", "IN", "--raw", "--table", "series", "-o", "-" },
	{ "trace", "IN", "-o", "trace.json" },
	{ "trace", "IN", "-o", "trace.pftrace" },
	{ "report", "IN", "--only", "html" },
	{ "recover", "IN", "-o", "OUT" },
	{ "recover", "IN", "--without-environment", "-o", "OUT" },
	{ "compare", "IN", "IN" },
	{ "compare", "--json", "IN", "IN" },
	{ "phases", "IN" },
};

static int nowhere, said;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	said = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	check(nowhere >= 0 && said >= 0);
	if (__sanitizer_set_report_fd)
		__sanitizer_set_report_fd((void *)(intptr_t)said);
	setenv("SONDE_HISTORY", "off", 1);
	setenv("XDG_DATA_HOME", "/nowhere", 1);
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static char *word_of(const char *word, const char *in)
{
	return strdup(!strcmp(word, "IN") ? in : !strcmp(word, "OUT") ? "out" : word);
}

static int run_line(const struct command *c, int argc, char **argv)
{
	struct args args = { argc - 1, argv + 1, c->stop_at_operand, 0 };
	void *options = calloc(1, c->size);
	struct err e;
	int code;

	check(options && !args_parse(c->options, c->noptions, options, &args, &e));
	code = c->exec(options, args.argc - args.first, args.argv + args.first);
	free(options);
	return code;
}

/* Without what it prints. */
static void run(const char *const line[WORDS], const char *in)
{
	const struct command *c = command_find(line[0]);
	char *argv[WORDS + 1] = { NULL };
	int argc = 0, code, out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

	check(c && out >= 0);
	for (; argc < WORDS && line[argc]; argc++)
		argv[argc] = word_of(line[argc], in);
	check(dup2(nowhere, STDOUT_FILENO) >= 0 && dup2(nowhere, STDERR_FILENO) >= 0);
	code = run_line(c, argc, argv);
	fflush(stdout);
	check(dup2(out, STDOUT_FILENO) >= 0 && dup2(said, STDERR_FILENO) >= 0);
	close(out);
	for (int i = 0; i < argc; i++)
		free(argv[i]);
	check(code >= EXIT_OK && code <= (strcmp(line[0], "compare") ? EXIT_FAILED : 3));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t which = crc32c(0, data, size) % (sizeof lines / sizeof lines[0]);
	char link[64], in[PATH_MAX];
	ssize_t n;

	lay_and_read(data, size);
	snprintf(link, sizeof link, "/proc/self/fd/%d", directory());
	n = readlink(link, in, sizeof in - 1);
	check(n > 0);
	in[n] = '\0';
	run(lines[which], in);
	nftw("out", remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return 0;
}
