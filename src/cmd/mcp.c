/* SPDX-License-Identifier: Apache-2.0 */
/* mcp.c - recordings for assistants: tools that are Sonde's own commands, run one after the other
 * with bounded time and output, on what lies in the directories that were given and nothing else.
 */
#include "console/mcp.h"
#include "base/clock.h"
#include "base/process.h"
#include "base/text/jsontree.h"
#include "console/command.h"
#include "session/find.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DIRECTORIES_MAX = 64, WORDS_MAX = 2 * DIRECTORIES_MAX + 16, POINTS = 100 };
enum { LINE_MOST = 1 << 20, TEXT_MOST = 60000, CPU_SECONDS_MOST = 120 };
static const int64_t patience_ns = 120 * NS_PER_S;

enum { LIST_RUNS, EXPLAIN, SERIES, STACKS, COMPARE };

#define RUN(name, what)                                                                            \
	{                                                                                          \
		name, what, NULL, false, true                                                      \
	}

static const struct mcp_tool tools[] = {
	[LIST_RUNS] = { "list_runs",
			"The recordings in the directories: path, command, start, wall time, how "
			"each ended.",
			{ { 0 } } },
	[EXPLAIN] = { "explain",
		      "What a run shows, or with `other` what changed from run to other: ranked "
		      "findings with numbers, proof, cause, next step, at most 2,000 tokens. "
		      "Begin with this.",
		      { RUN("run", "A recording, as list_runs names it."),
			{ "other", "A second recording, to compare.", NULL, false, false },
			{ "ask", "Answer this only.", "all|where|memory|io|wait|next|diff", false,
			  false } } },
	[SERIES] = { "series",
		     "Metrics of a run over time: means over windows, of each node.",
		     { RUN("run", "A recording, as list_runs names it."),
		       RUN("metrics", "Names or patterns, separated by commas: "
				      "job.cpu_cores,job.pss_bytes,disk.*"),
		       { "every_seconds", "Length of a window. Default: a hundredth of the run.",
			 NULL, true, false },
		       { "from_seconds", "Since the run began.", NULL, true, false },
		       { "until_seconds", "Since the run began.", NULL, true, false } } },
	[STACKS] = { "stacks",
		     "Which code used the CPU time of a run (cpu), or what its threads waited "
		     "for (wait), as a table.",
		     { RUN("run", "A recording, as list_runs names it."),
		       { "of", "Default: cpu.", "cpu|wait", false, false },
		       { "by", "Rows of the table. Default: function.",
			 "function|line|module|class|command|process|thread|rank|node|object",
			 false, false } } },
	[COMPARE] = { "compare",
		      "Two runs, or two groups separated by nothing but their directories: every "
		      "figure with its difference and interval, what differs of the machines, "
		      "and the code that is blamed, as Markdown.",
		      { RUN("a", "A recording, or a directory of several."),
			RUN("b", "Another.") } },
};
enum { TOOLS = sizeof tools / sizeof tools[0] };

struct mcp_options {
	bool list;
};

static const struct option rows[] = {
	{ .name = "list",
	  .help = "Print the tools and their arguments, then exit.",
	  OPTION_OFFSET(struct mcp_options, list) },
};

static const struct example examples[] = {
	{ "mcp results", "serve the recordings in a directory" },
	{ "mcp --list", "the tools" },
};

struct serving {
	char *directory[DIRECTORIES_MAX]; /* resolved */
	int n;
};

/* ---- within the directories ---- */

static bool is_within(const struct serving *s, const char *resolved)
{
	for (int i = 0; i < s->n; i++) {
		size_t n = strlen(s->directory[i]);

		if (!strncmp(resolved, s->directory[i], n) &&
		    (!resolved[n] || resolved[n] == '/' || s->directory[i][n - 1] == '/'))
			return true;
	}
	return false;
}

