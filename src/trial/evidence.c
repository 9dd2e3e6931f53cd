/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/evidence.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/text/jsontree.h"
#include "core/glob.h"
#include "job/secret/secret.h"
#include "job/words.h"
#include "recording/join.h"
#include "report/comparison/blame.h"
#include "report/summary/past.h"
#include "trial/scripted.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is said of machine and software; what is another one each time is not of them. */
static const char facts_kept[] = "host.*,node.memory_bytes,node.cores_*,sonde.version";
static const char facts_left_out[] = "host.boot_id,host.cpu_hertz,host.*_evidence";

static void add_meta(struct bench_facts *f, const struct run_meta *m)
{
	char number[40];

	if (!glob_match(facts_kept, m->key) || glob_match(facts_left_out, m->key))
		return;
	if (m->type == META_REAL)
		snprintf(number, sizeof number, "%.12g", m->real);
	else if (m->type == META_BOOL)
		snprintf(number, sizeof number, "%s", m->value ? "true" : "false");
	else
		snprintf(number, sizeof number, "%" PRId64, m->value);
	if (m->type != META_TEXT)
		bench_facts_put(f, m->key, number);
	else if (m->text)
		bench_facts_put(f, m->key, m->text);
}

static void put_counters(struct bytes *b, const struct summary *s)
{
	struct json j = { .out = b };

	if (!s->ncounters)
		return;
	json_object(&j);
	for (uint32_t i = 0; i < s->ncounters; i++) {
		json_key(&j, s->counters[i].metric);
		json_real(&j, s->counters[i].value);
	}
	json_object_end(&j);
	bytes_u8(b, 0);
}

static const char *text_of(const struct run *r, const char *key)
{
	const char *text = r->nnodes ? run_find_text(r, r->nnodes - 1, key) : NULL;

	return text ? text : "";
}

/* The kernel counts them in ticks of 10 ms: of short trials nothing follows. */
static const double least_s = 0.2;
#define FREQUENCY "cpu.frequency_hertz"

/* Over all cores. */
static double mean_frequency(const struct summary *s)
{
	struct stats all = { 0 };

	for (uint32_t i = 0; i < s->nmetrics; i++)
		if (!strncmp(s->metrics[i].name, FREQUENCY "[", strlen(FREQUENCY "[")))
			stats_join(&all, &s->metrics[i].stats);
	return stats_mean(&all);
}

static double known_sum(double a, double b)
{
	return isnan(a) ? b : isnan(b) ? a : a + b;
}

static void take_noise(struct trial *t, const struct summary *s)
{
	double time = s->wall_s * s->cores_present;

	t->noise[NOISE_HEAT] =
		known_sum(summary_grown(s, "cpu.throttles"), summary_grown(s, "package.throttles"));
	t->noise[NOISE_FREQUENCY] = mean_frequency(s);
	if (!(s->wall_s >= least_s))
		return;
	t->noise[NOISE_OTHERS] = s->cpu_is_bound ? (double)NAN : summary_others_s(s) / time;
	t->noise[NOISE_WAITED] = s->account.whole_s > 0
					 ? s->account.part_s[ACCOUNT_OTHERS] / s->wall_s
					 : (double)NAN;
	t->noise[NOISE_STEAL] = summary_grown(s, "node.cpu_steal_seconds") / time;
	t->noise[NOISE_THROTTLED] = summary_grown(s, "cgroup.throttled_seconds") / s->wall_s;
}

static int take(struct evidence *v, struct trial *t, struct run *r, struct err *e)
{
	char absolute[PATH_MAX], wished[128];
	const struct summary_wish wish = { .compared = wished };
	struct summary s;
	int rc;

	snprintf(wished, sizeof wished, "%s," FREQUENCY, past_metrics);
	rc = summary_make_as(&s, r, &wish, e);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < r->nmetas; i++)
		add_meta(&v->facts, &r->metas[i]);
	snprintf(v->governor, sizeof v->governor, "%s", text_of(r, "host.cpu_governor"));
	snprintf(v->host, sizeof v->host, "%s", text_of(r, "node.host"));
	put_counters(&v->counters, &s);
	t->peak_memory_bytes = s.peak_memory_bytes;
	snprintf(v->memory_kind, sizeof v->memory_kind, "%s",
		 s.peak_memory_kind ? s.peak_memory_kind : "");
	t->energy_j = s.energy_j;
	t->energy_apportioned_j = s.energy_job_j;
	take_noise(t, &s);
	if (past_add(&v->past, r, &s, realpath(r->path, absolute) ? absolute : r->path,
		     clock_utc_ns()) ||
	    v->facts.failed || v->counters.failed)
		rc = err_set(e, -ENOMEM, "out of memory for the recording of a trial");
	summary_free(&s);
	return rc;
}

