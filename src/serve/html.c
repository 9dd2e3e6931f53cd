/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/html.h"

#include "base/clock.h"
#include "report/assets.h"
#include "report/nonce.h"
#include "report/page/page_html.h"
#include "serve/pages.h"

#include <stdio.h>
#include <string.h>

/* The response has the bytes, or nobody has. */
static enum MHD_Result answer_with(struct MHD_Connection *c, struct bytes *b, const char *nonce)
{
	struct MHD_Response *r;
	enum MHD_Result rc;
	char policy[300];

	r = b->failed ? NULL
		      : MHD_create_response_from_buffer(b->len, b->data, MHD_RESPMEM_MUST_FREE);
	if (!r) {
		bytes_free(b);
		return MHD_NO;
	}
	pages_headers(r, "text/html; charset=utf-8");
	snprintf(
		policy, sizeof policy,
		"default-src 'none'; script-src 'nonce-%s'; style-src 'nonce-%s'; connect-src "
		"'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		nonce, nonce);
	MHD_add_response_header(r, "Content-Security-Policy", policy);
	rc = MHD_queue_response(c, MHD_HTTP_OK, r);
	MHD_destroy_response(r);
	return rc;
}

enum MHD_Result html_login(struct MHD_Connection *c)
{
	static const char mark[] = "{{nonce}}";
	const char *at = asset_login_html, *end = asset_login_html_end, *next;
	struct bytes b = { 0 };
	char nonce[NONCE_SIZE];
	struct err e = { "" };

	if (nonce_make(nonce, &e))
		return MHD_NO;
	while ((next = memmem(at, (size_t)(end - at), mark, sizeof mark - 1))) {
		bytes_put(&b, at, (size_t)(next - at));
		bytes_puts(&b, nonce);
		at = next + sizeof mark - 1;
	}
	bytes_put(&b, at, (size_t)(end - at));
	return answer_with(c, &b, nonce);
}

/* ---- the list ---- */

static const char *meta_of(const struct exposition_run *run, const char *key)
{
	for (uint32_t i = 0; i < follow_count(run->follow); i++) {
		const struct follow_meta *m = follow_meta(follow_node(run->follow, i), key);

		if (m && m->text && *m->text)
			return m->text;
	}
	return NULL;
}

/* Running while a sample of an open recording is young. */
static const char *state_in_words(const struct exposition_run *run)
{
	uint32_t open = 0, ended = 0, stale = 0;

	for (uint32_t i = 0; i < follow_count(run->follow); i++) {
		const struct follow_node *n = follow_node(run->follow, i);

		if (n->state == FOLLOW_ENDED)
			ended++;
		else if (n->state == FOLLOW_OPEN &&
			 clock_utc_ns() - n->utc_ns < EXPOSITION_STALE_S * NS_PER_S)
			open++;
		else
			stale++;
	}
	return open ? "running" : stale ? "not closed" : ended ? "ended" : "no recording yet";
}

/* When the first of its recordings was begun: "2026-11-22 21:02:17"; "–" when none says. */
static const char *started(const struct exposition_run *run, char *out, size_t size)
{
	int64_t first = 0;
	char iso[48];

	for (uint32_t i = 0; i < follow_count(run->follow); i++) {
		int64_t made = follow_node(run->follow, i)->made_utc_ns;

		if (made && (!first || made < first))
			first = made;
	}
	if (!first)
		return "–";
	clock_iso(first / NS_PER_S * NS_PER_S, iso, sizeof iso);
	snprintf(out, size, "%.10s %.8s", iso, strlen(iso) > 11 ? iso + 11 : "");
	return out;
}

static void row(struct bytes *b, const struct exposition_run *run, size_t i)
{
	const char *slash = strrchr(run->path, '/'), *command = meta_of(run, "job.command");
	const char *name = slash && slash[1] ? slash + 1 : run->path, *id = meta_of(run, "job.id");
	char when[32];

	bytes_printf(b, "<tr><th scope=\"row\"><a href=\"run/%zu/\">", i + 1);
	html_text(b, name);
	bytes_printf(b, "</a></th><td class=\"text\">%s</td><td>%s</td><td class=\"text\">",
		     state_in_words(run), started(run, when, sizeof when));
	html_text(b, id ? id : "–");
	bytes_printf(b, "</td><td>%u</td><td class=\"text\"><code>", follow_count(run->follow));
	html_text(b, command ? command : "–");
	bytes_puts(b, "</code></td></tr>\n");
}

enum MHD_Result html_list(struct MHD_Connection *c, const struct exposition_run *run, size_t runs)
{
	struct bytes b = { 0 };
	char nonce[NONCE_SIZE];
	struct err e = { "" };

	if (nonce_make(nonce, &e))
		return MHD_NO;
	bytes_printf(&b,
		     "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta "
		     "name=\"viewport\" content=\"width=device-width, initial-scale=1\"><meta "
		     "http-equiv=\"refresh\" content=\"10\"><title>Sonde: runs</title><link "
		     "rel=\"icon\" href=\"data:,\"><style nonce=\"%s\">",
		     nonce);
	bytes_put(&b, asset_page_css, (size_t)(asset_page_css_end - asset_page_css));
	bytes_printf(&b, "</style><style nonce=\"%s\" media=\"(prefers-color-scheme: dark)\">",
		     nonce);
	bytes_put(&b, asset_dark_css, (size_t)(asset_dark_css_end - asset_dark_css));
	bytes_puts(&b, "a { color: var(--accent); }</style></head><body><main><section>\n"
		       "<h1>Runs</h1>\n<div class=\"panel scroll\" tabindex=\"0\" role=\"group\" "
		       "aria-label=\"Runs\"><table><thead><tr><th scope=\"col\">Run</th><th "
		       "scope=\"col\" data-text>State</th><th scope=\"col\">Started (UTC)</th><th "
		       "scope=\"col\" data-text>Job</th><th scope=\"col\">Recordings</th><th "
		       "scope=\"col\" data-text>Command</th></tr></thead><tbody>\n");
	for (size_t i = 0; i < runs; i++)
		row(&b, &run[i], i);
	bytes_puts(&b, "</tbody></table></div></section></main></body></html>\n");
	return answer_with(c, &b, nonce);
}
