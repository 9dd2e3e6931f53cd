/* SPDX-License-Identifier: Apache-2.0 */
/* Where time went in code: the tree, rows, kinds of code, what is folded, and shares over time. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#include "core/stacks/hot.h"
#include "core/stacks/stacks.h"
#include "core/stacks/symbol.h"
#include "made_stacks.h"
#include "recording/join.h"
#include "unit/recording_truth.h"

static char *directory(int *fd)
{
	static char name[64];

	snprintf(name, sizeof name, "sonde_stacks_XXXXXX");
	assert_non_null(mkdtemp(name));
	*fd = open(name, O_RDONLY | O_DIRECTORY);
	return name;
}

static const char rules[] =
	"class: mpi\nlabel: MPI\nclaims: all\nsymbols: MPI_*\nmodules: libmpi.so*\n"
	"class: openmp\nlabel: OpenMP wait\nclaims: system\nmodules: libgomp.so*\n"
	"class: spins\nlabel: spinning\nclaims: nothing\nsymbols: wait_for_*\n"
	"class: copies\nlabel: memory copies\nsymbols: memcpy* __memmove_*\n"
	"class: sorting\nlabel: sorting\nsymbols: qsort\n"
	"class: rest\nlabel: the rest\nmodules: libc.so*\n";

static struct classes classes_made(void)
{
	struct classes c = { 0 };
	struct err e = { "" };

	if (classes_add(&c, "test.classes", rules, strlen(rules), &e))
		fail_msg("%s", e.text);
	return c;
}

static const struct stacks_row *row_of(const struct stacks *s, enum stacks_by by, const char *name)
{
	for (uint32_t i = 0; i < s->rows[by].n; i++)
		if (!strcmp(s->rows[by].row[i].name, name))
			return &s->rows[by].row[i];
	fail_msg("no row %s by %s", name, stacks_by_names[by]);
	return NULL;
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-6;
}

/* The program's seconds: main 1, f 2 (3 lines), its inlined g 4, r 8 (recursion three deep). */
struct program {
	uint32_t libc, app, main_f, f, g, r;
	uint32_t main_n, f_n, g_n, r_n;
};

static struct program program_make(struct made_stacks *m)
{
	struct program p;
	uint32_t node;

	p.app = made_module(m, "/opt/x/app");
	p.libc = made_module(m, "/lib/libc.so.6");
	p.main_f = made_frame(m, p.app, "main", "main.c", 5);
	p.f = made_frame(m, p.app, "f", "f.c", 11);
	p.r = made_frame(m, p.app, "r(int)", "r.cc", 40);
	made_check(sample_frame(&m->s, &(struct frame_row){ ++m->frames, p.app, p.f, 7, 0,
							    0x1000 + 11, "g", "g.h" }));
	p.g = m->frames;
	p.main_n = made_stack(m, 0, p.main_f);
	p.f_n = made_stack(m, p.main_n, p.f);
	p.g_n = made_stack(m, p.main_n, p.g);
	node = made_stack(m, p.main_n, p.r);
	node = made_stack(m, node, p.r);
	p.r_n = made_stack(m, node, p.r);
	return p;
}

static void program_run(struct made_stacks *m, const struct program *p)
{
	const struct event_item items[] = {
		{ 7, p->main_n, 100 }, { 7, p->f_n, 200 }, { 8, p->g_n, 400 }, { 8, p->r_n, 800 }
	};

	for (size_t i = 0; i < sizeof items / sizeof items[0]; i++)
		made_samples(m, 0, "app", items[i]);
	made_write(m);
}

static struct run *run_of(const char *dir)
{
	struct err e = { "" };
	struct run *r;

	if (run_open(&r, dir, &e))
		fail_msg("%s", e.text);
	return r;
}

static struct stacks *stacks_of(struct run *r, const struct classes *c,
				const struct stacks_selection *sel)
{
	struct err e = { "" };
	struct stacks *s;

	if (stacks_open(&s, r, c, sel, &e))
		fail_msg("%s", e.text);
	return s;
}

static uint32_t flagged(struct made_stacks *m, uint32_t flags)
{
	made_check(sample_frame(&m->s, &(struct frame_row){ .id = ++m->frames, .flags = flags }));
	return m->frames;
}