int evidence_read(struct evidence *v, struct trial *t, const char *path, struct err *e)
{
	struct run *r = NULL;
	int rc;

	*v = (struct evidence){ 0 };
	rc = run_open(&r, path, e);
	if (!rc)
		rc = take(v, t, r, e);
	run_close(r);
	if (rc)
		return rc;
	t->path = v->past.n ? v->past.run[0].text[HISTORY_PATH] : NULL;
	t->peak_memory_kind = *v->memory_kind ? v->memory_kind : NULL;
	t->governor = *v->governor ? v->governor : NULL;
	t->counters = v->counters.len ? (const char *)v->counters.data : NULL;
	if (*v->host)
		t->host = v->host;
	return 0;
}

void evidence_free(struct evidence *v)
{
	bench_facts_free(&v->facts);
	history_free(&v->past);
	bytes_free(&v->counters);
}

void evidence_blame(struct blame *b, int side, const char *path)
{
	struct summary s = { 0 };
	struct run *r = NULL;
	struct err e;

	bool known = path && !run_open(&r, path, &e) &&
		     !summary_make_as(&s, r, &(struct summary_wish){ 0 }, &e);

	blame_add(b, side, known ? r : NULL, &s);
	summary_free(&s);
	run_close(r);
}

/* Which interpreter runs a script, and with which packages. */

#define PATIENCE (20 * NS_PER_S)

/* What a Python has installed, as JSON: of a package that is there twice the one that would be
 * imported; one whose files are broken is left out. */
static char packages_program[] =
	"import json\n"
	"found = {}\n"
	"try:\n"
	"    from importlib.metadata import distributions\n"
	"    for d in distributions():\n"
	"        try:\n"
	"            name, version = d.metadata['Name'], d.version\n"
	"        except Exception:\n"
	"            continue\n"
	"        if name and version:\n"
	"            found.setdefault(str(name), str(version))\n"
	"except ImportError:\n"
	"    import pkg_resources\n"
	"    found = {d.project_name: d.version for d in pkg_resources.working_set}\n"
	"print(json.dumps(found))\n";

/* The words behind #!, at most two; with env in front, the program that env finds. */
static bool interpreter_of(const char *script, char *out, size_t size)
{
	char head[512] = "", *word[2] = { NULL };
	int fd = open(script, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof head - 1);
	char *save = NULL;

	if (fd >= 0)
		close(fd);
	if (n < 3 || memcmp(head, "#!", 2) != 0)
		return false;
	head[2 + strcspn(head + 2, "\n")] = '\0';
	word[0] = strtok_r(head + 2, " \t\r", &save);
	word[1] = word[0] ? strtok_r(NULL, " \t\r", &save) : NULL;
	if (word[1] && !strcmp(word[1], "-S"))
		word[1] = strtok_r(NULL, " \t\r", &save);
	if (!word[0])
		return false;
	n = strlen(word[0]) >= 4 && !strcmp(word[0] + strlen(word[0]) - 4, "/env") && word[1];
	snprintf(out, size, "%s", word[n ? 1 : 0]);
	return true;
}

/* The first line that it prints; "" when it fails, or says nothing. */
static void ask(char *program, char *question, const struct option_list *environment, char *out,
		size_t size)
{
	char *argv[] = { program, question, NULL };
	const struct scripted_wish w = { .argv = argv,
					 .environment = environment,
					 .limit_ns = PATIENCE };
	struct scripted r;
	char why[600];
	struct err e;

	*out = '\0';
	if (!scripted_run(&r, &w, &e) && !scripted_failed(&r, why, sizeof why)) {
		const char *said = (const char *)(r.out.len > 1 ? r.out.data : r.err.data);

		snprintf(out, size, "%.*s", (int)strcspn(said, "\n"), said);
	}
	scripted_free(&r);
}

/* That of the machine: a static Sonde brings another one. */
static void find_libc(struct bench_facts *f)
{
	static const char before[] = "glibc ";
	char question[] = "GNU_LIBC_VERSION";
	char path[PATH_MAX], version[64];
	struct err e;

	if (scripted_find_in(getenv("PATH"), "getconf", path, &e))
		return;
	ask(path, question, NULL, version, sizeof version);
	if (!strncmp(version, before, sizeof before - 1))
		bench_facts_put(f, "runtime.libc", version + sizeof before - 1);
}

static void ask_packages(struct bench_facts *f, char *python, const struct option_list *environment)
{
	char option[] = "-c";
	char *argv[] = { python, option, packages_program, NULL };
	const struct scripted_wish w = { .argv = argv,
					 .environment = environment,
					 .limit_ns = PATIENCE };
	const struct jsontree *found = NULL;
	struct pool pool = { 0 };
	struct scripted r;
	struct err e;

	if (!scripted_run(&r, &w, &e) && r.out.len > 1)
		found = jsontree_read(&pool, r.out.data, r.out.len - 1, &e);
	for (const struct jsontree *v = found && found->type == JSONDOC_OBJECT ? found->first
									       : NULL;
	     v; v = v->next) {
		char name[200];

		snprintf(name, sizeof name, "package.%s", v->key);
		if (v->type == JSONDOC_STRING)
			bench_facts_put(f, name, v->text);
	}
	scripted_free(&r);
	pool_free(&pool);
}

