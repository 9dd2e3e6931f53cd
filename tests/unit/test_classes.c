/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in classes: which class has functions as they are really called, and which must be left
 * to the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/summary/code.h"
#include "report/summary/summary.h"

#define LIB "/usr/lib/x86_64-linux-gnu/"

static const struct {
	const char *class, *function, *module;
} cases[] = {
	{ "mpi", "PMPI_Allreduce", LIB "libmpi.so.40" },
	{ "mpi", "mca_btl_vader_component_progress", LIB "openmpi/lib/openmpi3/mca_btl_vader.so" },
	{ "mpi", "opal_progress", LIB "libopen-pal.so.40" },
	{ "mpi", "MPIDI_CH3I_Progress", LIB "libmpich.so.12" },
	{ "mpi", "", LIB "libmpich.so.12" },
	{ "mpi", "uct_mm_iface_progress", "/usr/lib/libuct.so.0" },
	{ "mpi", "MPI_Send", "/opt/x/static" },
	{ "mpi", "mpi_allreduce_", "/opt/x/static" },
	{ "openmp-wait", "gomp_team_barrier_wait_end", LIB "libgomp.so.1" },
	{ "openmp-wait", "", LIB "libgomp.so.1" },
	{ "openmp-wait",
	  "__kmp_hyper_barrier_release(barrier_type, kmp_info*, int, int, int, void*)",
	  LIB "libomp.so.5" },
	{ "openmp-wait", "kmp_flag_64<false, true>::wait(kmp_info*, int, void*)",
	  "/opt/intel/libiomp5.so" },
	{ "task-scheduler", "runtime.findRunnable", "/opt/x/gobin" },
	{ "task-scheduler", "tbb::detail::r1::task_dispatcher::receive_or_steal_task",
	  LIB "libtbb.so.12" },
	{ "gpu", "cuStreamSynchronize", LIB "libcuda.so.535.1" },
	{ "compression", "inflate_fast", LIB "libz.so.1.2.13" },
	{ "compression", "longest_match", "/usr/bin/git" },
	{ "compression", "ZSTD_compressBlock_doubleFast", LIB "libzstd.so.1.5.4" },
	{ "compression", "", "/usr/bin/pigz" },
	{ "compression", "LZ4_decompress_safe", "/opt/x/a" },
	{ "compression",
	  "snappy::internal::CompressFragment(char const*, unsigned long, char*, unsigned short*, int)",
	  "/opt/x/a" },
	{ "compression", "BrotliDecoderDecompressStream", LIB "libbrotlidec.so.1" },
	{ "compression", "compress/flate.(*compressor).deflate", "/opt/x/gobin" },
	{ "compression", "miniz_oxide::inflate::core::decompress::h0123456789abcdef",
	  "/opt/x/rust" },
	{ "cryptography", "sha256_block_data_order_avx2", LIB "libcrypto.so.3" },
	{ "cryptography", "crypto/sha256.blockAvx2", "/opt/x/gobin" },
	{ "linear-algebra", "dgemm_kernel_HASWELL", LIB "openblas-pthread/libopenblas.so.0" },
	{ "linear-algebra", "dgemm_", "/opt/x/static" },
	{ "linear-algebra", "mkl_blas_avx512_dgemm_kernel_0", "/opt/intel/libmkl_avx512.so.2" },
	{ "linear-algebra", "bli_dgemm_haswell_asm_6x8", LIB "libblis.so.4" },
	{ "linear-algebra", "", "/venv/numpy.libs/libscipy_openblas64_-ff651d7f.so" },
	{ "linear-algebra", "fftw_execute_dft", LIB "libfftw3.so.3" },
	{ "data-formats", "H5D__chunk_read", LIB "libhdf5_serial.so.103" },
	{ "data-formats", "sqlite3VdbeExec", LIB "libsqlite3.so.0" },
	{ "data-formats", "nc_put_vara_double", "/opt/x/a" },
	{ "parsing", "xmlParseStartTag2", LIB "libxml2.so.2" },
	{ "media", "jsimd_idct_islow_avx2", LIB "libjpeg.so.62" },
	{ "garbage-collection", "gc_collect_main", "/usr/bin/python3.11" },
	{ "garbage-collection", "runtime.scanobject", "/opt/x/gobin" },
	{ "garbage-collection", "G1ParScanThreadState::trim_queue_to_threshold(unsigned int)",
	  "/usr/lib/jvm/lib/server/libjvm.so" },
	{ "garbage-collection", "v8::internal::MarkCompactCollector::CollectGarbage()",
	  "/usr/bin/node" },
	{ "exceptions", "_Unwind_RaiseException", LIB "libgcc_s.so.1" },
	{ "exceptions", "__cxa_throw", LIB "libstdc++.so.6" },
	{ "exceptions",
	  "java_lang_Throwable::fill_in_stack_trace(Handle, methodHandle const&, JavaThread*)",
	  "/usr/lib/jvm/lib/server/libjvm.so" },
	{ "exceptions",
	  "v8::internal::Isolate::CaptureAndSetErrorStack(v8::internal::Handle<v8::internal::JSObject>, v8::internal::FrameSkipMode)",
	  "/usr/bin/node" },
	{ "exceptions", "PyErr_SetString", "/usr/bin/python3.11" },
	{ "python", "PyErr_Occurred", "/usr/bin/python3.11" },
	{ "program-start", "do_lookup_x", LIB "ld-linux-x86-64.so.2" },
	{ "program-start", "_dl_relocate_object", "/lib64/ld-2.31.so" },
	{ "allocation", "_int_malloc", LIB "libc.so.6" },
	{ "allocation", "cfree@GLIBC_2.2.5", LIB "libc.so.6" },
	{ "allocation", "operator new(unsigned long)", LIB "libstdc++.so.6" },
	{ "allocation", "je_malloc_default", "/opt/x/a" },
	{ "allocation", "", LIB "libjemalloc.so.2" },
	{ "allocation", "_PyObject_Malloc", "/usr/bin/python3.11" },
	{ "allocation", "runtime.mallocgc", "/opt/x/gobin" },
	{ "allocation", "__rust_alloc", "/opt/x/rust" },
	{ "allocation", "__rustc::__rust_alloc", "/opt/x/rust" },
	{ "copies", "__memmove_avx_unaligned_erms", LIB "libc.so.6" },
	{ "copies", "__memset_avx2_erms", LIB "libc.so.6" },
	{ "copies", "runtime.memmove", "/opt/x/gobin" },
	{ "copies", "_gfortran_internal_pack", LIB "libgfortran.so.5" },
	{ "copies", "__intel_avx_rep_memcpy", "/opt/intel/libintlc.so.5" },
	{ "sorting", "msort_with_tmp.part.0", LIB "libc.so.6" },
	{ "sorting", "void std::__introsort_loop<double*, long>(double*, double*, long)",
	  "/opt/x/a" },
	{ "sorting", "sort.Slice", "/opt/x/gobin" },
	{ "sorting", "list_sort_impl", "/usr/bin/python3.11" },
	{ "exceptions", "java_lang_Throwable::fill_in_stack_trace", LIB "libjvm.so" },
	{ "exceptions", "v8::internal::Isolate::ThrowInternal", "/usr/bin/node" },
	{ "parsing", "v8::internal::JsonParser<unsigned short>::ParseJsonValue", "/usr/bin/node" },
	{ "tools", "tracemalloc_get_frame", "/usr/bin/python3.11" },
	{ "tools", "traceback_get_frames", "/usr/bin/python3.11" },
	{ "tools", "trace_trampoline", LIB "libpython3.11.so.1.0" },
	{ "tools", "__asan_memcpy", "/opt/x/app" },
	{ "tools", "__gcov_indirect_call_profiler_v4", "/opt/x/app" },
	{ "tools", "JvmtiExport::post_method_entry", LIB "libjvm.so" },
	{ "pattern-compilation", "regcomp", LIB "libc.so.6" },
	{ "pattern-compilation", "regexp/syntax.(*compiler).inst", "/opt/x/gobin" },
	{ "pattern-compilation", "regexp.MustCompile", "/opt/x/gobin" },
	{ "regular-expressions", "regexec", LIB "libc.so.6" },
	{ "regular-expressions", "sre_ucs1_match", "/usr/bin/python3.11" },
	{ "regular-expressions", "Builtins_RegExpPrototypeTest", "/usr/bin/node" },
	{ "regular-expressions", "regexp.(*Regexp).backtrack", "/opt/x/gobin" },
	{ "regular-expressions", "", LIB "libpcre2-8.so.0" },
	{ "regular-expressions", "regexp.(*Regexp).MatchString", "/opt/x/gobin" },
	{ "pattern-compilation", "regexp/syntax.(*parser).push", "/opt/x/gobin" },
	{ "regular-expressions", "regexp/syntax.(*Inst).MatchRunePos", "/opt/x/gobin" },
	{ "pattern-compilation",
	  "std::__detail::_Compiler<std::__cxx11::regex_traits<char> >::_M_term()", "/opt/x/a" },
	{ "pattern-compilation", "Perl_re_op_compile", "/usr/bin/perl" },
	{ "tools", "tracemalloc_get_frame", "/usr/lib/libpython3.11.so.1.0" },
	{ "tools", "__asan_memcpy", LIB "libasan.so.8" },
	{ "strings", "__strlen_avx2", LIB "libc.so.6" },
	{ "strings", "____strtod_l_internal", LIB "libc.so.6" },
	{ "strings", "__vfprintf_internal", LIB "libc.so.6" },
	{ "strings",
	  "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_append(char const*, unsigned long)",
	  LIB "libstdc++.so.6" },
	{ "strings", "strconv.ParseFloat", "/opt/x/gobin" },
	{ "random-numbers", "__random_r", LIB "libc.so.6" },
	{ "random-numbers", "std::mersenne_twister_engine<unsigned long, 64ul>::operator()()",
	  "/opt/x/a" },
	{ "random-numbers", "", "/venv/lib/numpy/random/_mt19937.cpython-311-x86_64-linux-gnu.so" },
	{ "math", "__exp_fma", LIB "libm.so.6" },
	{ "math", "", LIB "libm.so.6" },
	{ "math", "__svml_exp4_l9", "/opt/x/static" },
	{ "locks", "pthread_mutex_lock@@GLIBC_2.2.5", LIB "libc.so.6" },
	{ "locks", "__lll_lock_wait", LIB "libc.so.6" },
	{ "locks", "runtime.lock2", "/opt/x/gobin" },
	{ "locks", "take_gil", "/usr/bin/python3.11" },
	{ "locks", "my_spin_lock", "/opt/x/a" },
	{ "spinning", "wait_for_data", "/opt/x/a" },
	{ "spinning", "Ring::waitForTurn(int)", "/opt/x/a" },
	{ "spinning", "main.waitForResult", "/opt/x/a" },
	{ "spinning", "pool_take_lock(Pool&)", "/opt/x/a" },
	{ "locks", "std::condition_variable::wait_for", "/opt/x/a" },
	{ "io", "__GI___libc_read", LIB "libc.so.6" },
	{ "io", "_IO_file_xsgetn", LIB "libc.so.6" },
	{ "io", "syscall.Syscall", "/opt/x/gobin" },
	{ "io", "_gfortran_st_write", LIB "libgfortran.so.5" },
	{ "clock", "clock_gettime", "[vdso]" },
	{ "clock", "", "[vdso]" },
	{ "array-libraries", "DOUBLE_add_AVX2",
	  "/venv/numpy/core/_multiarray_umath.cpython-311-x86_64-linux-gnu.so" },
	{ "array-libraries", "at::native::add(at::Tensor&)", "/venv/torch/lib/libtorch_cpu.so" },
	{ "python", "_PyEval_EvalFrameDefault", "/usr/bin/python3.11" },
	{ "python", "dict_lookup", "/usr/bin/python3.8" },
	{ "python", "unicode_hash", "/usr/lib/libpython3.12.so.1.0" },
	{ "python", "py::work:/opt/x/w.py", "[jit]" },
	{ "jit", "LazyCompile:~sum /opt/x/a.js:3", "[jit]" },
	{ "jit", "Ljava/util/HashMap;::get", "/tmp/perf-17.map" },
	{ "interpreter", "Perl_pp_match", "/usr/bin/perl" },
	{ "interpreter", "", "/usr/bin/bash" },
	{ "interpreter", "JVM_DoPrivileged", "/usr/lib/jvm/lib/server/libjvm.so" },
	{ "interpreter", "bcEval", "/usr/lib/R/lib/libR.so" },
	{ "data-formats", "heap_getnextslot", "/usr/lib/postgresql/15/bin/postgres" },
	{ "data-formats", "", "/usr/sbin/mariadbd" },
	{ "system-libraries", "getenv", LIB "libc.so.6" },
	/* the program's own */
	{ "", "main", "/opt/x/a" },
	{ "", "call_tracer", "/opt/x/a" },
	{ "", "asan_thread_start", LIB "libasan.so.8" },
	{ "", "solve(double*, int)", "/opt/x/a" },
	{ "", "loop._omp_fn.0", "/opt/x/a" },
	{ "", "build_tree", "/opt/x/a" },
	{ "", "spin_flip", "/opt/x/ising" },
	{ "", "await", "/opt/x/a" },
	{ "", "link_cells", "/opt/x/a" },
	{ "", "evacuate_cells", "/opt/x/a" },
	{ "", "truncate_tensor(Tensor&)", "/opt/x/a" },
	{ "", "Matrix::multiply(Matrix const&)", "/opt/x/a" },
	{ "", "Function::evaluate(double)", "/opt/x/a" },
	{ "", "Stream::read(char*, int)", "/opt/x/a" },
	{ "", "main.(*Solver).step", "/opt/x/gobin" },
	{ "", "std::panicking::try::h0123456789abcdef", "/opt/x/rust" },
	{ "", "std::sys::backtrace::__rust_begin_short_backtrace", "/opt/x/rust" },
	{ "", "runtime.main", "/opt/x/gobin" },
	{ "", "runtime.goexit", "/opt/x/gobin" },
	{ "", "_start", "/opt/x/static" },
	{ "", "__libc_start_main", "/opt/x/static" },
	{ "", "start_thread", "/opt/x/static" },
	{ "", "gomp_thread_start", "/opt/x/static" },
	{ "", "__kmp_invoke_microtask", "/opt/x/static" },
	{ "", "__pyx_f_solver_step", "/venv/solver.cpython-311-x86_64-linux-gnu.so" },
	{ "", "", "/opt/x/liba.so" },
};

