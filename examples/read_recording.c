/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a recording with libsonde: what ran where, and the job's busiest moment.
 *
 *     cc -Iinclude examples/read_recording.c build/libsonde.a -lzstd -lm -o read_recording
 *     ./read_recording sonde_1234
 *
 * Host names, commands and process names are printed as they are; a program that shows them on a
 * terminal must escape them.
 */
#include <math.h>
#include <sonde.h>
#include <stdio.h>

static void print_nodes(const struct sonde_run *run)
{
	struct sonde_meta command;

	if (sonde_meta_find(run, "job.command", &command) && command.text)
		printf("command: %s\n", command.text);
	for (size_t id = 1; id <= sonde_node_count(run); id++) {
		struct sonde_node node;

		sonde_node_get(run, id, &node);
		printf("node %zu: %s, %llu samples, %s\n", id, node.host,
		       (unsigned long long)node.samples, node.complete ? "complete" : "not closed");
	}
	printf("%zu metrics, %zu instances, %zu damaged places\n", sonde_metric_count(run),
	       sonde_instance_count(run), sonde_damage_count(run));
}

/* The largest value of one metric, over all nodes. Absent values are skipped: they are not 0. */
static int print_peak(struct sonde_run *run, const char *metric, struct sonde_error *error)
{
	struct sonde_selection selection = { .table = SONDE_SERIES,
					     .metrics = metric,
					     .combine = true };
	struct sonde_rows *rows = sonde_rows_open(run, &selection, error);
	double peak = NAN, at = NAN;
	size_t value, seconds;
	int rc;

	if (!rows)
		return -1;
	value = sonde_column_find(rows, "value");
	seconds = sonde_column_find(rows, "seconds");
	while ((rc = sonde_rows_next(rows, error)) > 0) {
		if (!sonde_cell_present(rows, value) || sonde_cell_real(rows, value) <= peak)
			continue;
		peak = sonde_cell_real(rows, value);
		at = sonde_cell_real(rows, seconds);
	}
	if (isnan(peak))
		printf("%s: no value\n", metric);
	else
		printf("%s: at most %g, after %.3f s\n", metric, peak, at);
	sonde_rows_close(rows);
	return rc;
}

int main(int argc, char **argv)
{
	struct sonde_error error = { 0 };
	struct sonde_run *run;
	int rc;

	if (argc != 2) {
		fprintf(stderr, "usage: read_recording DIR\n");
		return 2;
	}
	run = sonde_open(argv[1], &error);
	if (!run) {
		fprintf(stderr, "read_recording: %s\n", error.text);
		return 1;
	}
	print_nodes(run);
	rc = print_peak(run, "job.cpu_cores", &error);
	if (rc < 0)
		fprintf(stderr, "read_recording: %s\n", error.text);
	sonde_close(run);
	return rc < 0;
}
