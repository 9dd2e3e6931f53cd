/* SPDX-License-Identifier: Apache-2.0 */
/* Directories of recordings as one run; what is no recording; which is the newest. */
#include <errno.h>
#include <math.h>

#include "base/hash.h"
#include "recording/block.h"
#include "recording/format.h"
#include "recording/record.h"
#include "recording/seal.h"
#include "unit/recording_truth.h"

static const struct metric size_row = { .name = "disk.size_bytes", .label = "Size", .help = "S." };
static const struct metric other_size = {
	.name = "disk.size_bytes", .label = "Size", .help = "S.", .mul = 512
};

/* A recording of one series with one row in dir. */
static void record(int dir, const char *host, const struct metric *m, int64_t utc, int64_t value)
{
	struct writer *w;
	struct sample s;
	uint32_t disk;

	assert_int_equal(sample_init(&s, 64, 64), 0);
	assert_int_equal(writer_open(&w, dir, host, NULL, NULL), 0);
	disk = sample_instance(&s, "disk", host, 0, 0, 0);
	sample_meta_text(&s, "host.name", host);
	sample_begin(&s, utc, 1000);
	sample_put(&s, sample_series(&s, m, 1, disk), value);
	assert_int_equal(writer_sample(w, &s, NULL), 0);
	assert_int_equal(writer_close(w, NULL), 0);
	sample_free(&s);
}

/* What is said of the node: in another order on each, of other keys on the last, and some twice. */
static void record_said(int dir, const char *host, unsigned turn)
{
	struct writer *w;
	struct sample s;
	char key[16];

	assert_int_equal(sample_init(&s, 64, 64), 0);
	assert_int_equal(writer_open(&w, dir, host, NULL, NULL), 0);
	sample_begin(&s, 1000000000, 1000);
	for (unsigned i = 0; i < 20; i++) {
		snprintf(key, sizeof key, "%s.%u", turn == 3 ? "x" : "k", i * (turn ? 7 : 3) % 10);
		sample_meta_int(&s, key, i + 100 * turn);
	}
	assert_int_equal(writer_sample(w, &s, NULL), 0);
	assert_int_equal(writer_close(w, NULL), 0);
	sample_free(&s);
}

static char *directory(void)
{
	static char name[64];

	snprintf(name, sizeof name, "sonde_join_XXXXXX");
	assert_non_null(mkdtemp(name));
	return name;
}

static void test_the_last_that_was_said_of_a_key_is_found(void **state)
{
	static const char *const hosts[] = { "a", "b", "c", "d" };
	const char *dir = directory();
	int fd = open(dir, O_RDONLY | O_DIRECTORY);
	struct run *r;

	(void)state;
	for (unsigned turn = 0; turn < 4; turn++)
		record_said(fd, hosts[turn], turn);
	assert_int_equal(run_open(&r, dir, NULL), 0);
	for (uint32_t node = 1; node <= 4; node++)
		for (unsigned i = 10; i < 20; i++) { /* each key for the second time */
			unsigned turn = node - 1;
			char key[16], other[16];

			snprintf(key, sizeof key, "k.%u", i * (turn ? 7 : 3) % 10);
			snprintf(other, sizeof other, "x.%u", i * 7 % 10);
			assert_true(!run_find_meta(r, node, turn == 3 ? key : other));
			assert_int_equal(run_find_meta(r, node, turn == 3 ? other : key)->value,
					 i + 100 * turn);
		}
	assert_null(run_find_meta(r, 1, ""));
	assert_null(run_find_meta(r, 1, "zzz"));
	run_close(r);
	close(fd);
}

