/* SPDX-License-Identifier: Apache-2.0 */
/* tools.c - what checks or measures a program while it runs and was left on: by its functions, by
 * the name of its command, or by the option that turns it on. */
#include "core/glob.h"
#include "report/judging/advice.h"
#include "report/summary/code.h"
#include "report/summary/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Functions count with all that they call, so none of them calls the program. An option counts
 * where its command has it; what it costs is then all that the command used. */
static const struct {
	const char *functions, *commands, *option, *what, *advice;
} tools[] = {
	{ .functions =
		  "tracemalloc_get_frame*,traceback_get_frames*,traceback_new*,tracemalloc_add_trace*,"
		  "tracemalloc_remove_trace*,_PyTraceMalloc_*",
	  .what = "tracemalloc, which records where each piece of Python's memory comes from",
	  .advice = "Was it left on? Unset PYTHONTRACEMALLOC, and remove -X tracemalloc and "
		    "tracemalloc.start()." },
	{ .functions = "_PyMem_Debug*",
	  .what = "Python's checks of its memory",
	  .advice =
		  "Were they left on? Unset PYTHONMALLOC=debug and PYTHONDEVMODE, and remove -X dev." },
	{ .functions =
		  "profiler_callback*,ptrace_enter_call*,ptrace_leave_call*,call_trampoline*,"
		  "trace_trampoline*,profile_trampoline*,call_trace,call_tracefunc,"
		  "maybe_call_line_trace*,sys_trace_*,sys_profile_*,call_instrumentation_vector*,"
		  "CTracer_*",
	  .what = "a profiler, debugger or coverage tool of Python, which is called at each call or line",
	  .advice =
		  "Was it left on? Run without cProfile, profile, trace, coverage and pdb, and remove "
		  "sys.settrace and sys.setprofile." },
	{ .functions =
		  "__asan_*,__asan::Check*,__asan::Report*,__asan::Allocator*,__asan::asan_malloc*,"
		  "__asan::asan_free*,__ubsan_*,__tsan_*,__tsan::MemoryAccess*,__msan_*,"
		  "__hwasan_*,__interceptor_malloc,__interceptor_free,___interceptor_malloc,"
		  "___interceptor_free,__sanitizer::StackDepot*,__sanitizer::BufferedStackTrace*,"
		  "runtime.racefunc*,runtime.racecall*,runtime.raceread*,runtime.racewrite*",
	  .what = "a sanitizer, which checks each access to memory",
	  .advice = "Was it left on? Build without -fsanitize (Go: without -race) for real runs." },
	{ .functions = "mcount,_mcount,__mcount_internal*,__fentry__,__cyg_profile_func_*,__gcov_*",
	  .what = "what a compiler added to measure the program's functions",
	  .advice = "Was it left on? Build without -pg, --coverage and -finstrument-functions." },
	{ .functions = "checked_jni_*,JvmtiExport::post_*",
	  .what = "a debugger, profiler or checks of the JVM",
	  .advice =
		  "Were they left on? Remove -Xcheck:jni, -agentlib, -agentpath and -javaagent." },
	{ .commands =
		  "valgrind,valgrind.bin,memcheck-*,callgrind-*,massif-*,helgrind-*,drd-*,cachegrind-*,dhat-*",
	  .what = "Valgrind, which runs each instruction of the program in its own code",
	  .advice = "Was it left on? Run without valgrind." },
	{ .commands = "strace,ltrace,gdb,lldb,lldb-*,uftrace,rr",
	  .what = "a tracer or debugger, which stops the program at each event",
	  .advice = "Was it left on? Run without strace, ltrace or a debugger." },
	{ .commands = "java",
	  .option = "-Xint",
	  .what = "a JVM that may not compile (-Xint)",
	  .advice = "Remove -Xint: compiled code is often ten times as fast or more." },
	{ .commands = "node,nodejs",
	  .option = "--jitless",
	  .what = "JavaScript that may not be compiled (--jitless)",
	  .advice = "Remove --jitless: compiled code is often ten times as fast or more." },
};

/* "gdb -batch" is gdb. */
static bool is_command(const char *commands, const char *name)
{
	char first[64];

	snprintf(first, sizeof first, "%.*s", (int)strcspn(name, " "), name);
	return glob_match(commands, first);
}

static double of_commands(const struct summary *s, const char *commands)
{
	double sum = 0;

	for (uint32_t i = 0; i < s->ncommands; i++)
		if (is_command(commands, s->commands[i].name))
			sum += s->commands[i].cpu_s;
	return sum;
}

/* Of the processes that used most. */
static double with_option(const struct summary *s, const char *commands, const char *option)
{
	double sum = 0;

	for (uint32_t i = 0; i < s->nby_cpu; i++) {
		const struct summary_process *p = &s->by_cpu[i];

		if (p->name && p->command_line && is_command(commands, p->name) &&
		    advice_has_word(p->command_line, option))
			sum += isnan(p->cpu_s) ? 0 : p->cpu_s;
	}
	return sum;
}

/* In seconds; NAN: what its functions used is not known. */
static double used_by(const struct summary *s, size_t i)
{
	if (tools[i].option)
		return with_option(s, tools[i].commands, tools[i].option);
	if (tools[i].commands)
		return of_commands(s, tools[i].commands);
	return s->code && s->code->stacks ? stacks_matching(s->code->stacks, tools[i].functions)
					  : NAN;
}

/* The one with most. Of stacks their share counts: a few samples prove nothing. */
void summary_tools_make(struct summary *s)
{
	s->tool_ratio = s->tool_least = NAN;
	s->tool = s->tool_advice = NULL;
	for (size_t i = 0; s->cpu_s > 0 && i < sizeof tools / sizeof tools[0]; i++) {
		double used = used_by(s, i), ratio, least;

		if (isnan(used))
			continue;
		ratio = least = fmin(1, used / s->cpu_s);
		if (tools[i].functions) {
			ratio = used / s->code->account.whole_s;
			least = fmax(0, ratio - stacks_error(s->code->stacks, ratio));
		}
		if (!(ratio > 0) || s->tool_ratio >= ratio)
			continue;
		s->tool_ratio = ratio;
		s->tool_least = least;
		s->tool = tools[i].what;
		s->tool_advice = tools[i].advice;
	}
}
