/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/text/args.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORDS = 16 };

struct opts {
	bool quiet, json;
	const char *output;
	int64_t interval, count;
	double ratio;
};

static const struct option rows[] = {
	{ .name = "quiet", .letter = 'q', .help = "x.", OPTION_OFFSET(struct opts, quiet) },
	{ .name = "json", .help = "x.", .hidden = true, OPTION_OFFSET(struct opts, json) },
	{ .name = "output",
	  .letter = 'o',
	  .type = ARG_TEXT,
	  .help = "x.",
	  OPTION_OFFSET(struct opts, output) },
	{ .name = "interval",
	  .letter = 'i',
	  .type = ARG_DURATION,
	  .fallback = "1s",
	  .help = "x.",
	  OPTION_OFFSET(struct opts, interval),
	  .min = NS_PER_MS,
	  .max = 3600 * NS_PER_S },
	{ .name = "count",
	  .letter = 'n',
	  .type = ARG_COUNT,
	  .help = "x.",
	  OPTION_OFFSET(struct opts, count),
	  .min = -5,
	  .max = 5 },
	{ .name = "ratio", .type = ARG_REAL, .help = "x.", OPTION_OFFSET(struct opts, ratio) },
};

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* The words are the same ones as before, in another order: none lost, none twice. */
static void check_words(char **before, char **after, int n)
{
	for (int i = 0; i < n; i++) {
		int found = 0;

		for (int k = 0; k < n; k++)
			found += before[i] == after[k];
		require(found == 1);
	}
}

static void check_duration(const char *text)
{
	int64_t ns, again;
	char written[32];

	if (args_duration(text, &ns))
		return;
	require(ns >= 0);
	args_duration_text(ns, written, sizeof written);
	require(!args_duration(written, &again) && again == ns);
}

/* Input: words ended by NUL; the first byte chooses whether parsing stops at an operand. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *words[WORDS], *before[WORDS];
	struct opts opts = { 0 };
	struct err e = { 0 };
	bool stop = size && (data[0] & 1);
	struct args args;
	int n = 0, rc;

	require(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	for (size_t at = size ? 1 : 0; at < size && n < WORDS; at += strlen(text + at) + 1)
		words[n++] = text + at;
	memcpy(before, words, sizeof before);
	for (int i = 0; i < n; i++)
		check_duration(words[i]);
	args = (struct args){ n, words, stop, -1 };
	rc = args_parse(rows, sizeof rows / sizeof rows[0], &opts, &args, &e);
	require(args.first >= 0 && args.first <= n);
	check_words(before, words, n);
	require(rc < 0 ? *e.text != '\0' : rc <= 1);
	require(strlen(e.text) < sizeof e.text);
	if (!rc) {
		require(opts.interval >= NS_PER_MS && opts.interval <= 3600 * NS_PER_S);
		require(opts.count >= -5 && opts.count <= 5);
		require(isfinite(opts.ratio));
	}
	free(text);
	return 0;
}