static void test_recordings_of_a_directory_are_one_run(void **state)
{
	const char *dir = directory();
	int fd = open(dir, O_RDONLY | O_DIRECTORY);
	struct run *r;
	struct chunk c;
	uint32_t seen = 0;

	(void)state;
	record(fd, "b", &size_row, 2000000000, 12);
	record(fd, "a", &size_row, 1000000000, 11);
	record(fd, "c", &other_size, 3000000000, 13);
	assert_int_equal(run_open(&r, dir, NULL), 0);
	assert_int_equal(r->nnodes, 4);
	assert_string_equal(r->nodes[1].host, "a");
	assert_int_equal(r->nmetrics, 3); /* another scale is another metric, whatever its name */
	assert_int_equal(r->nseries, 4);
	assert_int_equal(r->t0_utc_ns, 1000000000);
	assert_true(fabs(run_seconds(r, 2, 1000) - 1.0) < 1e-9);
	assert_string_equal(run_find_meta(r, 2, "host.name")->text, "b");
	while (r->next_chunk(r, NULL, &c, NULL) > 0) {
		assert_int_equal(c.ncolumns, 1);
		assert_int_equal(r->series[c.column[0].series].node, c.node);
		assert_string_equal(r->instances[r->series[c.column[0].series].instance].name,
				    r->nodes[c.node].host);
		assert_int_equal(c.column[0].value[0], 10 + c.node);
		seen |= 1u << c.node;
	}
	assert_int_equal(seen, 14);
	assert_int_equal(r->ndamages, 0);
	run_close(r);
	close(fd);
	directory_remove(dir);
}

/* A span, in a file that says first, or too late, that it is of the node of another file. */
static void record_timeline(int dir, const char *host, const char *of, bool first)
{
	const int64_t begin = 500, end = 700;
	const uint16_t which = 0;
	const char *name = "work";
	struct spans spans = { .n = 1,
			       .nnames = 1,
			       .names = &name,
			       .name = &which,
			       .begin_ns = &begin,
			       .end_ns = &end };
	struct writer *w;
	struct sample s;

	assert_int_equal(sample_init(&s, 64, 64), 0);
	assert_int_equal(writer_open(&w, dir, host, NULL, NULL), 0);
	sample_meta_text(&s, first ? FORMAT_TIMELINE_OF : "other", of);
	sample_meta_text(&s, first ? "other" : FORMAT_TIMELINE_OF, of);
	spans.track = sample_instance(&s, "track", "thread", 0, 0, 0);
	assert_int_equal(writer_events(w, &s, NULL), 0);
	assert_int_equal(writer_seal(w, NULL), 0);
	assert_int_equal(writer_spans(w, &spans, NULL), 0);
	assert_int_equal(writer_close(w, NULL), 0);
	sample_free(&s);
}

static void test_a_timeline_is_of_the_node_that_it_names_first(void **state)
{
	static const struct {
		const char *host, *of;
		bool first, joins;
	} rows[] = { { "a.timeline", "node-a.sonde", true, true },
		     { "a.timeline", "node-a.sonde", false, false },
		     { "a.timeline", "node-b.sonde", true, false },
		     { "0", "node-a.sonde", true, false } }; /* which is read later */

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct run_span *span;
		const char *dir = directory();
		int fd = open(dir, O_RDONLY | O_DIRECTORY);
		struct run *r;

		record(fd, "a", &size_row, 1000000000, 7);
		record_timeline(fd, rows[i].host, rows[i].of, rows[i].first);
		assert_int_equal(run_open(&r, dir, NULL), 0);
		assert_int_equal(r->nnodes - 1, rows[i].joins ? 1 : 2);
		assert_int_equal(r->npacks, 1);
		assert_int_equal(r->unpack(r, 0, &span, NULL), 1);
		assert_int_equal(span->begin_ns, 500);
		assert_string_equal(r->nodes[span->node].host, rows[i].joins ? "a" : rows[i].host);
		assert_string_equal(r->instances[span->track].name, "thread");
		assert_int_equal(r->instances[span->track].node, span->node);
		assert_int_equal(r->ndamages, 0);
		run_close(r);
		close(fd);
	}
}

