/* SPDX-License-Identifier: Apache-2.0 */
/* What parallel file systems tell everybody: BeeGFS a little, GPFS nothing. */
#include "unit/one_source.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

extern const struct source source_beegfs, source_gpfs;

#define CLIENT "2F1A3-65A1B2C3-node01"
#define IS(metric, number)                                                                         \
	assert_int_equal(node_value(&x.n, "beegfs." metric, CLIENT), (int64_t)(number))

static void servers_connections_and_targets_are_counted(void **unused)
{
	char proc[512];
	struct one x;

	(void)unused;
	one_open(&x, &source_beegfs, one_fixture(proc, "beegfs/proc"), NULL);
	assert_int_equal(x.result, 0);
	one_read(&x);
	IS("storage_servers_count", 3);
	IS("metadata_servers_count", 1);
	IS("rdma_connections_count", 12);
	IS("tcp_connections_count", 4);
	IS("fallback_servers_count", 1);
	IS("targets_count", 4);
	IS("targets_offline_count", 2);
	IS("targets_inconsistent_count", 1);
	one_read(&x);
	IS("targets_count", -1); /* every 10 s */
	one_close(&x);
	one_open(&x, &source_beegfs, ".", NULL);
	assert_int_equal(x.result, -ENODEV);
	one_close(&x);
}

static void write_file(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void what_is_missing_is_absent(void **unused)
{
	struct one x;

	(void)unused;
	mkdir("fs", 0700);
	mkdir("fs/beegfs", 0700);
	mkdir("fs/beegfs/" CLIENT, 0700);
	write_file("fs/beegfs/" CLIENT "/storage_nodes", "a [ID: 1]\n   Connections: TCP: 1");
	write_file("fs/beegfs/" CLIENT "/meta_nodes", "b [ID: 1]\n");
	write_file("fs/beegfs/" CLIENT "/storage_target_state", "");
	write_file("fs/beegfs/" CLIENT "/meta_target_state", "nonsense\n");
	one_open(&x, &source_beegfs, ".", NULL);
	assert_int_equal(x.result, 0);
	one_read(&x);
	assert_true(x.result < 0);
	IS("tcp_connections_count", -1); /* its file was cut */
	IS("metadata_servers_count", -1);
	IS("targets_count", 0);
	unlink("fs/beegfs/" CLIENT "/storage_nodes");
	unlink("fs/beegfs/" CLIENT "/meta_nodes");
	unlink("fs/beegfs/" CLIENT "/storage_target_state");
	unlink("fs/beegfs/" CLIENT "/meta_target_state");
	rmdir("fs/beegfs/" CLIENT);
	for (int i = 0; i < 10; i++)
		one_read(&x);
	assert_int_equal(one_events(&x, EVENT_END, CLIENT), 1);
	one_close(&x);
	rmdir("fs/beegfs");
	assert_int_equal(rmdir("fs"), 0);
}

static void sums_of_absurd_counts_stop_at_the_largest(void **unused)
{
	struct one x;

	(void)unused;
	mkdir("fs", 0700);
	mkdir("fs/beegfs", 0700);
	mkdir("fs/beegfs/" CLIENT, 0700);
	write_file("fs/beegfs/" CLIENT "/storage_nodes",
		   "a [ID: 1]\n   Connections: TCP: 6148914691236517204\n"
		   "b [ID: 2]\n   Connections: TCP: 6148914691236517204\n");
	write_file("fs/beegfs/" CLIENT "/meta_nodes", "c [ID: 3]\n");
	one_open(&x, &source_beegfs, ".", NULL);
	one_read(&x);
	IS("tcp_connections_count", INT64_MAX);
	one_close(&x);
	unlink("fs/beegfs/" CLIENT "/storage_nodes");
	unlink("fs/beegfs/" CLIENT "/meta_nodes");
	rmdir("fs/beegfs/" CLIENT);
	rmdir("fs/beegfs");
	assert_int_equal(rmdir("fs"), 0);
}

static void gpfs_is_named_where_it_is_mounted(void **unused)
{
	char proc[512];
	struct one x;

	(void)unused;
	one_open(&x, &source_gpfs, one_fixture(proc, "beegfs/proc"), NULL);
	assert_int_equal(x.result, -EACCES);
	one_close(&x);
	one_open(&x, &source_gpfs, one_fixture(proc, "nfs/proc"), NULL);
	assert_int_equal(x.result, -ENODEV);
	one_close(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(servers_connections_and_targets_are_counted),
		cmocka_unit_test(what_is_missing_is_absent),
		cmocka_unit_test(sums_of_absurd_counts_stop_at_the_largest),
		cmocka_unit_test(gpfs_is_named_where_it_is_mounted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
