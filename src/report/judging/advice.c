/* SPDX-License-Identifier: Apache-2.0 */
#include "report/judging/advice.h"

#include "core/glob.h"
#include "report/summary/code.h"

#include <string.h>

/* ---- interpreters ---- */

/* By the name of the command: the first whose name it begins with, and digits behind it. */
struct row {
	const char *commands, *advice;
};

static const struct row interpreters[] = {
	{ "python pypy",
	  "Move loops into a compiled library (NumPy, Numba, Cython), or into a compiled language." },
	{ "node nodejs deno bun",
	  "Move the hottest loops into a native add-on or WebAssembly, keep numbers in typed arrays, and use worker threads." },
	{ "R Rscript",
	  "Replace loops by functions that take whole vectors, or move them into C++ (Rcpp) or another compiled language." },
	{ "perl",
	  "Move loops into a compiled module (XS, Inline::C, PDL), or into a compiled language." },
	{ "lua", "Use LuaJIT, or move loops into a C module." },
	{ "luajit", "Move loops into a C library (ffi), or into a compiled language." },
	{ "ruby", "Move loops into a C extension, or try ruby --yjit." },
	{ "php", "Move loops into an extension, or try PHP's JIT (opcache.jit)." },
	{ "octave",
	  "Replace loops by operations on whole matrices, or move them into a compiled function (mex)." },
	{ "bash sh dash zsh ksh mksh tcsh csh busybox",
	  "A shell is slow at loops: let one program do them (awk, Python, a compiled language)." },
	{ "awk mawk gawk nawk sed",
	  "Move the work into a compiled language, or divide the input among several processes." },
	{ "tclsh guile", "Move loops into a compiled library, or into a compiled language." },
};

static const char any_interpreter[] =
	"Move loops into a compiled library, or into a compiled language.";

/* "python3.11 train.py" is python; R is no Rocket. */
static bool is_of(const char *name, const char *command, size_t n)
{
	size_t word = strcspn(name, " ");

	return word >= n && !strncmp(name, command, n) &&
	       n + strspn(name + n, "0123456789.") >= word;
}

static bool is_one_of(const char *name, const char *commands)
{
	for (const char *at = commands; *at; at += strspn(at, " ")) {
		size_t n = strcspn(at, " ");

		if (is_of(name, at, n))
			return true;
		at += n;
	}
	return false;
}

static const char *advice_for(const char *name, const struct row *row, size_t n,
			      const char *otherwise)
{
	for (size_t i = 0; i < n; i++)
		if (is_one_of(name, row[i].commands))
			return row[i].advice;
	return otherwise;
}

/* Of the command that used most CPU time. */
static const char *advice_by(const struct summary *s, const struct row *row, size_t n,
			     const char *otherwise)
{
	return advice_for(s->ncommands ? s->commands[0].name : "", row, n, otherwise);
}

enum { INTERPRETERS = sizeof interpreters / sizeof interpreters[0] };

/* Beside one that is none and used more; of one with little CPU time, another has an interpreter
 * within it. */
const char *advice_interpreter(const struct summary *s)
{
	static const double least = 0.2;

	for (uint32_t i = 0; i < s->ncommands && s->commands[i].cpu_s >= least * s->cpu_s; i++)
		if (advice_for(s->commands[i].name, interpreters, INTERPRETERS, NULL))
			return s->commands[i].name;
	return s->ncommands ? s->commands[0].name : NULL;
}

const char *advice_of_interpreter(const struct summary *s)
{
	const char *name = advice_interpreter(s);

	return advice_for(name ? name : "", interpreters, INTERPRETERS, any_interpreter);
}

/* ---- who knows the functions that Sonde does not ---- */

static const struct row profilers[] = {
	{ "node nodejs",
	  "With NODE_OPTIONS=--perf-basic-prof in the job's environment Sonde names its functions." },
	{ "java",
	  "`jcmd PID Compiler.perfmap`, once it is warm, lets Sonde name its methods (JDK 17 and later). A flight "
	  "recording names them without Sonde (-XX:StartFlightRecording=filename=job.jfr, then jfr print --events "
	  "ExecutionSample job.jfr)." },
	{ "dotnet",
	  "With DOTNET_PerfMapEnabled=1 in the job's environment Sonde names its methods." },
	{ "julia", "Julia's own profiler (using Profile; @profile) names its functions." },
	{ "luajit", "luajit -jp names its functions." },
	{ "R Rscript",
	  "R's own profiler names its functions: Rprof(\"job.prof\") at the start of the script, then "
	  "summaryRprof(\"job.prof\")." },
	{ "perl", "perl -d:NYTProf names its lines (Devel::NYTProf)." },
	{ "ruby", "A profiler of Ruby names its methods (stackprof, or rbspy without changes)." },
	{ "php",
	  "A profiler of PHP names its functions (Excimer, XHProf, or phpspy without changes)." },
	{ "octave", "`profile on` and `profshow` name its functions." },
	{ "lua", "A profiler of Lua names its functions (LuaProfiler, or luajit -jp)." },
	{ "bash", "PS4='+ $EPOCHREALTIME $LINENO ' bash -x prints when each line ran." },
	{ "gawk awk mawk nawk", "gawk --profile writes how often each line ran." },
};

const char *advice_of_profiler(const struct summary *s, const char *otherwise)
{
	return advice_by(s, profilers, sizeof profilers / sizeof profilers[0], otherwise);
}

/* ---- garbage ---- */

