/* SPDX-License-Identifier: Apache-2.0 */
#include "chart/charts.h"
#include "chart/panel.h"
#include "chart/shape.h"
#include "chart/svg.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *labels_of(const struct axis *a, char out[256])
{
	int n = 0;

	out[0] = '\0';
	for (unsigned i = 0; i < a->nticks; i++)
		n += snprintf(out + n, 256 - (size_t)n, "%s%s", i ? " " : "", a->label[i]);
	snprintf(out + n, 256 - (size_t)n, "%s%s", a->unit[0] ? " " : "", a->unit);
	return out;
}

static void ticks_are_round_in_their_unit(void **state)
{
	static const struct {
		enum unit unit;
		double min, max;
		const char *ticks;
	} rows[] = {
		{ UNIT_BYTES, 0, 5.1 * (1 << 30), "0 1 2 3 4 5 6 GiB" },
		{ UNIT_BYTES, 0, 900, "0 200 400 600 800 1000 B" },
		{ UNIT_RATIO, 0, 0.97, "0 20 40 60 80 100 %" },
		{ UNIT_CORES, 0, 2.2, "0.0 0.5 1.0 1.5 2.0 2.5 cores" },
		{ UNIT_BYTES_PER_SECOND, 0, 1.2e9, "0.0 0.2 0.4 0.6 0.8 1.0 1.2 GB/s" },
		{ UNIT_CELSIUS, -12, 31, "-20 -10 0 10 20 30 40 \u00b0C" },
		{ UNIT_SECONDS, 0, 0.0042, "0 1 2 3 4 5 ms" },
		{ UNIT_COUNT, 0, 0, "0.0 0.2 0.4 0.6 0.8 1.0" },
		{ UNIT_WATTS, NAN, NAN, "0.0 0.2 0.4 0.6 0.8 1.0 W" },
	};
	struct axis a;
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		axis_of_values(&a, rows[i].unit, rows[i].min, rows[i].max, false);
		assert_string_equal(labels_of(&a, text), rows[i].ticks);
	}
	axis_of_values(&a, UNIT_BYTES_PER_SECOND, 30, 2e6, true);
	assert_string_equal(labels_of(&a, text), "0.00001 0.0001 0.001 0.01 0.1 1 10 MB/s");
	a.begin = 0, a.length = 60;
	assert_float_equal((float)axis_place(&a, 1e4), 30, 1e-3F);
	assert_float_equal((float)axis_place(&a, 0), 0, 0);
}

static void time_is_in_the_unit_that_suits_it(void **state)
{
	static const struct {
		double to;
		const char *ticks;
	} rows[] = {
		{ 3.04, "0.0 0.5 1.0 1.5 2.0 2.5 3.0 s" },
		{ 600, "0 1 2 3 4 5 6 7 8 9 10 min" },
		{ 86400, "0 4 8 12 16 20 24 h" },
		{ 10 * 86400, "0 1 2 3 4 5 6 7 8 9 10 d" },
		{ 0, "0.0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1.0 s" },
	};
	struct axis a;
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		axis_of_time(&a, 0, rows[i].to);
		assert_string_equal(labels_of(&a, text), rows[i].ticks);
	}
}

static uint32_t count(const struct bytes *text, const char *word)
{
	uint32_t n = 0;

	for (const char *at = (const char *)text->data; (at = strstr(at, word)); at++)
		n++;
	return n;
}

static struct bytes svg_of(const struct bytes *drawing, const char *title)
{
	struct bytes svg = { 0 };
	struct err e = { "" };

	if (svg_write(&svg, drawing, title, &e))
		fail_msg("svg_write: %s", e.text);
	bytes_u8(&svg, 0);
	return svg;
}

/* Points of the polyline or polygon that begins at the n-th of these words. */
static uint32_t points_of(const struct bytes *svg, const char *word, uint32_t n)
{
	const char *at = (const char *)svg->data, *end;
	uint32_t points = 1;

	while (n-- && (at = strstr(at + 1, word)))
		;
	assert_non_null(at);
	at = strstr(at, "points=\"");
	end = strchr(at + 8, '"');
	for (; at < end; at++)
		points += *at == ' ';
	return points;
}

static const struct box page = { .w = 400, .h = 200 };

