/* SPDX-License-Identifier: Apache-2.0 */
/* What the job does on GPUs, by the fdinfo of their device files, over a made /proc and /sys: one
 * of AMD's whose render node is 128, one of Intel's (129), one of NVIDIA's that is none of these.
 */
#include "unit/job_scene.h"

extern const struct source source_drm;

static void put_info(const struct scene *x, int pid, int fd, const char *text)
{
	char name[64];

	snprintf(name, sizeof name, "%d/fdinfo/%d", pid, fd);
	tree_put(x->dir, name, "pos:\t0\n%s", text);
}

/* An AMD client: its id, time of its engine gfx in ms, memory in MiB. */
static void put_client(const struct scene *x, int pid, int fd, int id, int ms, int mib)
{
	char text[256];

	scene_put_link(x, pid, fd, "/dev/dri/renderD128");
	snprintf(text, sizeof text,
		 "drm-driver:\tamdgpu\ndrm-client-id:\t%d\ndrm-engine-gfx:\t%d000000 ns\n"
		 "drm-resident-vram:\t%d MiB\ndrm-resident-gtt:\t1 MiB\n",
		 id, ms, mib);
	put_info(x, pid, fd, text);
}

static void put_gpu(const struct scene *x, int card, int render, const char *driver)
{
	char name[96];

	snprintf(name, sizeof name, "class/drm/renderD%d/device/uevent", render);
	tree_put(x->dir, name, "DRIVER=%s\nPCI_ID=1002:7408\nPCI_SLOT_NAME=0000:%02x:00.0\n",
		 driver, render);
	snprintf(name, sizeof name, "class/drm/renderD%d/device/drm/card%d/dev", render, card);
	tree_put(x->dir, name, "226:%d\n", card);
	snprintf(name, sizeof name, "class/drm/renderD%d/device/drm/renderD%d/dev", render, render);
	tree_put(x->dir, name, "226:%d\n", render);
}

static int set_up(void **state)
{
	struct scene *x = scene_begin();

	put_gpu(x, 1, 128, "amdgpu");
	put_gpu(x, 0, 129, "xe");
	put_gpu(x, 2, 130, "nvidia");
	scene_number(x, 2);
	scene_put_link(x, 500, 0, "/dev/null");
	scene_put_link(x, 501, 0, "/dev/dri/renderD130");
	scene_put_link(x, 501, 1, "/dev/dri/by-path");
	tree_put(x->dir, "500/comm", "train\n");
	scene_open(x, &source_drm);
	*state = x;
	return 0;
}

static void gpus_have_their_names(void **state)
{
	struct scene *x = *state;

	assert_string_equal(one_label(&x->one, "card1", "device_file"), "/dev/dri/renderD128");
	assert_string_equal(one_label(&x->one, "card1", "driver"), "amdgpu");
	assert_string_equal(one_label(&x->one, "card1", "pci"), "0000:80:00.0");
	assert_string_equal(one_label(&x->one, "card0", "driver"), "xe");
	assert_int_equal(node_slot(&x->one.n, "drm.job_clients_count", "card2"), 0);
}

static void a_job_without_clients_uses_nothing(void **state)
{
	struct scene *x = *state;

	read_for(x, 1);
	assert_int_equal(of(x, "drm.job_clients_count", "card1"), 0);
	assert_int_equal(of(x, "drm.job_device_memory_bytes", "card1"), 0);
}

static void use_is_counted_from_when_it_is_seen(void **state)
{
	struct scene *x = *state;

	put_client(x, 500, 5, 61, 9000, 10);
	read_for(x, 1);
	assert_int_equal(of(x, "drm.job_clients_count", "card1"), 1);
	assert_int_equal(of(x, "drm.job_clients_count", "card0"), 0);
	assert_int_equal(of(x, "drm.job_device_memory_bytes", "card1"), 10 << 20);
	assert_int_equal(of(x, "drm.job_host_memory_bytes", "card1"), 1 << 20);
	assert_int_equal(of(x, "drm_engine.job_busy_seconds", "card1 gfx"), 0);
	assert_int_equal(of(x, "drm_engine.engines_count", "card1 gfx"), 1);
	put_client(x, 500, 5, 61, 9400, 30);
	read_for(x, 1);
	assert_int_equal(of(x, "drm_engine.job_busy_seconds", "card1 gfx"), 400000000);
	assert_int_equal(of(x, "drm.job_device_memory_bytes", "card1"), 30 << 20);
	assert_int_equal(of(x, "gpu_process.engine_seconds", "train (500)"), 400000000);
	assert_int_equal(of(x, "gpu_process.memory_bytes", "train (500)"), 30 << 20);
	/* Not read twice within a second. */
	one_step(&x->one, 100000000);
	assert_int_equal(of(x, "drm.job_clients_count", "card1"), -1);
	assert_int_equal(one_state(&x->one, "drm_engine.job_cycles", "card1 gfx"),
			 STATE_UNSUPPORTED);
}