static const struct row collectors[] = {
	{ "node nodejs deno bun",
	  "Make fewer and smaller temporary objects (no spread or concat of what has grown, in a loop), or give the "
	  "young ones more room (--max-semi-space-size); node --heap-prof names the functions that make them." },
	{ "java",
	  "Give the heap more room (-Xmx), make fewer temporary objects, or keep fewer; a flight recording "
	  "(-XX:StartFlightRecording=filename=job.jfr) names the methods that make them." },
	{ "python pypy",
	  "Collect less often while many objects are made that stay (gc.freeze, gc.disable), or make fewer of them." },
	{ "R Rscript",
	  "Make fewer copies: each change of a vector or data frame in a loop may copy it. Rprof(memory.profiling = TRUE) "
	  "names the functions that make them." },
};

const char *advice_of_collection(const struct summary *s)
{
	return advice_by(
		s, collectors, sizeof collectors / sizeof collectors[0],
		"Give the heap more room (-Xmx, GOGC, gc.freeze), make fewer temporary objects, or keep fewer.");
}

/* ---- memory that is taken again and again ---- */

static const struct row memories[] = {
	{ "node nodejs deno bun",
	  "Garbage is collected and its memory taken again: make fewer and smaller temporary arrays and objects (no "
	  "spread or concat of what has grown, in a loop), or raise --max-semi-space-size; node --heap-prof names the functions "
	  "that make them." },
	{ "java",
	  "Give the heap its memory at the start (-Xms, -XX:+AlwaysPreTouch), and make fewer temporary objects." },
};

static const char any_memory[] =
	"Memory is freed and allocated again, copied after a fork, or files are mapped again and again: "
	"reuse buffers and mappings, tell the allocator to keep them (MALLOC_TRIM_THRESHOLD_, "
	"MALLOC_MMAP_THRESHOLD_), fork helpers while the process is small.";

const char *advice_of_faults(const struct summary *s)
{
	return advice_by(s, memories, sizeof memories / sizeof memories[0], any_memory);
}

/* ---- what an option makes dear ---- */

static const struct {
	const char *command, *option, *instead, *advice;
} options[] = {
	{ "grep", "-f", "-F",
	  "It searches for the patterns of a file (-f), each a regular expression: if they are plain words, add -F, "
	  "which looks for all of them at once." },
};

bool advice_has_word(const char *line, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = line; (at = strstr(at, word)); at += n)
		if (at > line && at[-1] == ' ' && (!at[n] || at[n] == ' '))
			return true;
	return false;
}

const char *advice_of_options(const char *line)
{
	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
		size_t n = strlen(options[i].command);

		if (!strncmp(line, options[i].command, n) && line[n] == ' ' &&
		    advice_has_word(line, options[i].option) &&
		    !advice_has_word(line, options[i].instead))
			return options[i].advice;
	}
	return NULL;
}

const char *advice_of_calls(const struct summary *s)
{
	if (s->code && s->code->kernel && s->code->kernel->total > 0)
		return "Of checks in a loop (sched_yield, poll without a timeout), let threads sleep until there is "
		       "work; of look-ups of files (stat, open), ask for each file once.";
	return "Which ones was not recorded: often they are checks in a loop (sched_yield, poll without a timeout) "
	       "or look-ups of files (stat, open). Count them with strace -c -f, then let threads sleep until there "
	       "is work, or ask for each file once.";
}

/* ---- what looks for an interpreter at each start ---- */

static const struct {
	const char *shim, *advice;
} shims[] = {
	{ "pyenv",
	  ", also to pyenv, which looks for it at each start: call Python itself (`pyenv which python3` has its path)." },
	{ "rbenv",
	  ", also to rbenv, which looks for it at each start: call Ruby itself (`rbenv which ruby` has its path)." },
	{ "nodenv",
	  ", also to nodenv, which looks for it at each start: call Node itself (`nodenv which node` has its path)." },
	{ "plenv",
	  ", also to plenv, which looks for it at each start: call Perl itself (`plenv which perl` has its path)." },
	{ "jenv",
	  ", also to jenv, which looks for it at each start: call Java itself (`jenv which java` has its path)." },
	{ "asdf",
	  ", also to asdf, which looks for it at each start: call the program itself (`asdf which` has its path)." },
};

const char *advice_of_shim(const struct summary *s)
{
	const char *shim = s->story.starts_shim;

	for (size_t i = 0; shim && i < sizeof shims / sizeof shims[0]; i++)
		if (!strcmp(shims[i].shim, shim))
			return shims[i].advice;
	return ".";
}

/* ---- code that was not optimized ---- */

/* Whether most of it that has a file is Rust's. */
static bool is_rust(const struct summary *s)
{
	const struct stacks *st = s->code ? s->code->stacks : NULL;
	double rust = 0;

	for (uint32_t i = 0; st && i < st->rows[STACKS_BY_FUNCTION].n; i++) {
		const struct stacks_row *row = &st->rows[STACKS_BY_FUNCTION].row[i];

		rust += row->file && glob_match("*.rs", row->file) ? row->self : 0;
	}
	return st && st->unoptimized > 0 && rust >= st->unoptimized / 2;
}

const char *advice_of_unoptimized(const struct summary *s)
{
	return is_rust(s)
		       ? "(a debug build). Build with cargo build --release, or rustc -O: such code often takes "
			 "several times as long."
		       : "(-O0). Build with -O2 (CMake: -DCMAKE_BUILD_TYPE=Release): such code often takes two "
			 "to five times as long.";
}