static void absent_values_are_gaps_and_not_zero(void **state)
{
	double at[40], mean[40];
	struct layer layer = { .label = "x", .colour = 0x123456, .at = at, .mean = mean, .n = 40 };
	struct time_chart t = { .title = "T",
				.unit = UNIT_BYTES,
				.to_s = 40,
				.layer = &layer,
				.nlayers = 1,
				.limit = NAN };
	struct bytes drawing = { 0 }, svg;

	(void)state;
	for (int i = 0; i < 40; i++) {
		at[i] = i;
		mean[i] = (i >= 10 && i < 15) || i == 17 ? NAN : 5;
	}
	shape_page(&drawing, page.w, page.h);
	assert_true(time_chart_draw(&drawing, &page, &t));
	shape_end(&drawing);
	svg = svg_of(&drawing, "t");
	/* One in the legend, then 10, 2 and 22 points. */
	assert_int_equal(count(&svg, "stroke=\"#123456\""), 4);
	assert_int_equal(points_of(&svg, "stroke=\"#123456\"", 2), 10);
	assert_int_equal(points_of(&svg, "stroke=\"#123456\"", 3), 2);
	assert_int_equal(points_of(&svg, "stroke=\"#123456\"", 4), 22);
	bytes_free(&drawing);
	bytes_free(&svg);
	for (int i = 0; i < 40; i++)
		mean[i] = NAN;
	assert_false(time_chart_draw(&drawing, &page, &t));
	assert_int_equal(drawing.len, 0);
}

static void time_that_nobody_looked_at_is_a_gap(void **state)
{
	double at[40], mean[40];
	struct layer layer = { .label = "x", .colour = 0x123456, .at = at, .mean = mean, .n = 40 };
	struct time_chart t = { .title = "T",
				.unit = UNIT_ONE,
				.to_s = 4000,
				.layer = &layer,
				.nlayers = 1,
				.limit = NAN };
	struct bytes drawing = { 0 }, svg;

	(void)state;
	for (int i = 0; i < 40; i++) {
		at[i] = i < 20 ? i : 3900 + i;
		mean[i] = 1;
	}
	shape_page(&drawing, page.w, page.h);
	assert_true(time_chart_draw(&drawing, &page, &t));
	shape_end(&drawing);
	svg = svg_of(&drawing, "t");
	assert_int_equal(points_of(&svg, "stroke=\"#123456\"", 2), 20);
	assert_int_equal(points_of(&svg, "stroke=\"#123456\"", 3), 20);
	bytes_free(&drawing);
	bytes_free(&svg);
}

/* Layers on each other: where one is absent, the sum is not known. */
static void layers_add_up_or_stop(void **state)
{
	double at[4] = { 1, 2, 3, 4 }, a[4] = { 1, 1, 1, 1 }, b[4] = { 2, 2, NAN, 2 };
	struct layer layer[2] = { { .label = "a",
				    .colour = 0xaa0000,
				    .role = LAYER_STACK,
				    .at = at,
				    .mean = a,
				    .n = 4 },
				  { .label = "b",
				    .colour = 0xbb0000,
				    .role = LAYER_STACK,
				    .at = at,
				    .mean = b,
				    .n = 4 } };
	struct time_chart t = { .title = "T",
				.unit = UNIT_ONE,
				.to_s = 4,
				.layer = layer,
				.nlayers = 2,
				.limit = NAN };
	struct bytes drawing = { 0 }, svg;

	(void)state;
	shape_page(&drawing, page.w, page.h);
	assert_true(time_chart_draw(&drawing, &page, &t));
	shape_end(&drawing);
	svg = svg_of(&drawing, "t");
	assert_int_equal(points_of(&svg, "<polygon fill=\"#aa0000\"", 1), 8);
	assert_int_equal(points_of(&svg, "<polygon fill=\"#bb0000\"", 1), 4);
	bytes_free(&drawing);
	bytes_free(&svg);
}

static void hostile_texts_are_harmless(void **state)
{
	static const char hostile[] = "</text><script>x\x1b[31m\xff\xef\xbf\xbe&\"\n";
	const struct lettering l = { .size = 9 };
	struct bytes drawing = { 0 }, svg;
	char fit[64];

	(void)state;
	shape_page(&drawing, page.w, page.h);
	shape_text(&drawing, &l, (struct point){ 1, 2 }, hostile);
	shape_end(&drawing);
	svg = svg_of(&drawing, hostile);
	assert_int_equal(count(&svg, "<script"), 0);
	assert_int_equal(count(&svg, "&lt;/text&gt;&lt;script&gt;x\\x1b[31m\\xff\xef\xbf\xbd&amp;"),
			 2);
	text_fit(hostile, &l, 60, fit, sizeof fit);
	assert_true(text_width(fit, l.size, false) <= 60);
	assert_string_equal(fit + strlen(fit) - 3, "...");
	bytes_free(&drawing);
	bytes_free(&svg);
}