static void test_one_bad_file_does_not_hide_the_others(void **state)
{
	const char *dir = directory();
	int fd = open(dir, O_RDONLY | O_DIRECTORY), bad;
	struct run *r;

	(void)state;
	record(fd, "good", &size_row, 1000, 1);
	bad = openat(fd, "node-bad.sonde", O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(bad, "rubbish", 7), 7);
	close(bad);
	assert_int_equal(run_open(&r, dir, NULL), 0);
	assert_true(r->ndamages > 0);
	assert_non_null(strstr(r->damages[0].file, "node-bad.sonde"));
	assert_int_equal(r->nnodes, 2);
	run_close(r);
	close(fd);
	directory_remove(dir);
}

/* ---- many nodes in one file, as imports make them ---- */

static void file_write(int dir, const char *name, const struct bytes *b)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(write(fd, b->data, b->len), b->len);
	close(fd);
}

/* What a slot holds after one row of one series with this id. */
static void image_make(struct bytes *image, uint32_t series, int64_t value)
{
	struct row_times now = row_times_at(&(struct row_times){ 0 }, 5000 + series, 1000 + series);
	struct rows rows;

	assert_int_equal(rows_init(&rows, 8), 0);
	rows_open(&rows, series, 1, 0, 0);
	bytes_put(image, (uint8_t[COMMIT_HEADER]){ 0 }, COMMIT_HEADER);
	bytes_u8(image, COMMIT_LIST | COMMIT_ROW);
	rows_list_put(image, &rows);
	bytes_u8(image, 0);
	assert_true(rows_fit(&rows, &now, &value, (uint8_t[]){ STATE_PRESENT }, SIZE_MAX));
	rows_put(image, &rows, &now, &value, (uint8_t[]){ STATE_PRESENT });
	image->data[0] = (uint8_t)(image->len - COMMIT_HEADER);
	rows_free(&rows);
}

static void end_put(struct bytes *out, uint32_t sequence)
{
	size_t start = block_start(out, BLOCK_END, sequence);

	bytes_u8(out, 1);
	block_finish(out, start);
}

static void many_nodes(struct bytes *out)
{
	struct event catalogue = {
		.kind = EVENT_CATALOGUE, .node = 1, .count = 1, .metric = &size_row
	};
	struct head head = { .utc_ns = 1, .mono_ns = 1, .host = "importer" };
	struct bytes events = { 0 }, image = { 0 };
	struct sealer sealer;
	uint32_t sequence = 2;
	size_t start = block_start(out, BLOCK_HEAD, 0);

	head_put(out, &head);
	block_finish(out, start);
	record_put(&events, &catalogue, 1);
	for (uint32_t node = 2; node < 5; node++) {
		char host[] = { 'n', (char)('0' + node), '\0' };

		record_put(&events,
			   &(struct event){
				   .kind = EVENT_NODE, .node = node, .id = node, .name = host },
			   0);
		record_put(&events,
			   &(struct event){ .kind = EVENT_SERIES,
					    .node = node,
					    .id = node,
					    .count = 1,
					    .metric = &size_row },
			   1);
	}
	/* One whose instance is not known must not be shown as the node's own. */
	record_put(&events,
		   &(struct event){ .kind = EVENT_SERIES,
				    .node = 2,
				    .id = 9,
				    .parent = 7,
				    .count = 1,
				    .metric = &size_row },
		   1);
	start = block_start(out, BLOCK_EVENTS, 1);
	bytes_varint(out, 1);
	bytes_varint(out, events.len);
	bytes_varint(out, events.len);
	bytes_put(out, events.data, events.len);
	block_finish(out, start);
	assert_int_equal(sealer_init(&sealer, 4096, 4096, 4096), 0);
	for (uint32_t i = 0; i < 7; i++) {
		uint32_t node =
			i < 6 ? 2 + i % 3 : 2; /* the last says values of another node's series */

		bytes_reset(&image);
		image_make(&image, i < 6 ? node : 4, node * 100);
		assert_int_equal(seal(&sealer,
				      &(struct image){ image.data, image.len, node, i + 1 },
				      SEAL_CHUNK, &sequence, out),
				 0);
	}
	end_put(out, sequence);
	sealer_free(&sealer);
	bytes_free(&events);
	bytes_free(&image);
}