/* A link in it that leads out would be read like what lies there. */
static bool leads_out(const struct serving *s, const char *directory)
{
	DIR *d = opendir(directory);
	bool out = false;

	for (struct dirent *x; d && !out && (x = readdir(d));) {
		char path[PATH_MAX], resolved[PATH_MAX];
		struct stat st;

		if (!strcmp(x->d_name, ".") || !strcmp(x->d_name, "..") ||
		    snprintf(path, sizeof path, "%s/%s", directory, x->d_name) >= PATH_MAX)
			continue;
		out = !lstat(path, &st) && S_ISLNK(st.st_mode) && realpath(path, resolved) &&
		      !is_within(s, resolved);
	}
	if (d)
		closedir(d);
	return out;
}

/* What the argument names, relative to a directory if need be; false, with the same words whether
 * it is elsewhere or nowhere. */
static bool resolve(const struct serving *s, const char *name, char out[PATH_MAX],
		    struct bytes *text)
{
	bool found = *name == '/' && realpath(name, out) && is_within(s, out);

	for (int i = 0; i < s->n && !found && *name != '/'; i++) {
		char path[PATH_MAX];

		found = snprintf(path, sizeof path, "%s/%s", s->directory[i], name) < PATH_MAX &&
			realpath(path, out) && is_within(s, out);
	}
	if (found && !leads_out(s, out))
		return true;
	bytes_printf(text,
		     "Nothing named %.200s is in the directories that this server may "
		     "read; list_runs names the recordings.",
		     name);
	return false;
}

/* ---- running a command ---- */

struct words {
	char *word[WORDS_MAX + 1];
	char number[3][48];
	int n;
};

static void add(struct words *w, const char *word)
{
	if (w->n < WORDS_MAX)
		w->word[w->n++] = (char *)word;
}

static void bound(void)
{
	setrlimit(RLIMIT_CPU, &(struct rlimit){ CPU_SECONDS_MOST, CPU_SECONDS_MOST });
}

/* The document is on standard output, also that of an error. */
static void bound_without_messages(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (null >= 0)
		dup2(null, STDERR_FILENO);
	bound();
}

static void put_cut(struct bytes *text, const char *output)
{
	size_t n = strlen(output), most = TEXT_MOST;

	if (n <= most) {
		bytes_puts(text, output);
		return;
	}
	while (most && ((unsigned char)output[most] & 0xc0) == 0x80)
		most--;
	bytes_put(text, output, most);
	bytes_printf(text, "\n(cut here: more than %d bytes; ask for less)", TEXT_MOST);
}

/* Only a message, or the document of an error. Exit code 1 alone says nothing: it is also that of
 * damage, and of a change for the worse. */
static bool is_error(const char *output)
{
	const char *newline = strchr(output, '\n');

	return !*output || (!strncmp(output, "sonde: ", 7) && (!newline || !newline[1])) ||
	       !strncmp(output, "{\n  \"schema\": \"sonde/error/1\"", 29);
}

static bool run_command(const struct words *w, bool document, struct bytes *text)
{
	struct asking c;
	bool ended, bad;
	int status;

	if (asking_start(&c, w->word, document ? bound_without_messages : bound)) {
		bytes_puts(text, "The command cannot be started.");
		return false;
	}
	ended = asking_take_all(&c, patience_ns);
	put_cut(text, asking_text(&c));
	bad = is_error(asking_text(&c));
	status = asking_end(&c, ended ? 0 : SIGKILL);
	if (!ended)
		bytes_puts(text, "\nThe command took too long and was ended.");
	else if (!text->len)
		bytes_puts(text, "The command gave nothing.");
	return ended && WIFEXITED(status) && WEXITSTATUS(status) != EXIT_USAGE &&
	       !(bad && WEXITSTATUS(status) != EXIT_OK);
}

/* ---- tools ---- */

static struct words command(const char *name)
{
	struct words w = { .n = 0 };

	add(&w, "/proc/self/exe");
	add(&w, name);
	return w;
}

static bool list_runs(const struct serving *s, struct bytes *text)
{
	bool good = true;

	for (int i = 0; i < s->n && good; i++) {
		struct words w = command("ls");

		add(&w, "--json");
		add(&w, "--");
		add(&w, s->directory[i]);
		good = run_command(&w, true, text);
	}
	return good;
}

/* Like runs, by which the spread of single ones is known, are looked for in the directories. */
static void add_history(const struct serving *s, struct words *w)
{
	for (int i = 0; i < s->n; i++) {
		add(w, "--history");
		add(w, s->directory[i]);
	}
}