static void a_shared_client_counts_once(void **state)
{
	struct scene *x = *state;

	put_client(x, 500, 5, 61, 100, 10);
	put_client(x, 500, 6, 61, 100, 10);
	put_client(x, 501, 7, 61, 100, 10);
	put_client(x, 501, 8, 62, 50, 1);
	read_for(x, 1);
	put_client(x, 500, 5, 61, 200, 10);
	put_client(x, 500, 6, 61, 200, 10);
	put_client(x, 501, 7, 61, 200, 10);
	read_for(x, 1);
	assert_int_equal(of(x, "drm.job_clients_count", "card1"), 2);
	assert_int_equal(of(x, "drm.job_device_memory_bytes", "card1"), 11 << 20);
	assert_int_equal(of(x, "drm_engine.job_busy_seconds", "card1 gfx"), 100000000);
}

static void who_ends_takes_nothing_back(void **state)
{
	struct scene *x = *state;
	char command[96];

	put_client(x, 500, 5, 61, 100, 10);
	read_for(x, 1);
	put_client(x, 500, 5, 61, 300, 10);
	read_for(x, 1);
	snprintf(command, sizeof command, "rm -r %s/500", x->dir);
	assert_int_equal(system(command), 0);
	read_for(x, 5);
	assert_int_equal(of(x, "drm_engine.job_busy_seconds", "card1 gfx"), 200000000);
	assert_int_equal(of(x, "drm.job_clients_count", "card1"), 0);
	assert_int_equal(of(x, "drm.job_device_memory_bytes", "card1"), 0);
	assert_int_equal(one_events(&x->one, EVENT_END, "train (500)"), 1);
}

static void a_descriptor_that_is_another_file_now_is_none(void **state)
{
	struct scene *x = *state;

	put_client(x, 500, 5, 61, 100, 10);
	read_for(x, 1);
	scene_put_link(x, 500, 5, "/tmp/x");
	put_info(x, 500, 5, "mnt_id:\t1\n");
	read_for(x, 1);
	assert_int_equal(of(x, "drm.job_clients_count", "card1"), 0);
	assert_int_equal(one_state(&x->one, "drm.job_clients_count", "card1"), STATE_PRESENT);
}

/* A GPU of Intel's, by its primary node; xe tells cycles and no time. */
static void cycles_are_told_where_there_is_no_time(void **state)
{
	static const char text[] = "drm-client-id:\t4\ndrm-cycles-ccs:\t%d\n"
				   "drm-total-cycles-ccs:\t%d\ndrm-engine-capacity-ccs:\t4\n";
	struct scene *x = *state;

	scene_put_link(x, 501, 3, "/dev/dri/card0");
	tree_put(x->dir, "501/fdinfo/3", text, 1000, 50000);
	read_for(x, 1);
	tree_put(x->dir, "501/fdinfo/3", text, 1600, 60000);
	read_for(x, 1);
	assert_int_equal(of(x, "drm_engine.job_cycles", "card0 ccs"), 600);
	assert_int_equal(of(x, "drm_engine.cycles", "card0 ccs"), 60000);
	assert_int_equal(of(x, "drm_engine.engines_count", "card0 ccs"), 4);
	assert_int_equal(one_state(&x->one, "drm_engine.job_busy_seconds", "card0 ccs"),
			 STATE_UNSUPPORTED);
	assert_int_equal(of(x, "drm.job_device_memory_bytes", "card0"), -1);
	assert_int_equal(one_state(&x->one, "drm.job_device_memory_bytes", "card0"),
			 STATE_UNSUPPORTED);
}

static void each_trouble_has_its_reason(void **state)
{
	struct scene *x = *state;

	put_client(x, 500, 5, 61, 100, 10);
	forbidden = "501/fd";
	read_for(x, 2);
	assert_int_equal(of(x, "drm.job_clients_count", "card1"), -1);
	assert_int_equal(one_state(&x->one, "drm.job_clients_count", "card1"), STATE_FORBIDDEN);
	forbidden = NULL;
	read_for(x, 4);
	assert_int_equal(of(x, "drm.job_clients_count", "card1"), 1);
	assert_int_equal(one_state(&x->one, "drm.job_clients_count", "card1"), STATE_PRESENT);
	put_info(x, 500, 5, "drm-client-id:\t61\ndrm-engine-gfx:\tmany ns\n");
	read_for(x, 1);
	assert_int_equal(one_state(&x->one, "drm.job_clients_count", "card1"), STATE_FAILED);
	put_info(x, 500, 5, "drm-client-id:\t61\n");
	read_for(x, 1);
	assert_int_equal(of(x, "drm.job_clients_count", "card1"), 1);
}