static void what_is_cut_off_is_no_drawing(void **state)
{
	static const uint8_t cells[] = { 0, 1, 2, COLOUR_STEPS };
	struct bytes drawing = { 0 }, svg = { 0 };
	const struct pen pen = { .colour = 1, .width = 2 };

	(void)state;
	shape_page(&drawing, page.w, page.h);
	shape_line(&drawing, &pen, (const struct point[]){ { 0, 0 }, { 5, NAN } }, 2);
	shape_grid(&drawing, &page, 2, 2, cells);
	shape_end(&drawing);
	assert_int_equal(svg_write(&svg, &drawing, "t", NULL), 0);
	for (size_t n = drawing.len - 1; n > 0; n--) {
		struct bytes cut = { .data = drawing.data, .len = n };

		bytes_reset(&svg);
		assert_true(svg_write(&svg, &cut, "t", NULL) < 0);
	}
	bytes_free(&drawing);
	bytes_free(&svg);
}

static void lines_break_between_words(void **state)
{
	const struct lettering l = { .size = 10 };
	const struct box at = { .w = 100, .h = 12 };

	(void)state;
	assert_int_equal(text_wrap(NULL, &l, &at, 9, ""), 0);
	assert_int_equal(text_wrap(NULL, &l, &at, 9, "short"), 1);
	assert_int_equal(text_wrap(NULL, &l, &at, 9, "a few words that need two lines"), 2);
	assert_int_equal(text_wrap(NULL, &l, &at, 2,
				   "a few words that need two lines or more of "
				   "them"),
			 2);
	assert_int_equal(text_wrap(NULL, &l, &at, 9, "awordthatislongerthanaline"), 2);
}

static void documents_come_as_they_went(void **state)
{
	struct document d = { .format = DOCUMENT_PDF,
			      .dpi = 200,
			      .created_s = -5,
			      .title = "a\x01" },
			got;
	struct bytes b = { 0 };
	struct scan in;

	(void)state;
	memset(d.author, 'x', sizeof d.author - 1);
	document_encode(&b, &d);
	in = (struct scan){ b.data, b.data + b.len, false };
	assert_int_equal(document_decode(&in, &got, NULL), 0);
	assert_int_equal(got.format, DOCUMENT_PDF);
	assert_int_equal(got.dpi, 200);
	assert_int_equal(got.created_s, -5);
	assert_string_equal(got.title, "a\\x01");
	assert_string_equal(got.author, d.author);
	assert_ptr_equal(in.at, in.end);
	for (size_t n = 0; n < b.len; n++) {
		in = (struct scan){ b.data, b.data + n, false };
		assert_true(document_decode(&in, &got, NULL) < 0);
	}
	bytes_free(&b);
}

static void scales_go_from_light_to_dark(void **state)
{
	double before = 1e9;

	(void)state;
	for (uint8_t i = 1; i <= COLOUR_STEPS; i++) {
		uint32_t c = colour_cell(i);
		double light = 0.2126 * (c >> 16) + 0.7152 * (c >> 8 & 255) + 0.0722 * (c & 255);

		assert_true(light < before);
		before = light;
	}
	assert_int_equal(colour_step(NAN), 0);
	assert_int_equal(colour_step(0), 1);
	assert_int_equal(colour_step(7), COLOUR_STEPS);
	assert_int_not_equal(colour_cell(0), colour_cell(1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ticks_are_round_in_their_unit),
		cmocka_unit_test(time_is_in_the_unit_that_suits_it),
		cmocka_unit_test(absent_values_are_gaps_and_not_zero),
		cmocka_unit_test(time_that_nobody_looked_at_is_a_gap),
		cmocka_unit_test(layers_add_up_or_stop),
		cmocka_unit_test(hostile_texts_are_harmless),
		cmocka_unit_test(what_is_cut_off_is_no_drawing),
		cmocka_unit_test(lines_break_between_words),
		cmocka_unit_test(documents_come_as_they_went),
		cmocka_unit_test(scales_go_from_light_to_dark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