/* Some lack their beginning, some only calls between the first and the last; one lacks both. */
static void test_stacks_that_are_not_whole_are_counted_once(void **state)
{
	struct classes c = classes_made();
	struct made_stacks m;
	struct program p;
	struct stacks *s;
	struct run *r;
	uint32_t other, lost, node[3];
	int fd;
	char *dir = directory(&fd);

	(void)state;
	made_stacks_open(&m, fd, "a");
	p = program_make(&m);
	other = flagged(&m, FRAME_OTHER);
	lost = flagged(&m, FRAME_LOST_WAY);
	node[0] = made_stack(&m, made_stack(&m, p.main_n, other), p.f);
	node[1] = made_stack(&m, made_stack(&m, 0, other), p.f);
	node[2] = made_stack(&m, made_stack(&m, made_stack(&m, 0, lost), other), p.f);
	for (int i = 0; i < 3; i++)
		made_samples(&m, 0, "app", (struct event_item){ 7, node[i], 100 });
	program_run(&m, &p);
	made_stacks_close(&m);
	r = run_of(dir);
	s = stacks_of(r, &c, &(struct stacks_selection){ 0 });
	assert_true(near(s->total, 18) && near(s->cut, 3));
	assert_true(near(row_of(s, STACKS_BY_FUNCTION, "main")->total, 16));
	assert_true(near(row_of(s, STACKS_BY_FUNCTION, "f")->self, 5));
	assert_true(near(row_of(s, STACKS_BY_FUNCTION, "(other stacks)")->total, 3));
	stacks_close(s);
	run_close(r);
	classes_free(&c);
	close(fd);
	directory_remove(dir);
}

static void test_self_and_total_are_what_was_put_in(void **state)
{
	struct classes c = classes_made();
	struct made_stacks m;
	struct program p;
	struct stacks *s;
	struct run *r;
	int fd;
	char *dir = directory(&fd);

	(void)state;
	made_stacks_open(&m, fd, "a");
	p = program_make(&m);
	program_run(&m, &p);
	made_stacks_close(&m);
	r = run_of(dir);
	s = stacks_of(r, &c, &(struct stacks_selection){ 0 });
	assert_true(near(s->total, 15) && near(s->samples, 1500) && near(s->cut, 0));
	assert_true(near(s->nodes[0].total, 15));
	assert_true(near(row_of(s, STACKS_BY_FUNCTION, "main")->self, 1));
	assert_true(near(row_of(s, STACKS_BY_FUNCTION, "main")->total, 15));
	assert_true(near(row_of(s, STACKS_BY_FUNCTION, "f")->self, 2));
	assert_true(near(row_of(s, STACKS_BY_FUNCTION, "f")->total, 6)); /* g is in it */
	assert_true(near(row_of(s, STACKS_BY_FUNCTION, "g")->self, 4));
	assert_true(near(row_of(s, STACKS_BY_FUNCTION, "r")->self, 8));
	assert_true(near(row_of(s, STACKS_BY_FUNCTION, "r")->total, 8)); /* once a stack */
	assert_string_equal(s->rows[STACKS_BY_FUNCTION].row[0].name, "r");
	assert_string_equal(s->rows[STACKS_BY_FUNCTION].row[0].file, "r.cc");
	assert_int_equal(s->rows[STACKS_BY_FUNCTION].row[0].line, 40);
	assert_string_equal(s->rows[STACKS_BY_FUNCTION].row[0].command, "app");
	assert_true(near(row_of(s, STACKS_BY_MODULE, "/opt/x/app")->total, 15));
	assert_true(near(row_of(s, STACKS_BY_CLASS, "own code")->self, 15));
	assert_true(near(row_of(s, STACKS_BY_COMMAND, "app")->self, 15));
	assert_int_equal(s->rows[STACKS_BY_THREAD].n, 2);
	assert_int_equal(s->rows[STACKS_BY_THREAD].row[0].tid, 8);
	assert_int_equal(s->rows[STACKS_BY_LINE].n, 4);
	assert_true(near(stacks_error(s, 0.5), 1.96 * sqrt(0.25 / 1500)));
	assert_true(near(stacks_error(s, 0), 1.0 / 1500));
	for (uint32_t i = 1; i < s->nnodes; i++)
		assert_true(s->nodes[i].parent < i);
	stacks_close(s);
	run_close(r);
	classes_free(&c);
	close(fd);
	directory_remove(dir);
}

