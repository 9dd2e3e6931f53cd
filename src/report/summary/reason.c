/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary/reason.h"

#include "base/text/escape.h"
#include "report/judging/rule.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* How much a line looks like the reason. Of equal ones the last counts, but of a compiler's errors
 * the first. */
enum strength { NOTHING = 0, NOISE, LAST, CRASH, ERROR, COMPILER, EXCEPTION };

enum { LINES_MAX = 64 };

static bool begins(const char *line, const char *with)
{
	return !strncmp(line, with, strlen(with));
}

static bool any(const char *line, const char *const *words, bool (*is)(const char *, const char *))
{
	for (; *words; words++)
		if (is(line, *words))
			return true;
	return false;
}

static bool holds(const char *line, const char *word)
{
	return strstr(line, word) != NULL;
}

static bool holds_any_case(const char *line, const char *word)
{
	return strcasestr(line, word) != NULL;
}

/* What others say of a failure that happened before, and what only leads on. */
static bool is_noise(const char *line)
{
	static const char *const beginnings[] = { "sonde: ",
						  "srun: error:",
						  "slurmstepd: error:",
						  "collect2:",
						  "Node.js v",
						  "Try '",
						  "Traceback (most",
						  "During handling",
						  "The above exception",
						  "ninja: build stopped",
						  "Execution halted",
						  "goroutine ",
						  "[the line above ",
						  "note: run with",
						  "Stacktrace:",
						  "at ",
						  "... ",
						  "Calls:",
						  "exit status ",
						  "+",
						  "#",
						  "^",
						  "File \"",
						  "in expression starting",
						  NULL };

	return !line[strcspn(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")] ||
	       any(line, beginnings, begins) || (begins(line, "make") && holds(line, "] Error "));
}

/* What a launcher of MPI prints about any rank that failed. */
static bool is_launchers(const char *line)
{
	static const char *const beginnings[] = { "NOTE: invoking MPI_ABORT",
						  "You may or may not see output from",
						  "exactly when Open MPI kills",
						  "with errorcode ",
						  "Errorcode: ",
						  "Proc: [[",
						  "Process name: [",
						  "Exit code: ",
						  "Primary job ",
						  "a non-zero exit code. Per user",
						  "the job to be terminated. The first",
						  "=   ",
						  "YOUR APPLICATION TERMINATED WITH",
						  "This typically refers to a problem",
						  "Please see the FAQ page",
						  NULL };
	static const char *const words[] = { "ORTE_ERROR_LOG: ",
					     "PMIX ERROR: ",
					     "detected that one or more processes exited with",
					     "more processes have sent help message",
					     "orte_base_help_aggregate",
					     NULL };

	return any(line, beginnings, begins) || any(line, words, holds);
}

static bool is_mpi_abort(const char *line)
{
	return begins(line, "MPI_ABORT was invoked on ") ||
	       holds(line, "application called MPI_Abort(");
}

/* "json.decoder.JSONDecodeError: ...", "KeyboardInterrupt" */
static bool is_named_exception(const char *line)
{
	static const char *const endings[] = { "Error", "Exception", "Interrupt", "Exit" };
	size_t n = 0;

	while (isalnum((unsigned char)line[n]) || (line[n] && strchr("_.$", line[n])))
		n++;
	if (line[n] && line[n] != ':')
		return false;
	for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
		size_t m = strlen(endings[i]);

		if (n >= m && !strncmp(line + n - m, endings[i], m) &&
		    isupper((unsigned char)*endings[i]))
			return n > m || line[n] == ':';
	}
	return false;
}

/* Rust: thread 'main' panicked at PLACE; since 1.90 the thread's number stands before the verb. */
static bool is_panic(const char *line)
{
	return begins(line, "thread '") && holds(line, " panicked at ");
}

static bool is_exception(const char *line)
{
	static const char *const beginnings[] = { "Exception in thread",
						  "Caused by: ",
						  "panic: ",
						  "ERROR: ",
						  "what():",
						  "Error in ",
						  "Fatal Python error:",
						  "Uncaught ",
						  "Unhandled exception",
						  NULL };

	return any(line, beginnings, begins) || is_panic(line) || is_named_exception(line);
}

static bool is_warning(const char *line)
{
	return holds_any_case(line, "warning:");
}

static bool is_compilers(const char *line)
{
	static const char *const words[] = { ": error: ", ": fatal error: ", "error[E", NULL };

	return !is_warning(line) && any(line, words, holds);
}

static bool is_error(const char *line)
{
	static const char *const words[] = { "error:", "fatal:", "abort:", "failed:", NULL };
	static const char *const exact[] = { "ERROR ", "FATAL", "CRITICAL", "terminate called",
					     NULL };

	return !is_warning(line) && (any(line, words, holds_any_case) || any(line, exact, holds));
}

static bool is_crash(const char *line)
{
	static const char *const words[] = { "Segmentation fault",       "Bus error", "core dumped",
					     "Floating point exception", "MPI_ABORT", "MPI_Abort",
					     "CalledProcessError",       NULL };

	return any(line, words, holds) || !strcmp(line, "Aborted") || !strcmp(line, "Killed") ||
	       !strcmp(line, "Terminated");
}

struct finder {
	const struct rules *site, *builtin;
	char *line[LINES_MAX];
	bool indented[LINES_MAX];
	size_t n;
};

static const struct rule_error *kind_of(const struct finder *f, const char *line)
{
	const struct rule_error *own = rule_error_of(f->site, line);

	return own ? own : rule_error_of(f->builtin, line);
}

/* Behind "Traceback", the first line that is not indented. */
static bool ends_traceback(const struct finder *f, size_t i)
{
	size_t k = i;

	if (f->indented[i])
		return false;
	while (k && f->indented[k - 1])
		k--;
	return k && k < i && begins(f->line[k - 1], "Traceback (most");
}

static enum strength strength_of(const struct finder *f, size_t i)
{
	const char *line = f->line[i];

	if (!*line)
		return NOTHING;
	if (is_launchers(line))
		return NOISE;
	if (is_crash(line))
		return CRASH;
	if (ends_traceback(f, i))
		return EXCEPTION;
	if (is_noise(line))
		return NOISE;
	return is_exception(line)                   ? EXCEPTION
	       : is_compilers(line)                 ? COMPILER
	       : kind_of(f, line) || is_error(line) ? ERROR
						    : LAST;
}

/* The last lines of the text, without the blanks before and behind them. */
static void split(struct finder *f, char *text)
{
	char *save = NULL;

	for (char *at = strtok_r(text, "\n", &save); at; at = strtok_r(NULL, "\n", &save)) {
		size_t blanks = strspn(at, " \t"), n = strlen(at);

		while (n > blanks && strchr(" \t", at[n - 1]))
			at[--n] = '\0';
		if (f->n == LINES_MAX)
			return;
		f->indented[f->n] = blanks > 0;
		f->line[f->n++] = at + blanks;
	}
}

/* Not within a character; full stops at its end go, since a sentence ends there. */
static void put_line(char *out, size_t size, const char *line, const char *next)
{
	size_t n = strlen(line);
	int put = n && line[n - 1] == ':' && next ? snprintf(out, size, "%s %s", line, next)
						  : snprintf(out, size, "%s", line);

	n = strlen(out);
	if (put > (int)n) {
		while (n > size - 4 || (n && ((unsigned char)out[n] & 0xc0) == 0x80))
			n--;
		memcpy(out + n, "...", 4);
		return;
	}
	while (n && strchr(". \t", out[n - 1]))
		out[--n] = '\0';
}

/* A program prints why, and then calls MPI_Abort: "why (MPI_ABORT was invoked on rank 1 ...)". */
static void put_abort(char *out, size_t size, const struct finder *f, size_t i)
{
	size_t why = i;
	char abort[160], code[40] = "";

	if (i + 1 < f->n && begins(f->line[i + 1], "with errorcode "))
		put_line(code, sizeof code, f->line[i + 1], NULL);
	put_line(abort, sizeof abort, f->line[i], NULL);
	while (why && strength_of(f, why - 1) <= NOISE)
		why--;
	if (why)
		put_line(out, size / 2, f->line[why - 1], NULL);
	snprintf(out + strlen(out), size - strlen(out), why ? " (%s%s%s)" : "%s%s%s", abort,
		 *code ? " " : "", code);
}

static void take_line(struct summary_reason *x, const struct finder *f, size_t i,
		      enum strength strength)
{
	const struct rule_error *kind;

	if (strength == CRASH && is_mpi_abort(f->line[i]))
		put_abort(x->line, sizeof x->line, f, i);
	else
		put_line(x->line, sizeof x->line, f->line[i], i + 1 < f->n ? f->line[i + 1] : NULL);
	kind = kind_of(f, x->line);
	x->is_error = strength > CRASH || is_mpi_abort(f->line[i]);
	x->is_crash = !x->is_error && strength == CRASH;
	if (!kind)
		return;
	snprintf(x->kind, sizeof x->kind, "%s", kind->name);
	snprintf(x->advice, sizeof x->advice, "%s", kind->advice);
}

void reason_take(struct summary_reason *x, const struct run *r, uint32_t node, uint32_t instance)
{
	static const char *const keys[] = { META_ERROR_TEXT, META_ERROR_TEXT "_absent",
					    META_ERROR_TEXT "_from" };
	const char *found[3];

	for (size_t i = 0; i < 3; i++)
		found[i] = instance ? run_label(r, instance, keys[i] + strlen("job."))
				    : run_find_text(r, node, keys[i]);
	*x = (struct summary_reason){ .text = found[0],
				      .absent = found[1],
				      .of_output = found[2] != NULL };
}

/* R prints what it could not do, and behind that as a warning what of: the name of the file. */
static size_t warned_of(const struct finder *f, size_t found)
{
	const struct rule_error *kind = kind_of(f, f->line[found]);
	bool warned = false;

	if (!kind || !begins(f->line[found], "Error in "))
		return found;
	for (size_t i = found + 1; i < f->n; i++) {
		warned |= begins(f->line[i], "In addition: Warning message");
		if (warned && kind_of(f, f->line[i]) == kind)
			return i;
	}
	return found;
}

void reason_find(struct summary_reason *x, const struct rules *site, const struct rules *builtin)
{
	struct finder f = { .site = site, .builtin = builtin };
	enum strength best = NOTHING;
	size_t found = 0;
	char *copy = x->text ? strdup(x->text) : NULL;

	if (copy)
		split(&f, copy);
	for (size_t i = 0; i < f.n; i++) {
		enum strength s = strength_of(&f, i);

		if (s < best || (s == best && s == COMPILER))
			continue;
		best = s;
		found = i;
	}
	if (best > NOISE)
		take_line(x, &f, warned_of(&f, found), best);
	free(copy);
}

bool reason_is_of_a_death(const struct summary_reason *x)
{
	static const char *const words[] = { "terminated abruptly",
					     "unexpectedly",
					     "was killed",
					     "killed by",
					     "signal 9",
					     "SIGKILL",
					     "BrokenProcessPool",
					     "died",
					     "worker lost",
					     NULL };

	return any(x->line, words, holds_any_case);
}

double reason_error(const struct summary *s, const char *kind)
{
	const char *its = *s->reason.kind ? s->reason.kind : REASON_UNKNOWN;

	return s->reason.is_error ? !strcmp(its, kind) : NAN;
}

const char *reason_title(const struct summary_reason *x)
{
	return x->of_output ? "Last lines of standard output" : "Last lines of standard error";
}

static const char *text_or_null(const char *text)
{
	return *text ? text : NULL;
}

void reason_json(const struct summary_reason *x, struct json *j)
{
	if (!x->text && !x->absent) {
		json_null(j);
		return;
	}
	json_object(j);
	json_put_text(j, "line", text_or_null(x->line));
	json_put_bool(j, "is_error", x->is_error);
	json_put_text(j, "kind", text_or_null(x->kind));
	json_put_text(j, "advice", text_or_null(x->advice));
	json_put_text(j, "from", x->of_output ? "standard output" : "standard error");
	json_put_text(j, "text", x->text);
	json_put_text(j, "absent", x->absent);
	json_object_end(j);
}

void reason_print(const struct summary_reason *x, FILE *out)
{
	char *copy = x->text ? strdup(x->text) : NULL, *save = NULL;

	if (copy)
		fprintf(out, "\n%s:\n", reason_title(x));
	for (char *at = copy ? strtok_r(copy, "\n", &save) : NULL; at;
	     at = strtok_r(NULL, "\n", &save)) {
		struct bytes b = { 0 };

		escape_terminal(&b, at);
		if (!b.failed)
			fprintf(out, "  %.*s\n", (int)b.len, (const char *)b.data);
		bytes_free(&b);
	}
	free(copy);
}

/* ---- answers ---- */

/* Exit codes of these commands that are an answer; why: to whoever started only that. */
static const struct {
	const char *command;
	int code;
	const char *why;
} answers[] = {
	{ "grep", 1, "grep found no match" },
	{ "egrep", 1, "egrep found no match" },
	{ "fgrep", 1, "fgrep found no match" },
	{ "zgrep", 1, "zgrep found no match" },
	{ "bzgrep", 1, "bzgrep found no match" },
	{ "xzgrep", 1, "xzgrep found no match" },
	{ "rg", 1, "rg found no match" },
	{ "ag", 1, "ag found no match" },
	{ "ack", 1, "ack found no match" },
	{ "diff", 1, "the files differ" },
	{ "sdiff", 1, "the files differ" },
	{ "diff3", 1, "the files differ" },
	{ "zdiff", 1, "the files differ" },
	{ "colordiff", 1, "the files differ" },
	{ "cmp", 1, "the files differ" },
	{ "zcmp", 1, "the files differ" },
	{ "h5diff", 1, "the files differ" },
	{ "test", 1, "the condition is false" },
	{ "[", 1, "the condition is false" },
	{ "pgrep", 1, "no process matches" },
	{ "pidof", 1, "no process matches" },
	{ "expr", 1, NULL },
	{ "git", 1, NULL },
	{ "false", 1, NULL },
	{ "which", 1, NULL },
	{ "timeout", 1, NULL },
	{ "flock", 1, NULL },
	{ "fuser", 1, NULL },
	{ "jq", 1, NULL },
	{ "mountpoint", 1, NULL },
	{ "mountpoint", 32, NULL },
	{ "readlink", 1, NULL },
	{ "tty", 1, NULL },
	{ "getent", 2, NULL },
	{ "systemctl", 3, NULL },
};

/* Solvers of satisfiability and optimisation say by their exit code what they found; names have
 * versions behind them. */
static const char *const solvers[] = {
	"bitwuzla",      "boolector",   "cadical",     "caqe",      "clasp",    "clingo",
	"cryptominisat", "depqbf",      "gimsatul",    "glucose",   "isasat",   "kissat",
	"lingeling",     "maplelcm",    "maplesat",    "minisat",   "open-wbo", "picosat",
	"plingeling",    "roundingsat", "treengeling", "uwrmaxsat",
};
static const struct {
	int code;
	const char *why;
} found[] = {
	{ 10, "the solver found it satisfiable" },
	{ 20, "the solver found it unsatisfiable" },
	{ 30, "the solver found an optimum" },
};

static const char *answer_of_solver(const char *name, double code)
{
	const char *why = NULL;

	for (size_t i = 0; i < sizeof found / sizeof found[0]; i++)
		if (code == found[i].code)
			why = found[i].why;
	for (size_t i = 0; why && i < sizeof solvers / sizeof solvers[0]; i++)
		if (!strncasecmp(name, solvers[i], strlen(solvers[i])))
			return why;
	return NULL;
}

/* The program of a command line: "/usr/bin/grep -q x file" is grep. */
static const char *program_of(const char *command, size_t *length)
{
	size_t n = strcspn(command, " "), at = n;

	while (at && command[at - 1] != '/')
		at--;
	*length = n - at;
	return command + at;
}

/* What git is asked, and not told, by the first word that is no option: "-C dir push" is push. Of
 * its name alone that is not known. */
static bool git_is_asked(const char *words)
{
	static const char asked[] =
		" apply cat-file check-attr check-ignore check-ref-format commit config diff diff-files "
		"diff-index diff-tree grep ls-files merge-base merge-tree rev-parse show-ref symbolic-ref ";
	char word[32];

	for (words += strspn(words, " "); *words == '-'; words += strspn(words, " ")) {
		bool has_value = !strncmp(words, "-C ", 3) || !strncmp(words, "-c ", 3);

		words += strcspn(words, " ");
		words += has_value ? strspn(words, " ") : 0;
		words += has_value ? strcspn(words, " ") : 0;
	}
	snprintf(word, sizeof word, " %.*s ", (int)strcspn(words, " "), words);
	return !*words || strstr(asked, word);
}

bool reason_is_answer(const char *command, double code, const char **why)
{
	size_t length;
	const char *name = program_of(command ? command : "", &length);

	*why = answer_of_solver(name, code);
	for (size_t i = 0; !*why && i < sizeof answers / sizeof answers[0]; i++)
		if (code == answers[i].code && strlen(answers[i].command) == length &&
		    !strncmp(name, answers[i].command, length)) {
			*why = answers[i].why;
			return strcmp(answers[i].command, "git") != 0 ||
			       git_is_asked(name + length);
		}
	return *why != NULL;
}

static bool is_among(const char *command, const char *const *names, size_t n)
{
	size_t length;
	const char *name = program_of(command ? command : "", &length);

	for (size_t i = 0; i < n; i++)
		if (strlen(names[i]) == length && !strncmp(names[i], name, length))
			return true;
	return false;
}

/* A shell ends so as well when it did not expect the answer (set -e): only what nothing else ends
 * with is taken for it. */
bool reason_hands_on(const char *command, double code)
{
	static const char *const wrappers[] = { "time", "timeout", "runsolver" };
	static const char *const shells[] = { "sh", "bash", "dash", "ksh", "zsh" };

	return is_among(command, wrappers, sizeof wrappers / sizeof wrappers[0]) ||
	       (code > 2 && is_among(command, shells, sizeof shells / sizeof shells[0]));
}