static void test_many_nodes_in_one_file(void **state)
{
	const char *dir = directory();
	int fd = open(dir, O_RDONLY | O_DIRECTORY);
	struct bytes out = { 0 };
	uint32_t chunks = 0;
	struct run *r;
	struct chunk c;

	(void)state;
	many_nodes(&out);
	file_write(fd, "node-all.sonde", &out);
	assert_int_equal(run_open(&r, dir, NULL), 0);
	assert_int_equal(r->ndamages, 0);
	assert_int_equal(r->nnodes, 5);
	assert_int_equal(r->nseries, 4);
	for (uint32_t i = 1; i < r->nseries; i++) {
		const struct run_node *n = &r->nodes[r->series[i].node];

		assert_in_range(i, n->first_series, n->behind_series - 1);
		assert_int_equal(n->behind_series - n->first_series, 1); /* each has one */
	}
	for (; r->next_chunk(r, NULL, &c, NULL) > 0; chunks++) {
		if (chunks == 6) {
			assert_int_equal(c.ncolumns, 0);
			continue;
		}
		assert_int_equal(r->nodes[c.node].host[0], 'n');
		assert_int_equal(c.column[0].value[0], (r->nodes[c.node].host[1] - '0') * 100);
		assert_int_equal(r->series[c.column[0].series].node, c.node);
	}
	assert_int_equal(chunks, 7);
	assert_int_equal(r->ndamages, 1);
	assert_int_equal(r->nodes[3].rows, 2);
	run_close(r);
	bytes_free(&out);
	close(fd);
	directory_remove(dir);
}

/* ---- what is no recording ---- */

static int open_fails(const char *path, const char *says)
{
	struct err e = { "" };
	struct run *r;
	int rc = run_open(&r, path, &e);

	assert_null(r);
	if (!strstr(e.text, says))
		fail_msg("\"%s\" says nothing of \"%s\"", e.text, says);
	return rc;
}

static void test_what_is_no_recording_is_named(void **state)
{
	const char *dir = directory();
	int fd = open(dir, O_RDONLY | O_DIRECTORY);
	struct bytes text = { 0 }, later = { 0 };
	char path[128];
	size_t start;

	(void)state;
	assert_int_equal(open_fails("/nonexistent/x", "/nonexistent/x"), -ENOENT);
	assert_int_equal(open_fails(dir, "holds no recording"), -ENODATA);
	bytes_puts(&text, "hello\n");
	file_write(fd, "node-x.sonde", &text);
	assert_int_equal(open_fails(dir, "node-x.sonde"), -ENODATA);
	bytes_reset(&text);
	file_write(fd, "node-x.sonde", &text);
	assert_int_equal(open_fails(dir, "node-x.sonde"), -ENODATA);
	/* A head of a later version, with a right checksum. */
	start = block_start(&later, BLOCK_HEAD, 0);
	bytes_puts(&later, "anything");
	block_finish(&later, start);
	later.data[10] = FORMAT_VERSION + 1;
	bytes_reset(&text);
	bytes_u32(&text, crc32c(0, later.data + 8, later.len - 8));
	memcpy(later.data + 4, text.data, 4);
	file_write(fd, "node-x.sonde", &later);
	assert_int_equal(open_fails(dir, "later version"), -EPROTO);
	snprintf(path, sizeof path, "%s/node-x.sonde", dir);
	assert_int_equal(open_fails(path, path), -EPROTO);
	unlinkat(fd, "node-x.sonde", 0);
	assert_int_equal(mkfifoat(fd, "node-x.sonde", 0600), 0); /* does not hang */
	assert_int_equal(open_fails(dir, "node-x.sonde"), -ENODATA);
	bytes_free(&text);
	bytes_free(&later);
	close(fd);
	directory_remove(dir);
}