/* What is behind the name of a Python; NULL: it is none. */
static const char *behind_python(const char *program)
{
	const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;

	return !strncmp(name, "python", 6) ? name + 6 : !strncmp(name, "pypy", 4) ? name + 4 : NULL;
}

static bool is_python(const char *program)
{
	return behind_python(program);
}

/* "python3.11", and not "python_benchmark". */
static bool is_python_itself(const char *script)
{
	const char *behind = behind_python(script);

	return behind && !behind[strspn(behind, "0123456789.")];
}

static bool is_interpreter(const char *program)
{
	static const char *const names[] = { "sh",   "bash", "dash",    "ksh",   "zsh", "perl",
					     "ruby", "node", "Rscript", "julia", "lua" };
	const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (!strcmp(name, names[i]))
			return true;
	return is_python_itself(program);
}

const char *software_script(const char *program, char *const *words)
{
	struct stat st;

	if (!is_interpreter(program))
		return program;
	while (*words && **words == '-')
		words++;
	return *words && !stat(*words, &st) && S_ISREG(st.st_mode) ? *words : program;
}

bool software_is_python(const char *script)
{
	char word[400];

	return interpreter_of(script, word, sizeof word) && is_python(word);
}

/* The last one counts; NULL: it is not set there. */
static const char *variable(const struct option_list *environment, const char *name)
{
	size_t n = strlen(name);

	for (uint32_t i = environment->n; i-- > 0;)
		if (!strncmp(environment->text[i], name, n) && environment->text[i][n] == '=')
			return environment->text[i] + n + 1;
	return NULL;
}

void software_find(struct bench_facts *f, const char *script, const struct option_list *environment)
{
	const char *list = variable(environment, "PATH"), *own;
	char word[PATH_MAX], path[PATH_MAX], version[256], option[] = "--version";
	struct err e;

	find_libc(f);
	if (is_python_itself(script)) /* which may be a script, too */
		snprintf(word, sizeof word, "%s", script);
	else if (!interpreter_of(script, word, sizeof word))
		return;
	own = is_python(word) ? variable(environment, "VIRTUAL_ENV") : NULL;
	if (own)
		snprintf(word, sizeof word, "%.4000s/bin/python", own);
	if (scripted_find_in(list ? list : getenv("PATH"), word, path, &e))
		return;
	bench_facts_put(f, "runtime.interpreter", path);
	ask(path, option, environment, version, sizeof version);
	if (*version)
		bench_facts_put(f, "runtime.version", version);
	if (own || is_python(word))
		ask_packages(f, path, environment);
}

enum { TEXT_MOST = 4000, NAME_MOST = 255, DIGEST_SHOWN = 16, OUTPUT_KEPT = 4096 };

/* text ends with a NUL. */
static void add(struct bench_facts *f, const char *name, struct bytes *text)
{
	char digest[SHA256_HEX];

	if (text->failed) {
		f->failed = true;
		return;
	}
	if (text->len > TEXT_MOST + 1) {
		sha256_hex(digest, text->data, text->len - 1);
		text->len = TEXT_MOST;
		bytes_printf(text, "... (SHA-256 %.*s)", DIGEST_SHOWN, digest);
		bytes_u8(text, 0);
	}
	if (text->failed)
		f->failed = true;
	else
		bench_facts_put(f, name, (const char *)text->data);
}

/* ---- variables and arguments ---- */

static bool is_set_later(const struct option_list *l, uint32_t i, size_t n)
{
	for (uint32_t k = i + 1; k < l->n; k++)
		if (!strncmp(l->text[k], l->text[i], n + 1)) /* with its = */
			return true;
	return false;
}

void varied_environment(struct bench_facts *f, const struct secret_list *l,
			const struct option_list *environment)
{
	for (uint32_t i = 0; i < environment->n; i++) {
		const char *text = environment->text[i];
		size_t n = strcspn(text, "=");
		struct bytes value = { 0 };
		char name[NAME_MOST + 8];

		if (!n || n > NAME_MOST || text[n] != '=' || is_set_later(environment, i, n))
			continue;
		snprintf(name, sizeof name, "env.%.*s", (int)n, text);
		if (secret_variable(l, text, n, text + n + 1))
			bytes_puts(&value, SECRET_MASK);
		else
			secret_text(l, &value, text + n + 1);
		bytes_u8(&value, 0);
		add(f, name, &value);
		bytes_free(&value);
	}
}

