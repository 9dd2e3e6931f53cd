/* SPDX-License-Identifier: Apache-2.0 */
#include "console/command.h"

#include "base/clock.h"
#include "base/text/escape.h"
#include "base/text/json.h"
#include "sink/sink.h"
#include "source/source.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define COMMAND(x) extern const struct command command_##x;
#include "commands.def"
#undef COMMAND

const struct command *const commands[] = {
#define COMMAND(x) &command_##x,
#include "commands.def"
#undef COMMAND
};
const size_t ncommands = sizeof commands / sizeof commands[0];

const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < ncommands; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

const struct command *command_verb(const struct command *c, const char *word)
{
	for (size_t i = 0; i < c->nverbs; i++)
		if (!strcmp(strrchr(c->verbs[i]->name, ' ') + 1, word))
			return c->verbs[i];
	return NULL;
}

const char *command_nearest(const char *word)
{
	const char *nearest = NULL;
	unsigned best = 0;

	for (size_t i = 0; i < ncommands; i++) {
		unsigned distance = args_distance(word, commands[i]->name);

		if (nearest && distance >= best)
			continue;
		nearest = commands[i]->name;
		best = distance;
	}
	return nearest && args_near(word, best) ? nearest : NULL;
}

static int print_to(FILE *out, struct bytes *b)
{
	int code = EXIT_FAILED;

	if (b->failed)
		say("out of memory");
	else if (fwrite(b->data, 1, b->len, out) != b->len || fflush(out))
		say("cannot write to standard output: %s", strerror(errno));
	else
		code = EXIT_OK;
	bytes_free(b);
	return code;
}

int print_bytes(struct bytes *b)
{
	return print_to(stdout, b);
}

void print_error_json(FILE *out, const char *command)
{
	struct bytes b = { 0 };
	struct json j = { .out = &b, .indent = true };

	json_object(&j);
	json_put_text(&j, "schema", "sonde/error/1");
	json_put_text(&j, "command", command);
	json_put_text(&j, "error", say_last());
	json_object_end(&j);
	bytes_u8(&b, '\n');
	print_to(out, &b);
}

enum { LINE_MAX_BYTES = 4096 };

/* Of this process's one conversation; for the document that says why there is no other. */
static char last[LINE_MAX_BYTES];

const char *say_last(void)
{
	return last;
}

bool say_reader_is_gone(void)
{
	struct pollfd p = { .fd = STDOUT_FILENO };
	struct stat st;

	return ferror(stdout) && !fstat(STDOUT_FILENO, &st) &&
	       (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) && poll(&p, 1, 0) > 0 &&
	       p.revents & (POLLERR | POLLHUP);
}

void say(const char *format, ...)
{
	char text[LINE_MAX_BYTES], line[LINE_MAX_BYTES];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	memcpy(last, text, sizeof last);
	if (say_reader_is_gone())
		return;
	fprintf(stderr, "sonde: %s\n", escape_terminal_into(line, sizeof line, text));
}

enum { EVERY_NS = 200 * 1000 * 1000 };

void progress_begin(struct progress *p)
{
	*p = (struct progress){ .next_ns = INT64_MAX };
	if (isatty(STDERR_FILENO))
		p->next_ns = clock_mono_ns() + NS_PER_S;
}

/* The cursor goes back to the line's begin, so that whatever else is said takes its place. */
void progress_show(void *ctx, uint32_t at, uint32_t of)
{
	struct progress *p = ctx;
	int64_t now;

	if (p->next_ns == INT64_MAX)
		return;
	if (at >= of) {
		if (p->shown)
			fputs("\033[K", stderr);
		p->shown = false;
		return;
	}
	now = clock_mono_ns();
	if (now < p->next_ns)
		return;
	fprintf(stderr, "\033[Ksonde: reading %u of %u\r", at + 1, of);
	p->shown = true;
	p->next_ns = now + EVERY_NS;
}

#if defined __SANITIZE_ADDRESS__
#define SANITIZED true
#elif defined __has_feature
#define SANITIZED __has_feature(address_sanitizer)
#else
#define SANITIZED false
#endif

static void build_json(struct json *j)
{
	json_key(j, "build");
	json_object(j);
	json_key(j, "compiler");
	json_text(j, __VERSION__);
	json_key(j, "optimised");
#ifdef __OPTIMIZE__
	json_bool(j, true);
#else
	json_bool(j, false);
#endif
	json_put_bool(j, "address_sanitizer", SANITIZED);
	json_key(j, "libexec");
	json_text(j, SONDE_LIBEXEC);
	json_key(j, "zstd");
	json_text(j, ZSTD_versionString());
	json_object_end(j);
}

static void contents_json(struct json *j)
{
	json_key(j, "sources");
	json_array(j);
	for (size_t i = 0; i < nsources; i++)
		json_text(j, sources[i]->name);
	json_array_end(j);
	json_key(j, "formats");
	json_array(j);
	for (size_t i = 0; i < nsinks; i++)
		json_text(j, sinks[i]->name);
	json_array_end(j);
	json_key(j, "commands");
	json_array(j);
	for (size_t i = 0; i < ncommands; i++)
		json_text(j, commands[i]->name);
	json_array_end(j);
}

static void version_json(struct bytes *b)
{
	struct json j = { .out = b, .indent = true };

	json_object(&j);
	json_key(&j, "schema");
	json_text(&j, "sonde/version/1");
	json_key(&j, "version");
	json_text(&j, SONDE_VERSION);
	build_json(&j);
	contents_json(&j);
	json_object_end(&j);
	bytes_u8(b, '\n');
}

int version_print(bool json)
{
	struct bytes b = { 0 };

	if (json)
		version_json(&b);
	else
		bytes_puts(&b, "sonde " SONDE_VERSION "\n");
	return print_bytes(&b);
}