/* main calls load, which calls the C library, and solve; an interpreter calls what it runs. */
static void hot_program(struct made_stacks *m)
{
	uint32_t app = made_module(m, "/opt/x/app"), libc = made_module(m, "/usr/lib/libc.so.6");
	uint32_t python = made_module(m, "/usr/lib/libpython3.so");
	uint32_t root = made_stack(m, 0, made_frame(m, app, "main", "main.c", 7));
	uint32_t load = made_stack(m, root, made_frame(m, app, "load", "load.c", 41));
	uint32_t again = made_stack(m, root, made_frame(m, app, "load", "load.c", 44));
	uint32_t length = made_frame(m, libc, "strlen", "", 0);
	uint32_t lines[] = { made_stack(m, load, length), made_stack(m, again, length),
			     made_stack(m, root, made_frame(m, app, "solve", "solve.c", 3)) };
	uint32_t loop = made_stack(m, 0, made_frame(m, python, "_PyEval_EvalFrameDefault", "", 0));
	uint32_t glue = made_stack(m, loop, made_frame(m, python, "PyObject_Vectorcall", "", 0));
	uint32_t in = made_stack(m, glue, made_frame(m, python, "list_contains", "", 0));

	in = made_stack(m, in, made_frame(m, libc, "memcmp", "", 0));
	made_samples(m, 0, "app", (struct event_item){ 7, lines[0], 500 });
	made_samples(m, 0, "app", (struct event_item){ 7, lines[1], 100 });
	made_samples(m, 0, "app", (struct event_item){ 7, lines[2], 200 });
	made_samples(m, 0, "python3", (struct event_item){ 8, in, 60 });
	made_samples(m, 0, "python3", (struct event_item){ 8, loop, 40 });
	made_write(m);
}

/* Nearly all of it in a function of a library whose callers are mostly not known, a little below a
 * function of the interpreter with a name that is another one's. */
static void library_program(struct made_stacks *m)
{
	uint32_t python = made_module(m, "/usr/bin/python3.11"),
		 numpy = made_module(m, "/x/umath.so");
	uint32_t product = made_frame(m, numpy, "LONG_matmul", "", 0);
	uint32_t loop = made_stack(m, 0, made_frame(m, python, "_PyEval_EvalFrameDefault", "", 0));
	uint32_t in = made_stack(m, loop, made_frame(m, python, "PySlice_New", "", 0));

	made_samples(m, 0, "python3", (struct event_item){ 7, made_stack(m, 0, product), 90 });
	made_samples(m, 0, "python3", (struct event_item){ 7, made_stack(m, in, product), 5 });
	made_samples(m, 0, "python3", (struct event_item){ 7, loop, 5 });
	made_write(m);
}

static void test_what_python_calls_is_where_nearly_all_is(void **state)
{
	struct classes c = classes_made();
	struct made_stacks m;
	struct hot_place called;
	struct stacks *s;
	struct run *r;
	int fd;
	char *dir = directory(&fd);

	(void)state;
	made_stacks_open(&m, fd, "a");
	library_program(&m);
	made_stacks_close(&m);
	r = run_of(dir);
	s = stacks_of(r, &c, &(struct stacks_selection){ 0 });
	assert_int_equal(hot_python_calls(&called, s), 0);
	assert_string_equal(called.function->name, "LONG_matmul");
	assert_true(near(called.seconds, 0.95));
	stacks_close(s);
	run_close(r);
	classes_free(&c);
	close(fd);
	directory_remove(dir);
}