static bool explain(const struct serving *s, const struct jsontree *a, struct bytes *text)
{
	struct words w = command("explain");
	const char *other = jsontree_text(a, "other"), *ask = jsontree_text(a, "ask");
	char run[PATH_MAX], second[PATH_MAX];

	if (!resolve(s, jsontree_text(a, "run"), run, text) ||
	    (other && !resolve(s, other, second, text)))
		return false;
	add(&w, "--json");
	add(&w, "--ask");
	add(&w, ask ? ask : "all");
	if (other)
		add_history(s, &w);
	add(&w, "--");
	add(&w, run);
	if (other)
		add(&w, second);
	return run_command(&w, true, text);
}

static void add_time(struct words *w, int i, const char *option, double seconds)
{
	if (!(seconds >= 0))
		return;
	snprintf(w->number[i], sizeof w->number[i], "%.9fs", fmin(seconds, 1e9));
	add(w, option);
	add(w, w->number[i]);
}

static double window_of(const char *run)
{
	struct listing l = { 0 };
	double wall = !listing_find(&l, run) && l.n == 1 ? l.entry[0].wall_s : NAN;

	listing_free(&l);
	return wall > 0 ? fmax(wall / POINTS, 0.001) : 1;
}

static bool series(const struct serving *s, const struct jsontree *a, struct bytes *text)
{
	struct words w = command("export");
	double every = jsontree_number(a, "every_seconds");
	char run[PATH_MAX];

	if (!resolve(s, jsontree_text(a, "run"), run, text))
		return false;
	add(&w, "--to");
	add(&w, "json");
	add(&w, "-o");
	add(&w, "-");
	add(&w, "--wide");
	add(&w, "--metrics");
	add(&w, jsontree_text(a, "metrics"));
	add_time(&w, 0, "--every", every > 0 ? every : window_of(run));
	add_time(&w, 1, "--from", jsontree_number(a, "from_seconds"));
	add_time(&w, 2, "--until", jsontree_number(a, "until_seconds"));
	add(&w, "--");
	add(&w, run);
	return run_command(&w, false, text);
}

static bool stacks(const struct serving *s, const struct jsontree *a, struct bytes *text)
{
	struct words w = command("show");
	const char *of = jsontree_text(a, "of"), *by = jsontree_text(a, "by");
	char run[PATH_MAX];

	if (!resolve(s, jsontree_text(a, "run"), run, text))
		return false;
	add(&w, of && !strcmp(of, "wait") ? "--waits" : "--code");
	add(&w, "--by");
	add(&w, by ? by : "function");
	add(&w, "--");
	add(&w, run);
	return run_command(&w, false, text);
}

static bool compare(const struct serving *s, const struct jsontree *arguments, struct bytes *text)
{
	struct words w = command("compare");
	char a[PATH_MAX], b[PATH_MAX];

	if (!resolve(s, jsontree_text(arguments, "a"), a, text) ||
	    !resolve(s, jsontree_text(arguments, "b"), b, text))
		return false;
	add(&w, "--markdown");
	add_history(s, &w);
	add(&w, "--");
	add(&w, a);
	add(&w, b);
	return run_command(&w, false, text);
}

static bool call(void *ctx, size_t tool, const struct jsontree *arguments, struct bytes *text)
{
	const struct serving *s = ctx;

	for (int i = 0; i < s->n; i++)
		if (leads_out(s, s->directory[i])) {
			bytes_printf(text,
				     "A link in %.300s leads out of the directories that "
				     "this server may read; remove it.",
				     s->directory[i]);
			return false;
		}
	switch (tool) {
	case EXPLAIN:
		return explain(s, arguments, text);
	case SERIES:
		return series(s, arguments, text);
	case STACKS:
		return stacks(s, arguments, text);
	case COMPARE:
		return compare(s, arguments, text);
	default:
		return list_runs(s, text);
	}
}

/* ---- lines in, lines out ---- */

static bool send(struct bytes *out)
{
	size_t at = 0;

	while (at < out->len) {
		ssize_t n = write(STDOUT_FILENO, out->data + at, out->len - at);

		if (n < 0 && errno != EINTR)
			return false;
		at += n > 0 ? (size_t)n : 0;
	}
	bytes_reset(out);
	return true;
}