/* ---- parts of a recording ---- */

static void test_a_file_or_a_lone_tail_can_be_opened(void **state)
{
	struct truth *t = truth_new(2, NULL);
	struct run *r;
	char path[128];

	(void)state;
	truth_samples(t, 20);
	writer_abandon(t->w);
	snprintf(path, sizeof path, "%s/node-host.sonde", t->dir);
	assert_int_equal(run_open(&r, path, NULL), 0);
	assert_int_equal(truth_check(t, r), t->nvalues);
	run_close(r);
	unlinkat(t->fd, "node-host.sonde", 0);
	assert_int_equal(truth_read(t, &r), t->nvalues);
	assert_string_equal(r->nodes[1].host, "host");
	run_close(r);
	snprintf(path, sizeof path, "%s/node-host.tail", t->dir);
	assert_int_equal(run_open(&r, path, NULL), 0);
	assert_int_equal(truth_check(t, r), t->nvalues);
	run_close(r);
	truth_free(t);
}

static void test_a_strangers_tail_is_left_out(void **state)
{
	struct truth *t = truth_new(2, NULL);
	struct run *r;

	(void)state;
	truth_samples(t, 20);
	record(t->fd, "other", &size_row, 1, 1);
	writer_abandon(t->w);
	assert_int_equal(renameat(t->fd, "node-host.tail", t->fd, "node-other.tail"), 0);
	assert_int_equal(run_open(&r, t->dir, NULL), 0);
	assert_true(r->ndamages > 0);
	for (uint32_t i = 1; i < r->nnodes; i++)
		assert_true(r->nodes[i].rows == (strcmp(r->nodes[i].host, "other") ? 0 : 1));
	run_close(r);
	truth_free(t);
}

/* ---- the newest ---- */

static void test_the_newest_recording_is_found(void **state)
{
	const char *dir = directory();
	int fd = open(dir, O_RDONLY | O_DIRECTORY), sub;
	char out[256];
	struct err e = { "" };

	(void)state;
	assert_int_equal(run_newest(dir, out, sizeof out, &e), -ENOENT);
	assert_non_null(strstr(e.text, dir));
	for (int i = 0; i < 6; i++) { /* the latest is neither first nor last by name */
		static const char *const names[] = { "sonde_b", "sonde_d", "sonde_a",
						     "sonde_f", "sonde_c", "sonde_e" };

		assert_int_equal(mkdirat(fd, names[i], 0700), 0);
		sub = openat(fd, names[i], O_RDONLY | O_DIRECTORY);
		if (i < 5)
			record(sub, "h", &size_row, 1, 1);
		close(sub);
	}
	assert_int_equal(run_newest(dir, out, sizeof out, &e), 0);
	assert_string_equal(out + strlen(dir), "/sonde_c");
	for (int i = 0; i < 6; i++) {
		snprintf(out, sizeof out, "%s/sonde_%c", dir, 'a' + i);
		directory_remove(out);
	}
	close(fd);
	directory_remove(dir);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_recordings_of_a_directory_are_one_run),
	cmocka_unit_test(test_the_last_that_was_said_of_a_key_is_found),
	cmocka_unit_test(test_a_timeline_is_of_the_node_that_it_names_first),
	cmocka_unit_test(test_one_bad_file_does_not_hide_the_others),
	cmocka_unit_test(test_many_nodes_in_one_file),
	cmocka_unit_test(test_what_is_no_recording_is_named),
	cmocka_unit_test(test_a_file_or_a_lone_tail_can_be_opened),
	cmocka_unit_test(test_a_strangers_tail_is_left_out),
	cmocka_unit_test(test_the_newest_recording_is_found),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