static void test_time_belongs_to_the_programs_own_code(void **state)
{
	struct classes c = classes_made();
	struct made_stacks m;
	struct hot_place called;
	struct hot_rest rest;
	struct stacks *s;
	struct run *r;
	struct hot h;
	int fd;
	char *dir = directory(&fd);

	(void)state;
	made_stacks_open(&m, fd, "a");
	hot_program(&m);
	made_stacks_close(&m);
	r = run_of(dir);
	s = stacks_of(r, &c, &(struct stacks_selection){ 0 });
	assert_int_equal(hot_make(&h, s), 0);
	assert_string_equal(h.place.function->name, "load");
	assert_true(h.own && near(h.place.seconds, 6) && h.place.line == 41 && near(h.line_s, 5));
	assert_string_equal(h.calls.function->name, "strlen");
	assert_string_equal(h.by.function->name, "main");
	assert_true(near(h.calls.seconds, 6) && h.by.line == 7);
	assert_int_equal(hot_python_calls(&called, s), 0);
	assert_string_equal(called.function->name, "list_contains");
	assert_true(near(called.seconds, 0.6));
	assert_int_equal(hot_rest_find(&rest, s, 0), 0);
	assert_true(rest.n == 2 && near(rest.seconds, 9));
	assert_string_equal(rest.part[0].function->name, "load");
	assert_string_equal(rest.calls[0].function->name, "strlen");
	assert_string_equal(rest.part[1].function->name, "solve");
	assert_true(rest.part[1].line == 3 && near(rest.part[1].seconds, 2));
	assert_int_equal(hot_rest_find(&rest, s, classes_find(&c, "rest")), 0);
	assert_true(rest.n == 1 && near(rest.seconds, 2.4)); /* without strlen and memcmp */
	assert_string_equal(rest.part[0].function->name, "solve");
	stacks_close(s);
	run_close(r);
	classes_free(&c);
	close(fd);
	directory_remove(dir);
}

static void test_a_selection_is_a_part(void **state)
{
	struct classes c = { 0 }; /* no file was read: own code and unknown */
	struct made_stacks m;
	struct program p;
	struct stacks *s;
	struct run *r;
	int fd;
	char *dir = directory(&fd);

	(void)state;
	for (int node = 0; node < 2; node++) {
		made_stacks_open(&m, fd, node ? "b" : "a");
		p = program_make(&m);
		made_write(&m);
		program_run(&m, &p);
		program_run(&m, &p);
		made_samples(&m, 0, "other", (struct event_item){ 9, p.main_n, 50 });
		made_write(&m);
		made_stacks_close(&m);
	}
	r = run_of(dir);
	s = stacks_of(r, &c, &(struct stacks_selection){ 0 });
	assert_true(near(s->total, 61) && s->rows[STACKS_BY_NODE].n == 2);
	stacks_close(s);
	s = stacks_of(r, &c, &(struct stacks_selection){ .node = 1 });
	assert_true(near(s->total, 30.5));
	stacks_close(s);
	s = stacks_of(r, &c, &(struct stacks_selection){ .command = "other" });
	assert_true(near(s->total, 1));
	stacks_close(s);
	s = stacks_of(r, &c, &(struct stacks_selection){ .tid = 8 });
	assert_true(near(s->total, 48));
	stacks_close(s);
	s = stacks_of(r, &c, &(struct stacks_selection){ .from_s = 0.5, .to_s = 1.25 });
	assert_true(near(s->total, 2 * (7.5 + 3.75)));
	stacks_close(s);
	s = stacks_of(r, &c, &(struct stacks_selection){ .kind = SAMPLE_FAULTS });
	assert_true(near(s->total, 0) && s->rows[STACKS_BY_FUNCTION].n == 0);
	assert_true(near(stacks_error(s, 0.1), 1));
	stacks_close(s);
	run_close(r);
	close(fd);
	directory_remove(dir);
}

/* A stack as a line "function@module > function@module", outermost first. */
static uint32_t stack_of(struct made_stacks *m, const char *line)
{
	char text[400], *save, *at;
	uint32_t node = 0;

	snprintf(text, sizeof text, "%s", line);
	for (at = strtok_r(text, " >", &save); at; at = strtok_r(NULL, " >", &save)) {
		char *module = strchr(at, '@');

		*module++ = '\0';
		node = made_stack(m, node,
				  made_frame(m, *module ? made_module(m, module) : 0,
					     *at == '?' ? "" : at, "", 0));
	}
	return node;
}