/* Answers the whole lines of `in`, and keeps what follows them. */
static bool take_lines(const struct mcp *m, struct bytes *in, bool *skipping)
{
	struct bytes out = { 0 };
	const uint8_t *at = in->data, *end = in->data + in->len, *newline;
	bool sent = true;

	while (sent && at < end && (newline = memchr(at, '\n', (size_t)(end - at)))) {
		if (!*skipping && newline > at)
			mcp_answer(m, at, (size_t)(newline - at), &out);
		*skipping = false;
		at = newline + 1;
		sent = !out.failed && send(&out);
	}
	if ((size_t)(end - at) > LINE_MOST) {
		if (!*skipping)
			mcp_refuse(&out, "a message is at most a megabyte long");
		*skipping = true;
		at = end;
		sent = sent && !out.failed && send(&out);
	}
	if (at < end)
		memmove(in->data, at, (size_t)(end - at));
	in->len = (size_t)(end - at);
	bytes_free(&out);
	return sent;
}

static int serve(struct serving *s)
{
	const struct mcp m = {
		.tool = tools,
		.ntools = TOOLS,
		.instructions =
			"Recordings of what jobs used of their machines. Call list_runs, then "
			"explain; numbers in its answers say where `sonde show --json` has them.",
		.call = call,
		.ctx = s,
	};
	struct bytes in = { 0 };
	bool skipping = false, good = true;
	uint8_t block[65536];
	ssize_t n;

	signal(SIGPIPE, SIG_IGN);
	while (good &&
	       ((n = read(STDIN_FILENO, block, sizeof block)) > 0 || (n < 0 && errno == EINTR))) {
		if (n > 0)
			bytes_put(&in, block, (size_t)n);
		good = !in.failed && take_lines(&m, &in, &skipping);
	}
	bytes_free(&in);
	return EXIT_OK;
}

static void print_tools(void)
{
	for (size_t i = 0; i < TOOLS; i++) {
		printf("%s: %s\n", tools[i].name, tools[i].what);
		for (const struct mcp_argument *a = tools[i].argument; a->name; a++)
			printf("    %s%s: %s%s%s\n", a->name, a->required ? "" : " (optional)",
			       a->what, a->choices ? " " : "", a->choices ? a->choices : "");
	}
}

static int mcp_exec(const void *options, int noperands, char **operands)
{
	const struct mcp_options *o = options;
	struct serving s = { .n = 0 };
	char *here[] = { "." };
	int code = EXIT_OK, n = noperands ? noperands : 1;
	char **directory = noperands ? operands : here;

	if (o->list) {
		print_tools();
		return EXIT_OK;
	}
	for (int i = 0; i < n && code == EXIT_OK; i++) {
		char *resolved = s.n < DIRECTORIES_MAX ? realpath(directory[i], NULL) : NULL;

		if (resolved) {
			s.directory[s.n++] = resolved;
		} else if (s.n == DIRECTORIES_MAX) {
			say("mcp: more than %d directories", DIRECTORIES_MAX);
			code = EXIT_USAGE;
		} else {
			say("mcp: cannot read %.300s: %s", directory[i], strerror(errno));
			code = EXIT_USAGE;
		}
	}
	if (code == EXIT_OK)
		code = serve(&s);
	while (s.n)
		free(s.directory[--s.n]);
	return code;
}

const struct command command_mcp = {
	.name = "mcp",
	.operands = "[DIR...]",
	.what = "Let an assistant read recordings: a server of the Model Context Protocol",
	.description =
		"Answers JSON-RPC messages, one per line, on standard input and output, as the Model Context Protocol specifies. An assistant starts it and calls its tools: list_runs, "
		"explain, series, stacks and compare.\n\n"
		"It only reads, and only what is in the directories DIR (default: this one); a "
		"name that leads out of them is refused, also through links. It opens no connection. "
		"Each answer is at most 60,000 bytes long and takes at most two minutes. It ends when its standard input ends.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct mcp_options),
	COMMAND_EXAMPLES(examples),
	.exec = mcp_exec,
};