static void test_real_names_are_where_they_belong(void **state)
{
	struct classes c = { 0 };
	struct err e = { "" };
	bool named;

	(void)state;
	if (code_classes(&c, NULL, &e))
		fail_msg("%s", e.text);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		uint32_t class = classes_match(&c, cases[i].function, cases[i].module, &named);
		const char *name = class ? classes_name(&c, class) : "";

		if (strcmp(name, cases[i].class) != 0)
			print_error("%s @ %s: %s, not %s\n", cases[i].function, cases[i].module,
				    name, cases[i].class);
		e.text[0] |= strcmp(name, cases[i].class) != 0;
	}
	assert_true(!e.text[0]);
	classes_free(&c);
}

/* 8 s of user time, 5 s sampled: 150 processes of 10 ms, a long one with a bad guess of its user
 * time. */
static void test_parts_add_up_to_the_exact_time(void **state)
{
	const struct code_command commands[] = { { "long", 1, 7.5, 5 },
						 { "short", 150, 1.5, 0.2 } };
	struct code_account a = { .user_s = 8, .system_s = 2, .sampled_s = 5.2 };

	(void)state;
	code_account_make(&a, commands, 2, 0.01);
	assert_true(fabs(a.whole_s - 10) < 1e-9);
	assert_int_equal(a.nshort, 1);
	assert_string_equal(a.shorts[0].command, "short");
	assert_true(fabs(a.short_s - (1.5 * 0.8 - 0.2)) < 1e-9);
	assert_true(fabs(a.sampled_s + a.short_s + a.rest_s - a.user_s) < 1e-9);
	/* more was sampled than there was: the rest is below 0, and nothing was too short */
	a = (struct code_account){ .user_s = 5, .system_s = 0, .sampled_s = 5.2 };
	code_account_make(&a, commands, 2, 0.01);
	assert_true(a.short_s == 0 && fabs(a.rest_s + 0.2) < 1e-9);
	/* not known */
	a = (struct code_account){ .user_s = NAN, .system_s = NAN, .sampled_s = 5.2 };
	code_account_make(&a, commands, 2, 0.01);
	assert_true(isnan(a.rest_s) && a.short_s == 0 && fabs(a.whole_s - 5.2) < 1e-9);
}