static void test_what_a_stack_counts_for(void **state)
{
	static const struct {
		const char *stack, *label;
	} cases[] = {
		{ "main@app > f@app", "own code" },
		{ "main@app > memcpy@libc.so.6", "memory copies" },
		{ "main@app > wait_for_data@app", "spinning" },
		{ "main@app > wait_for_data@app > work@app", "own code" },
		{ "main@app > MPI_Send@libmpi.so.40 > wait_for_data@app", "MPI" },
		{ "main@app > MPI_Send@libmpi.so.40 > memcpy@libc.so.6", "MPI" },
		{ "main@app > MPI_Send@app > pack@app > memcpy@app", "MPI" },
		{ "clone3@libc.so.6 > start_thread@libc.so.6 > w@libgomp.so.1 > loop._omp_fn.0@app",
		  "own code" },
		{ "clone3@libc.so.6 > start_thread@libc.so.6 > w@libgomp.so.1 > sched_yield@libc.so.6",
		  "OpenMP wait" },
		{ "w@libgomp.so.1 > loop._omp_fn.0@app > memcpy@libc.so.6", "memory copies" },
		{ "main@app > qsort@libc.so.6 > msort_with_tmp@libc.so.6", "sorting" },
		{ "main@app > qsort@libc.so.6 > compare@app", "own code" },
		{ "main@app > qsort@libc.so.6 > memcpy@libc.so.6", "memory copies" },
		{ "__libc_start_main@libc.so.6 > main@app", "own code" },
		{ "main@app > getenv@libc.so.6", "the rest" },
		{ "main@app > ?@stripped.so", "own code" },
		{ "main@app > ?@", "unknown" },
		{ "main@app > __memmove_avx_unaligned_erms.part.0@libc.so.6", "memory copies" },
	};
	struct classes c = classes_made();

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct made_stacks m;
		struct stacks *s;
		struct run *r;
		int fd;
		char *dir = directory(&fd);

		made_stacks_open(&m, fd, "a");
		made_samples(&m, 0, "app",
			     (struct event_item){ 1, stack_of(&m, cases[i].stack), 9 });
		made_write(&m);
		made_stacks_close(&m);
		r = run_of(dir);
		s = stacks_of(r, &c, &(struct stacks_selection){ 0 });
		if (s->rows[STACKS_BY_CLASS].n != 1 ||
		    strcmp(s->rows[STACKS_BY_CLASS].row[0].name, cases[i].label) != 0)
			fail_msg("%s: %s", cases[i].stack, s->rows[STACKS_BY_CLASS].row[0].name);
		stacks_close(s);
		run_close(r);
		close(fd);
		directory_remove(dir);
	}
	classes_free(&c);
}

static void check_fold(const struct stacks *s, const struct stacks_fold *f, uint32_t most)
{
	double self = 0;

	assert_true(f->n <= most && near(f->nodes[0].total, s->total));
	for (uint32_t i = f->n; i-- > 0;) {
		assert_true(!i || f->nodes[i].parent < i);
		self += f->nodes[i].self;
	}
	assert_true(near(self, s->total));
	for (uint32_t i = 0; i < s->nnodes; i++)
		assert_true(f->place[i] < f->n);
}

static void check_cells(struct stacks *s, const struct stacks_fold *f, struct stacks_axis axis)
{
	struct stacks_cells c;
	double sum = 0;

	assert_int_equal(stacks_cells_make(&c, s, f, &axis, NULL), 0);
	assert_true(c.buckets <= axis.buckets && (c.n <= axis.most || c.buckets == 1));
	for (uint32_t i = 0; i < c.n; i++) {
		assert_true(c.cell[i].group < c.ngroups && c.cell[i].bucket < c.buckets);
		assert_true(axis.by_class || c.cell[i].place < f->n);
		sum += (double)c.cell[i].value;
	}
	assert_true(fabs(sum - s->total) < 1e-4 * s->total);
	stacks_cells_free(&c);
}

/* 300 functions of random weights, over 20 seconds, of three commands. */
static void test_what_is_folded_is_exact_in_sum(void **state)
{
	struct classes c = classes_made();
	struct made_stacks m;
	struct stacks_fold f;
	struct stacks *s;
	struct run *r;
	int fd;
	char *dir = directory(&fd);
	uint32_t module, seed = 1;

	(void)state;
	made_stacks_open(&m, fd, "a");
	module = made_module(&m, "/bin/app");
	for (int i = 0; i < 300; i++) {
		char name[16];
		uint32_t parent =
			i ? 1 + (seed = seed * 1103515245 + 12345) / 65536 % (unsigned)i : 0;

		snprintf(name, sizeof name, "f%d", i);
		made_stack(&m, parent, made_frame(&m, module, name, "f.c", (unsigned)i));
	}
	for (int t = 0; t < 20; t++) {
		static const char *const commands[] = { "a", "b", "c" };

		for (int i = 0; i < 100; i++) {
			seed = seed * 1103515245 + 12345;
			made_samples(&m, 0, commands[i % 3],
				     (struct event_item){ 1, 1 + seed / 65536 % 300,
							  1 + (unsigned)i % 7 });
		}
		made_write(&m);
	}
	made_stacks_close(&m);
	r = run_of(dir);
	s = stacks_of(r, &c, &(struct stacks_selection){ 0 });
	for (uint32_t most = 2; most <= 1024; most *= 2) {
		assert_int_equal(stacks_fold_make(&f, s, most), 0);
		check_fold(s, &f, most);
		for (int group = STACKS_ALL; group <= STACKS_PER_COMMAND; group++)
			check_cells(s, &f,
				    (struct stacks_axis){ 0, 20, 200, (enum stacks_group)group, 2,
							  500, false, false, NULL });
		check_cells(s, &f,
			    (struct stacks_axis){ 0, 20, 200, STACKS_PER_COMMAND, 9, 100000, true,
						  false, NULL });
		stacks_fold_free(&f);
	}
	stacks_close(s);
	run_close(r);
	classes_free(&c);
	close(fd);
	directory_remove(dir);
}