void varied_arguments(struct bench_facts *f, const struct secret_list *l, char *const *argv,
		      const char *script)
{
	struct bytes text = { 0 }, first = { 0 };
	char *alone[] = { argv[0], NULL };
	char **word;
	size_t n = 0, kept = 1;

	while (argv[n])
		n++;
	word = calloc(n + 1, sizeof *word);
	if (!word) {
		f->failed = true;
		return;
	}
	word[0] = argv[0]; /* of some commands, what follows is known to be a secret */
	for (size_t i = 1; i < n; i++)
		if (argv[i] != script)
			word[kept++] = argv[i];
	words_join(l, &first, alone);
	words_join(l, &text, word);
	bytes_u8(&text, 0);
	if (kept > 1 && !first.failed && !text.failed) {
		size_t head = first.len + 1; /* with a blank */

		memmove(text.data, text.data + head, text.len - head);
		text.len -= head;
		add(f, "script.arguments", &text);
	}
	f->failed |= first.failed || text.failed;
	free(word);
	bytes_free(&text);
	bytes_free(&first);
}

/* ---- the working tree ---- */

/* What git prints, NUL at its end. False: it failed, or there is no git. */
static bool git(const char *folder, const char *const *words, struct bytes *out)
{
	static char program[] = "git", in[] = "-C", option[] = "-c",
		    quick[] = "core.fsmonitor=false", quiet[] = "core.hooksPath=/dev/null",
		    no_locks[] = "--no-optional-locks";
	static char config[] = "GIT_CONFIG_NOSYSTEM=1", pager[] = "GIT_PAGER=cat";
	char *argv[16] = { program, no_locks, in, (char *)folder, option, quick, option, quiet };
	struct option_list environment = { .text = { config, pager }, .n = 2 };
	const struct scripted_wish w = { .argv = argv,
					 .environment = &environment,
					 .limit_ns = PATIENCE };
	struct scripted r;
	struct err e;
	char why[600];
	bool well;

	for (size_t i = 0; words[i] && i < 7; i++)
		argv[8 + i] = (char *)words[i];
	well = !scripted_run(&r, &w, &e) && !scripted_failed(&r, why, sizeof why);
	if (well)
		bytes_put(out, r.out.data, r.out.len);
	scripted_free(&r);
	return well && out->len && !out->failed;
}

static bool git_line(const char *folder, const char *const *words, char *line, size_t size)
{
	struct bytes out = { 0 };
	bool well = git(folder, words, &out);

	if (well)
		snprintf(line, size, "%.*s", (int)strcspn((const char *)out.data, "\n"),
			 (const char *)out.data);
	bytes_free(&out);
	return well && *line;
}

static bool folder_of(const char *path, char out[PATH_MAX])
{
	struct stat st;
	char *slash;

	if (!path || !realpath(path, out) || stat(out, &st))
		return false;
	slash = S_ISDIR(st.st_mode) ? NULL : strrchr(out, '/');
	if (slash)
		slash[slash == out] = '\0';
	return true;
}

/* What differs from the commit, of files that git knows: recordings and builds lie beside them. */
static void add_dirt(struct bench_facts *f, const char *folder)
{
	static const char *const diff[] = { "diff",
					    "--no-ext-diff",
					    "--no-textconv",
					    "--no-color",
					    "--ignore-submodules=dirty",
					    "HEAD",
					    NULL };
	struct bytes out = { 0 };
	char digest[SHA256_HEX];

	if (git(folder, diff, &out)) {
		bench_facts_put(f, "script.git_dirty", out.len > 1 ? "true" : "false");
		sha256_hex(digest, out.data, out.len);
		digest[DIGEST_SHOWN] = '\0';
		if (out.len > 1)
			bench_facts_put(f, "script.git_diff", digest);
	}
	bytes_free(&out);
}

void varied_tree(struct bench_facts *f, const char *script, const char *otherwise)
{
	static const char *const commit[] = { "rev-parse", "--verify", "-q", "HEAD", NULL };
	static const char *const branch[] = { "symbolic-ref", "--short", "-q", "HEAD", NULL };
	const char *const paths[] = { script, otherwise };
	char folder[PATH_MAX], line[OUTPUT_KEPT] = "", program[PATH_MAX];
	struct err e;

	if (scripted_find_in(getenv("PATH"), "git", program, &e))
		return;
	for (size_t i = 0; i < 2; i++) {
		if (!folder_of(paths[i], folder) || !git_line(folder, commit, line, sizeof line))
			continue;
		bench_facts_put(f, "script.git_commit", line);
		if (git_line(folder, branch, line, sizeof line))
			bench_facts_put(f, "script.git_branch", line);
		add_dirt(f, folder);
		return;
	}
}
