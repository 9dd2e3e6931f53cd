/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/stack.h"

#include "base/clock.h"
#include "base/helper.h"
#include "base/text/number.h"
#include "base/text/textfile.h"
#include "console/command.h"
#include "sweep/known.h"
#include "trial/scripted.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUILD_PATIENCE (3600 * NS_PER_S)
enum { LOCK_BYTES = 4 << 20, WORDS_MOST = 3 * SWEEP_WORDS };

static void cannot(struct stack_made *m, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void cannot(struct stack_made *m, const char *format, ...)
{
	size_t n = strlen(m->reason);
	va_list ap;

	if (n)
		n += (size_t)snprintf(m->reason + n, sizeof m->reason - n, "; ");
	if (n >= sizeof m->reason)
		return;
	va_start(ap, format);
	vsnprintf(m->reason + n, sizeof m->reason - n, format, ap);
	va_end(ap);
}

bool sweepstack_set(struct option_list *list, struct pool *pool, const char *name,
		    const char *value)
{
	size_t n = strlen(name) + strlen(value) + 2;
	char *text = list->n < OPTION_LIST_MAX ? pool_take(pool, n) : NULL;

	if (!text)
		return false;
	snprintf(text, n, "%s=%s", name, value);
	list->text[list->n++] = text;
	return true;
}

static void set(struct stack_made *m, const char *name, const char *value)
{
	if (!sweepstack_set(&m->environment, &m->pool, name, value))
		cannot(m, "it changes more than %d variables", OPTION_LIST_MAX);
}

/* The value that a program started with this environment finds. */
static const char *value_of(const struct option_list *list, const char *name)
{
	size_t n = strlen(name);

	for (uint32_t i = list->n; i-- > 0;)
		if (!strncmp(list->text[i], name, n) && list->text[i][n] == '=')
			return list->text[i] + n + 1;
	return getenv(name);
}

/* Of what a program wrote; what is in why stays, if that says nothing. */
static void take_reason(const struct scripted *r, char *why, size_t size)
{
	struct bytes text = { 0 };
	char line[600] = "";

	if (r->err.len <= 1)
		return;
	bytes_put(&text, r->out.data, r->out.len - 1);
	bytes_u8(&text, '\n');
	bytes_put(&text, r->err.data, r->err.len);
	if (!text.failed)
		pipwords_reason((const char *)text.data, line, sizeof line);
	if (*line)
		snprintf(why, size, "%s", line);
	bytes_free(&text);
}

/* Runs a program. False: it failed; why is what it said of that. */
static bool ask(const struct stack_made *m, char *const *argv, struct bytes *out, char *why,
		size_t size)
{
	const struct scripted_wish w = { .argv = argv,
					 .environment = &m->environment,
					 .limit_ns = BUILD_PATIENCE };
	struct scripted r;
	struct err e = { "" };
	bool failed = scripted_run(&r, &w, &e) || scripted_failed(&r, why, size);

	if (*e.text)
		snprintf(why, size, "%s", e.text);
	if (failed)
		take_reason(&r, why, size);
	if (!failed && out)
		bytes_put(out, r.out.data, r.out.len);
	scripted_free(&r);
	return !failed;
}

/* ---- native packages ---- */

/* "half-installed" and "not-installed" are others. */
static bool has_line(const char *text, const char *line)
{
	size_t n = strlen(line);

	for (; *text; text = number_next_line(text))
		if (!strncmp(text, line, n) && (!text[n] || text[n] == '\n'))
			return true;
	return false;
}

static bool is_installed(const struct stack_made *m, char *name)
{
	static char dpkg[] = "dpkg-query", show[] = "-W", status[] = "-f=${db:Status-Status}\n",
		    rpm[] = "rpm", query[] = "-q";
	bool debian = program_exists(dpkg), installed;
	char *of_dpkg[] = { dpkg, show, status, name, NULL };
	char *of_rpm[] = { rpm, query, name, NULL };
	struct bytes out = { 0 };
	char why[300];

	installed = *name != '-' && ask(m, debian ? of_dpkg : of_rpm, &out, why, sizeof why) &&
		    (!debian || has_line((const char *)out.data, "installed"));
	bytes_free(&out);
	return installed;
}

static void look_for_packages(struct stack_made *m, const struct sweep_words *packages)
{
	char missing[200] = "";
	unsigned n = 0;
	size_t at = 0;

	for (uint32_t i = 0; i < packages->n; i++) {
		char *name = (char *)packages->word[i];

		if (is_installed(m, name))
			continue;
		if (at < sizeof missing)
			at += (size_t)snprintf(missing + at, sizeof missing - at, "%s%.60s",
					       n ? ", " : "", name);
		n++;
	}
	if (n)
		cannot(m, "the native package%s %s %s not installed", n > 1 ? "s" : "", missing,
		       n > 1 ? "are" : "is");
}

/* ---- environment modules ---- */

/* What prints the shell's commands that load a module; NULL: there is none. */
static const char *module_command(void)
{
	static const char *const places[] = { "/usr/share/lmod/lmod/libexec/lmod",
					      "/usr/share/modules/libexec/modulecmd.tcl",
					      "/usr/lib/x86_64-linux-gnu/modulecmd.tcl" };
	const char *known = getenv("LMOD_CMD");

	known = known ? known : getenv("MODULES_CMD");
	for (size_t i = 0; !known && i < sizeof places / sizeof places[0]; i++)
		known = access(places[i], X_OK) ? NULL : places[i];
	return known;
}

static bool is_shells_own(const char *variable)
{
	static const char *const own[] = { "_=", "SHLVL=", "PWD=", "OLDPWD=", "BASH_FUNC_" };

	for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
		if (!strncmp(variable, own[i], strlen(own[i])))
			return true;
	return false;
}

/* What is otherwise than here, of an environment that was printed with NULs between. */
static void take_environment(struct stack_made *m, const struct bytes *printed)
{
	const char *at = (const char *)printed->data, *end = at ? at + printed->len - 1 : NULL;

	for (; at < end && !*m->reason; at += strlen(at) + 1) {
		const char *is = strchr(at, '='), *here;
		char name[256];

		if (!is || is == at || is - at >= (ptrdiff_t)sizeof name || is_shells_own(at))
			continue;
		snprintf(name, sizeof name, "%.*s", (int)(is - at), at);
		here = getenv(name);
		if (!here || strcmp(here, is + 1) != 0)
			set(m, name, is + 1);
	}
}

static void load_modules(struct stack_made *m, const struct sweep_words *modules)
{
	static char bash[] = "bash", option[] = "-c",
		    program[] = "code=$(\"$0\" bash load \"$@\") && eval \"$code\" >&2 && "
				"env -0";
	char *argv[SWEEP_WORDS + 5] = { bash, option, program, (char *)module_command() };
	struct bytes out = { 0 };
	char why[300];

	if (!modules->n)
		return;
	if (!argv[3]) {
		cannot(m, "there are no environment modules here (neither Lmod nor Environment "
			  "Modules was found)");
		return;
	}
	if (modules->n > SWEEP_WORDS) {
		cannot(m, "it has more than %d modules", SWEEP_WORDS);
		return;
	}
	for (uint32_t i = 0; i < modules->n; i++)
		argv[4 + i] = (char *)modules->word[i];
	if (ask(m, argv, &out, why, sizeof why) && out.len)
		take_environment(m, &out);
	else
		cannot(m, "module load %.100s failed: %.300s", modules->word[0], why);
	bytes_free(&out);
}

/* ---- virtual environments ---- */

struct venv {
	const struct sweep_stack *stack;
	char path[PATH_MAX], mark[PATH_MAX], list[PATH_MAX], wishes[PATH_MAX];
	struct bytes interpreter; /* its version and platform, as it prints them */
};

static bool write_text(const char *path, const char *text)
{
	size_t n = strlen(text);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	bool well = fd >= 0 && write(fd, text, n) == (ssize_t)n && !fsync(fd);

	if (fd >= 0)
		close(fd);
	return well;
}

/* What it prints of itself; false: there is none, and why. */
static bool ask_interpreter(const struct stack_made *m, const char *name, struct bytes *out,
			    char *why, size_t size)
{
	static char option[] = "-c", program[] = "import sys, sysconfig\nprint(sys.implementation."
						 "name, sys.version, sysconfig.get_platform())\n";
	char *argv[] = { (char *)name, option, program, NULL };

	return ask(m, argv, out, why, size);
}

static bool read_interpreter(struct stack_made *m, struct venv *v)
{
	char why[300];

	if (ask_interpreter(m, m->interpreter, &v->interpreter, why, sizeof why))
		return true;
	cannot(m, "%.100s: %.300s", m->interpreter, why);
	return false;
}

/* "cpython 3.8.10 (default, ...": is it a 3.8? */
static bool has_version(const struct bytes *said, const char *version)
{
	const char *at = said->len ? strchr((const char *)said->data, ' ') : NULL;
	size_t n = strlen(version);

	return at && !strncmp(at + 1, version, n) && !(at[1 + n] >= '0' && at[1 + n] <= '9');
}

/* That of the stack, or else one with the version that its Pipfile requires. */
static void find_python(struct stack_made *m, const struct sweep_stack *s)
{
	char other[64], why[300];
	struct bytes said = { 0 };
	bool fits;

	snprintf(m->interpreter, sizeof m->interpreter, "%.250s", s->interpreter);
	if (!s->python_version || (ask_interpreter(m, s->interpreter, &said, why, sizeof why) &&
				   has_version(&said, s->python_version))) {
		bytes_free(&said);
		return;
	}
	bytes_free(&said);
	snprintf(other, sizeof other, "python%.40s", s->python_version);
	fits = !strcmp(s->interpreter, "python3") &&
	       ask_interpreter(m, other, &said, why, sizeof why) &&
	       has_version(&said, s->python_version);
	if (fits)
		snprintf(m->interpreter, sizeof m->interpreter, "%s", other);
	else
		cannot(m, "its Pipfile requires Python %.20s, which %.100s is not%s",
		       s->python_version, s->interpreter,
		       strcmp(s->interpreter, "python3") ? "" : ", and there is no other here");
	bytes_free(&said);
}

static void add_words(struct bytes *b, const struct sweep_words *w)
{
	bytes_varint(b, w->n);
	for (uint32_t i = 0; i < w->n; i++)
		bytes_text(b, w->word[i]);
}

/* Its place below the cache follows from what it is made of. */
static bool name_venv(struct stack_made *m, struct venv *v, const char *cache)
{
	char digest[SHA256_HEX];
	struct bytes b = { 0 };

	bytes_text(&b, (const char *)v->interpreter.data);
	bytes_text(&b, v->stack->requirements);
	bytes_text(&b, v->stack->locked);
	add_words(&b, &v->stack->pip);
	add_words(&b, &v->stack->modules);
	sha256_hex(digest, b.data, b.len);
	bytes_free(&b);
	if ((size_t)snprintf(v->path, sizeof v->path, "%.3900s/%.16s", cache, digest) >=
	    sizeof v->path - 64) {
		cannot(m, "the directory of stacks is too long a name");
		return false;
	}
	snprintf(v->mark, sizeof v->mark, "%.4000s/sonde.fingerprint", v->path);
	snprintf(v->list, sizeof v->list, "%.4000s/requirements.lock", v->path);
	snprintf(v->wishes, sizeof v->wishes, "%.4000s/requirements.txt", v->path);
	snprintf(m->python, sizeof m->python, "%.4000s/bin/python", v->path);
	return true;
}

static bool install(struct stack_made *m, const struct venv *v, char *why, size_t size)
{
	static char word_m[] = "-m", pip[] = "pip", verb[] = "install",
		    check[] = "--disable-pip-version-check", input[] = "--no-input",
		    alone[] = "--no-deps", file[] = "-r";
	const char *wishes = v->stack->locked ? v->stack->locked : v->stack->requirements;
	char *argv[WORDS_MOST] = { m->python, word_m, pip, verb, check, input };
	uint32_t n = 6;

	for (uint32_t i = 0; i < v->stack->pip.n && n < WORDS_MOST - 4; i++)
		argv[n++] = (char *)v->stack->pip.word[i];
	if (v->stack->locked)
		argv[n++] = alone;
	argv[n++] = file;
	argv[n++] = (char *)v->wishes;
	if (!write_text(v->wishes, wishes)) {
		snprintf(why, size, "%.200s: %s", v->wishes, strerror(errno));
		return false;
	}
	return ask(m, argv, NULL, why, size);
}

/* What pip says is in it is its lock and, with the interpreter, its fingerprint. */
static bool seal(struct stack_made *m, const struct venv *v, char *why, size_t size)
{
	static char word_m[] = "-m", pip[] = "pip", verb[] = "freeze", all[] = "--all";
	char *argv[] = { m->python, word_m, pip, verb, all, NULL };
	struct bytes out = { 0 }, content = { 0 };
	bool well = ask(m, argv, &out, why, size);

	if (well &&
	    !write_text(v->list, v->stack->locked ? v->stack->locked : (const char *)out.data)) {
		snprintf(why, size, "%.200s: %s", v->list, strerror(errno));
		well = false;
	}
	if (well) {
		bytes_text(&content, (const char *)v->interpreter.data);
		bytes_text(&content, (const char *)out.data);
		sha256_hex(m->fingerprint, content.data, content.len);
		well = write_text(v->mark, m->fingerprint);
	}
	bytes_free(&out);
	bytes_free(&content);
	return well;
}

static bool is_made(struct stack_made *m, const struct venv *v)
{
	struct bytes b = { 0 };
	struct err e;
	bool made = !textfile_read(v->mark, "fingerprint", SHA256_HEX, &b, &e) &&
		    b.len == SHA256_HEX - 1;

	if (made)
		snprintf(m->fingerprint, sizeof m->fingerprint, "%.*s", (int)b.len,
			 (const char *)b.data);
	bytes_free(&b);
	return made;
}

static void build(struct stack_made *m, const struct venv *v)
{
	static char word_m[] = "-m", module[] = "venv", clear[] = "--clear";
	char *argv[] = { m->interpreter, word_m, module, clear, (char *)v->path, NULL };
	char why[400] = "";

	say("bench sweep: making the stack %s", v->stack->name);
	if (!ask(m, argv, NULL, why, sizeof why) || !install(m, v, why, sizeof why) ||
	    !seal(m, v, why, sizeof why))
		cannot(m, "the virtual environment could not be made: %s", why);
}

static void make_venv(struct stack_made *m, const struct sweep_stack *s, const char *cache)
{
	struct venv v = { .stack = s };
	const char *path = value_of(&m->environment, "PATH");
	char lock[PATH_MAX + 8], joined[2 * PATH_MAX];
	int fd = -1;

	if (!read_interpreter(m, &v) || !name_venv(m, &v, cache)) {
		bytes_free(&v.interpreter);
		return;
	}
	snprintf(lock, sizeof lock, "%s.lock", v.path);
	fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX))
		cannot(m, "%.200s: %s", lock, strerror(errno));
	else if (!is_made(m, &v))
		build(m, &v);
	if (fd >= 0)
		close(fd);
	bytes_free(&v.interpreter);
	if (*m->reason)
		return;
	set(m, "VIRTUAL_ENV", v.path);
	snprintf(joined, sizeof joined, "%s/bin:%.4000s", v.path,
		 path ? path : "/usr/local/bin:/usr/bin:/bin");
	set(m, "PATH", joined);
}