static void test_faults_of_classes_are_named(void **state)
{
	static const char *const cases[][2] = {
		{ "label: x\n", "f:1:1" },
		{ "class: a\nsymbols: b\n", "f:1:1: class a has no 'label:'" },
		{ "class: a\nlabel: b\n", "f:1:1: class a has neither" },
		{ "class: A\n", "f:1:1: a class's name" },
		{ "class: own\n", "there is a class own already" },
		{ "class: a\nlabel: b\nmodules: c\nclass: a\n",
		  "f:4:1: there is a class a already" },
		{ "class: a\nlabel: b\nsymbols: c\n  d *\n",
		  "f:4:5: symbols: a pattern that says nothing" },
		{ "class: a\nlabel: b\nsymbols: @c\n", "f:3:10: symbols: a pattern" },
		{ "class: a\nlabel: b\nclaims: some\n", "f:3:9: claims:" },
		{ "class: a\nlabel: b\nlabel: c\n", "f:3:1" },
		{ "class: a\nwhat: b\n", "f:2:1: 'what' is not a key; see docs/classes.md" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct classes c = { 0 };
		struct err e = { "" };

		assert_int_equal(classes_add(&c, "f", cases[i][0], strlen(cases[i][0]), &e),
				 -EINVAL);
		if (!strstr(e.text, cases[i][1]))
			fail_msg("%s: %s", cases[i][0], e.text);
		classes_free(&c);
	}
}

static void test_a_sites_classes_come_first(void **state)
{
	static const char site[] = "class: ours\nlabel: ours\nsymbols: memcpy solver_*\n"
				   "class: sorting\nlabel: our sorts\nsymbols: our_sort\n";
	struct classes c = classes_made();
	bool named;

	(void)state;
	assert_int_equal(classes_match(&c, "memcpy", "/lib/libc.so.6", &named),
			 classes_find(&c, "copies"));
	assert_int_equal(classes_match(&c, "x", "/usr/lib/libmpi.so.40", &named),
			 classes_find(&c, "mpi"));
	assert_int_equal(classes_add(&c, "site", site, strlen(site), NULL), 0);
	assert_int_equal(classes_match(&c, "memcpy", "/lib/libc.so.6", &named),
			 classes_find(&c, "ours"));
	assert_int_equal(classes_match(&c, "solver_x", "", &named), classes_find(&c, "ours"));
	assert_int_equal(classes_match(&c, "qsort", "", &named), 0);
	assert_string_equal(classes_label(&c, classes_match(&c, "our_sort", "", &named)),
			    "our sorts");
	assert_string_equal(classes_label(&c, CLASS_OWN), "own code");
	assert_string_equal(classes_name(&c, CLASS_UNKNOWN), "unknown");
	classes_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stacks_that_are_not_whole_are_counted_once),
		cmocka_unit_test(test_self_and_total_are_what_was_put_in),
		cmocka_unit_test(test_time_belongs_to_the_programs_own_code),
		cmocka_unit_test(test_what_python_calls_is_where_nearly_all_is),
		cmocka_unit_test(test_a_selection_is_a_part),
		cmocka_unit_test(test_what_a_stack_counts_for),
		cmocka_unit_test(test_what_is_folded_is_exact_in_sum),
		cmocka_unit_test(test_faults_of_classes_are_named),
		cmocka_unit_test(test_a_sites_classes_come_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