static void an_old_driver_tells_of_no_clients(void **state)
{
	struct scene *x = *state;

	scene_put_link(x, 500, 5, "/dev/dri/renderD128");
	put_info(x, 500, 5, "pdev:\t0000:80:00.0\nvram mem:\t4 kB\n");
	read_for(x, 1);
	assert_int_equal(of(x, "drm.job_clients_count", "card1"), -1);
	assert_int_equal(one_state(&x->one, "drm.job_clients_count", "card1"), STATE_UNSUPPORTED);
	assert_int_equal(of(x, "drm.job_clients_count", "card0"), 0);
}

/* 40 clients are three seconds' looks; 300 files, five seconds' scan. */
static void a_round_takes_as_long_as_it_takes(void **state)
{
	struct scene *x = *state;
	int put = 0;

	for (int i = 0; i < 40; i++)
		put_client(x, 500, 5 + i, 100 + i, 0, 1);
	for (int i = 0; i < 300; i++)
		scene_put_link(x, 501, 10 + i, "/tmp/file");
	one_read(&x->one);
	assert_int_equal(of(x, "drm.job_clients_count", "card1"), -1);
	read_for(x, 10);
	for (int i = 0; i < 9; i++) {
		one_read(&x->one);
		put += of(x, "drm.job_clients_count", "card1") == 40;
		assert_true(of(x, "drm.job_clients_count", "card1") == 40 ||
			    of(x, "drm.job_clients_count", "card1") == -1);
	}
	assert_int_equal(put, 3);
	assert_int_equal(one_events(&x->one, EVENT_INSTANCE, "train (500)"), 1);
}

static void more_than_are_looked_at_is_no_sum(void **state)
{
	struct scene *x = *state;

	for (int i = 0; i < 300; i++)
		put_client(x, 500, 5 + i, 100 + i, 0, 1);
	read_for(x, 40);
	assert_int_equal(one_state(&x->one, "drm.job_clients_count", "card1"), STATE_FAILED);
}

static size_t process_4242(const void *tree, pid_t *out, size_t cap)
{
	(void)tree;
	assert_true(cap > 0);
	out[0] = 4242;
	return 1;
}

/* A whole machine, tests/nodes/eight_gpus.py: of four GPUs of AMD's the process has one open twice,
 * by the same client, and another one once. */
static void a_machine_of_many_gpus(void **unused)
{
	const char *build = getenv("BUILD");
	char proc[512], sys[512];
	struct one x;

	(void)unused;
	snprintf(proc, sizeof proc, "%s/nodes/eight-gpus/proc", build ? build : "build");
	snprintf(sys, sizeof sys, "%s/nodes/eight-gpus/sys", build ? build : "build");
	one_open(&x, &source_drm, proc, sys);
	assert_int_equal(x.result, 0);
	x.n.env.job = (struct source_job){ .tree = &x, .pids = process_4242 };
	one_read(&x);
	assert_int_equal(node_value(&x.n, "drm.job_clients_count", "card1"), 1);
	assert_int_equal(node_value(&x.n, "drm.job_clients_count", "card2"), 0);
	assert_int_equal(node_value(&x.n, "drm.job_clients_count", "card3"), 1);
	assert_int_equal(node_value(&x.n, "drm.job_device_memory_bytes", "card1"),
			 INT64_C(1048588) * 1024);
	assert_int_equal(node_value(&x.n, "drm.job_host_memory_bytes", "card3"),
			 INT64_C(3 * 2060) * 1024);
	assert_int_equal(node_value(&x.n, "drm_engine.engines_count", "card1 compute"), 4);
	one_close(&x);
}

static void without_a_gpu_it_is_off(void **unused)
{
	struct one x;

	(void)unused;
	mkdir("empty", 0755);
	one_open(&x, &source_drm, "empty", "empty");
	assert_int_equal(x.result, -ENODEV);
	one_close(&x);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, scene_end)
	const struct CMUnitTest tests[] = {
		TEST(gpus_have_their_names),
		TEST(a_job_without_clients_uses_nothing),
		TEST(use_is_counted_from_when_it_is_seen),
		TEST(a_shared_client_counts_once),
		TEST(who_ends_takes_nothing_back),
		TEST(a_descriptor_that_is_another_file_now_is_none),
		TEST(cycles_are_told_where_there_is_no_time),
		TEST(each_trouble_has_its_reason),
		TEST(an_old_driver_tells_of_no_clients),
		TEST(a_round_takes_as_long_as_it_takes),
		TEST(more_than_are_looked_at_is_no_sum),
		cmocka_unit_test(a_machine_of_many_gpus),
		cmocka_unit_test(without_a_gpu_it_is_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