/* ---- containers ---- */

static void find_runtime(struct stack_made *m, const char *image)
{
	static const char *const runtimes[] = { "apptainer", "singularity" };
	struct err e;

	for (size_t i = 0; i < sizeof runtimes / sizeof runtimes[0]; i++)
		if (!scripted_find_in(getenv("PATH"), runtimes[i], m->runtime, &e) &&
		    strchr(m->runtime, '/') && access(runtimes[i], F_OK))
			return;
	*m->runtime = '\0';
	cannot(m,
	       "the image %.100s needs a container runtime, and neither apptainer nor singularity "
	       "is installed here%s",
	       image,
	       program_exists("podman") || program_exists("docker")
		       ? "; containers of podman and docker are not children of the trial and cannot be measured"
		       : "");
}

/* ---- all of it ---- */

/* Of a stack without a virtual environment, what it is called and changes. */
static void take_fingerprint(struct stack_made *m, const struct sweep_stack *s)
{
	struct bytes b = { 0 };

	if (*m->fingerprint || (!m->environment.n && !strcmp(s->base, "host")))
		return;
	bytes_text(&b, s->base);
	add_words(&b, &s->modules);
	for (uint32_t i = 0; i < m->environment.n; i++)
		bytes_text(&b, m->environment.text[i]);
	sha256_hex(m->fingerprint, b.data, b.len);
	bytes_free(&b);
}