static void test_commands_are_known_by_the_names_of_the_kernel(void **state)
{
	(void)state;
	assert_true(code_is_of("sort", "sort"));
	assert_true(code_is_of("python", "python train.py"));
	assert_true(code_is_of("a-program-with-", "a-program-with-a-long-name"));
	assert_true(code_is_of("a-program-with-", "a-program-with-a-long-name in.txt"));
	assert_false(code_is_of("pyth", "python train.py"));
	assert_false(code_is_of("python", "pythonic"));
	assert_false(code_is_of("worker", "python worker"));
}

static void test_commands_without_samples_did_something_else(void **state)
{
	struct stacks_row burn = { .command = "burn", .self = 2 };
	struct stacks st = { .rows[STACKS_BY_COMMAND] = { &burn, 1 }, .total = 2 };
	struct code code = { .stacks = &st };
	struct summary_command c[] = { { "awk", 1, 3, 0, 0, 0 }, { "burn", 1, 2.6, 0, 0, 0 } };
	struct summary s = { .cpu_s = 5.6, .commands = c, .ncommands = 2, .code = &code };

	(void)state;
	assert_true(code_sampled_s(&s) == 2.6);
	assert_ptr_equal(code_command(&s), &c[1]);
	burn.command = "gone";
	assert_true(isinf(code_sampled_s(&s)));
	assert_null(code_command(&s));
	st.rows[STACKS_BY_COMMAND].n = 0;
	assert_ptr_equal(code_command(&s), &c[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_real_names_are_where_they_belong),
		cmocka_unit_test(test_parts_add_up_to_the_exact_time),
		cmocka_unit_test(test_commands_without_samples_did_something_else),
		cmocka_unit_test(test_commands_are_known_by_the_names_of_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