void sweepstack_make(struct stack_made *m, const struct sweep_stack *s, const char *cache)
{
	if (m->tried)
		return;
	m->tried = true;
	if (s->unresolved)
		cannot(m, "its requirements cannot be resolved: %s", s->unresolved);
	if (strcmp(s->base, "host") != 0)
		find_runtime(m, s->base);
	look_for_packages(m, &s->packages);
	if (!*m->reason)
		load_modules(m, &s->modules);
	/* Modules may bring the interpreter. */
	if ((s->requirements || s->locked) && (!*m->reason || !s->modules.n))
		find_python(m, s);
	if (!*m->reason && (s->requirements || s->locked))
		make_venv(m, s, cache);
	take_fingerprint(m, s);
}

void sweepstack_free(struct stack_made *m)
{
	pool_free(&m->pool);
	*m = (struct stack_made){ 0 };
}

int sweepstack_cache(const char *chosen, char out[PATH_MAX], struct err *e)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *at = out;

	if (chosen)
		snprintf(out, PATH_MAX, "%.4000s", chosen);
	else if (cache && *cache == '/')
		snprintf(out, PATH_MAX, "%.4000s/sonde/stacks", cache);
	else if (home && *home == '/')
		snprintf(out, PATH_MAX, "%.4000s/.cache/sonde/stacks", home);
	else
		return err_set(e, -EINVAL, "where are stacks to be kept? --stacks DIR says so");
	while ((at = strchr(at + 1, '/'))) {
		*at = '\0';
		mkdir(out, 0700);
		*at = '/';
	}
	if (mkdir(out, 0700) && errno != EEXIST)
		return err_set(e, -errno, "cannot make %.300s: %s", out, strerror(errno));
	at = realpath(out, NULL);
	if (at)
		snprintf(out, PATH_MAX, "%s", at);
	free(at);
	return 0;
}
