/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA GPUs by way of a library that is present, old, in error, hangs or crashes. */
#include "source/gpu/nvidia_page.h"
#include "unit/nvidia_gpus.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* What the third GPU of the stand-in tells. */
static const struct {
	const char *metric;
	int64_t value;
} of_gpu_3[] = {
	{ "gpu.utilization_ratio", 40 },
	{ "gpu.memory_utilization_ratio", 20 },
	{ "gpu.memory_used_bytes", 80000003 },
	{ "gpu.memory_total_bytes", 1000000000 },
	{ "gpu.memory_free_bytes", 869999997 },
	{ "gpu.memory_reserved_bytes", 50000000 },
	{ "gpu.bar1_used_bytes", 56 },
	{ "gpu.bar1_total_bytes", 256 },
	{ "gpu.power_watts", 100003000 },
	{ "gpu.power_limit_watts", 700000000 },
	{ "gpu.temperature_celsius", 43000 },
	{ "gpu.temperature_limit_celsius", 93000 },
	{ "gpu.memory_temperature_celsius", 63000 },
	{ "gpu.graphics_clock_hertz", INT64_C(1003000000) },
	{ "gpu.clock_hertz", INT64_C(1103000000) },
	{ "gpu.memory_clock_hertz", INT64_C(1203000000) },
	{ "gpu.video_clock_hertz", INT64_C(1303000000) },
	{ "gpu.clock_limit_hertz", INT64_C(1980000000) },
	{ "gpu.fan_ratio", 30 },
	{ "gpu.performance_state", 0 },
	{ "gpu.clock_event_reasons", 4 },
	{ "gpu.encoder_utilization_ratio", 4 },
	{ "gpu.decoder_utilization_ratio", 5 },
	{ "gpu.pcie_sent_bytes", 197003 },
	{ "gpu.pcie_received_bytes", 198003 },
	{ "gpu.pcie_replays", 7 },
	{ "gpu.pcie_generation", 5 },
	{ "gpu.pcie_width_count", 16 },
	{ "gpu.ecc_corrected_errors", 103 },
	{ "gpu.ecc_uncorrected_errors", 4 },
	{ "gpu.remapped_rows_corrected", 3 },
	{ "gpu.remapped_rows_uncorrected", 4 },
	{ "gpu.throttled_power_seconds", 1 * NS_PER_S },
	{ "gpu.throttled_thermal_seconds", 2 * NS_PER_S },
	{ "gpu.throttled_reliability_seconds", 6 * NS_PER_S },
	{ "gpu.below_application_clock_seconds", 11 * NS_PER_S },
	{ "gpu.below_base_clock_seconds", 12 * NS_PER_S },
	{ "gpu.nvlink_sent_bytes", 138003 },
	{ "gpu.nvlink_received_bytes", 139003 },
	{ "gpu.nvlink_crc_errors", 38003 },
	{ "gpu.nvlink_replays", 52003 },
	{ "gpu.nvlink_active_count", 17 },
	{ "gpu.processes_count", 3 },
	{ "gpu.job_processes_count", 2 },
	{ "gpu.job_memory_bytes", 300 },
	{ "gpu.other_processes_count", 1 },
	{ "gpu.other_memory_bytes", 4000 },
};

static void eight_gpus_tell_everything(void **unused)
{
	struct gpus g;

	(void)unused;
	setenv("FAKE_NVML_PROCESSES", "4321@3=100,4322@3=200,99@3=4000,98@0=5", 1);
	assert_int_equal(gpus_open(&g, 0), 0);
	assert_true(value_of(&g, "gpu.energy_joules", "gpu3") > 3000000);
	for (size_t i = 0; i < sizeof of_gpu_3 / sizeof of_gpu_3[0]; i++)
		if (node_value(&g.n, of_gpu_3[i].metric, "gpu3") != of_gpu_3[i].value)
			fail_msg("%s is %" PRId64, of_gpu_3[i].metric,
				 node_value(&g.n, of_gpu_3[i].metric, "gpu3"));
	assert_int_equal(node_value(&g.n, "gpu.utilization_ratio", "gpu7"), 80);
	assert_int_equal(node_value(&g.n, "gpu.processes_count", "gpu7"), 0);
	/* P32 says that it is not known. */
	assert_int_equal(node_value(&g.n, "gpu.performance_state", "gpu0"), -1);
	assert_refused(&g, "gpu.nvlink_recoveries", "gpu3", STATE_UNSUPPORTED, "does not report");
	/* Who has memory there, whoever it is. */
	assert_int_equal(node_value(&g.n, "gpu_process.memory_bytes", "other (99)"), 4000);
	assert_string_equal(label_of(&g, "other (99)", "job"), "no");
	assert_int_equal(node_value(&g.n, "gpu_process.memory_bytes", "python (4321)"), 100);
	assert_string_equal(label_of(&g, "python (4321)", "job"), "yes");
	gpus_close(&g);
	assert_false(has_children());
}

static void gpus_have_names_and_the_driver_a_version(void **unused)
{
	struct gpus g;

	(void)unused;
	assert_int_equal(gpus_open(&g, 0), 0);
	assert_true(value_of(&g, "gpu.power_watts", "gpu3") > 0);
	assert_string_equal(label_of(&g, "gpu3", "uuid"),
			    "GPU-00000003-0000-0000-0000-000000000000");
	assert_string_equal(label_of(&g, "gpu3", "pci"), "0000:13:00.0");
	assert_string_equal(label_of(&g, "gpu3", "model"), "Fake H200");
	assert_string_equal(label_of(&g, "gpu3", "device_file"), "/dev/nvidia4");
	assert_string_equal(meta(&g, "nvidia.driver"), "570.86.15");
	assert_string_equal(meta(&g, "nvidia.cuda"), "12.8");
	assert_true(node_value(&g.n, "monitor.nvml_resident_bytes", "-") > 4096);
	assert_true(node_value(&g.n, "monitor.nvml_cpu_seconds", "-") > 0);
	gpus_close(&g);
}

static void the_next_answer_is_fresh(void **unused)
{
	struct gpus g;
	int64_t first, age_ns;

	(void)unused;
	assert_int_equal(gpus_open(&g, 0), 0);
	first = value_of(&g, "gpu.energy_joules", "gpu1");
	gpus_read(&g); /* nothing new */
	assert_int_equal(node_value(&g.n, "gpu.energy_joules", "gpu1"), -1);
	nanosleep(&(struct timespec){ .tv_sec = 1 }, NULL);
	assert_true(value_of(&g, "gpu.energy_joules", "gpu1") > first);
	age_ns = node_value(&g.n, "monitor.nvml_age_seconds", "-");
	assert_true(age_ns >= 0 && age_ns < 30 * NS_PER_S);
	/* What changes rarely is not read every time. */
	assert_int_equal(node_value(&g.n, "gpu.ecc_corrected_errors", "gpu1"), -1);
	gpus_close(&g);
}

static void whose_gpus_they_are_is_known(void **unused)
{
	struct gpus g;

	(void)unused;
	setenv("FAKE_NVML_PROCESSES", "4322@6=200", 1);
	assert_int_equal(gpus_open(&g, 0), 0);
	for (int i = 0; i < 2; i++) {
		assert_true(value_of(&g, "gpu.utilization_ratio", "gpu0") >= 0);
		nanosleep(&(struct timespec){ .tv_sec = 1 }, NULL);
	}
	assert_true(value_of(&g, "gpu.utilization_ratio", "gpu0") >= 0);
	assert_string_equal(label_of(&g, "gpu1", "job"), "CUDA_VISIBLE_DEVICES");
	assert_string_equal(label_of(&g, "gpu2", "job"), "CUDA_VISIBLE_DEVICES");
	assert_string_equal(label_of(&g, "gpu5", "job"), "open device file"); /* /dev/nvidia2 */
	assert_string_equal(label_of(&g, "gpu6", "job"), "compute context");
	/* The driver has 10 boards and shows 8. */
	assert_string_equal(label_of(&g, "gpu0", "job"), "the driver shows no others (cgroup)");
	gpus_close(&g);
}

static void an_old_library_tells_what_it_can(void **unused)
{
	struct gpus g;

	(void)unused;
	setenv("SONDE_NVML", stub("fake_nvml_old"), 1);
	setenv("FAKE_NVML_ENTRY", "16", 1);
	setenv("FAKE_NVML_PROCESSES", "4321@2=100", 1);
	assert_int_equal(gpus_open(&g, 0), 0);
	assert_int_equal(value_of(&g, "gpu.utilization_ratio", "gpu2"), 30);
	assert_int_equal(node_value(&g.n, "gpu.memory_used_bytes", "gpu2"), 100000002);
	assert_int_equal(node_value(&g.n, "gpu.power_watts", "gpu2"), 100002000);
	assert_int_equal(node_value(&g.n, "gpu.job_memory_bytes", "gpu2"), 100);
	assert_refused(&g, "gpu.energy_joules", "gpu2", STATE_UNSUPPORTED, "no function for it");
	assert_refused(&g, "gpu.job_sm_utilization_ratio", "gpu2", STATE_UNSUPPORTED,
		       "no function for it");
	assert_refused(&g, "gpu.memory_reserved_bytes", "gpu2", STATE_UNSUPPORTED, "no function");
	assert_refused(&g, "gpu.pcie_sent_bytes", "gpu2", STATE_UNSUPPORTED, "no function for it");
	assert_refused(&g, "gpu.nvlink_active_count", "gpu2", STATE_UNSUPPORTED, "no function");
	/* Without counters of the bytes, PCIe is sampled. */
	assert_int_equal(value_of(&g, "gpu.pcie_sampled_sent_bytes_per_second", "gpu2"), 1000000);
	assert_int_equal(node_value(&g.n, "gpu.pcie_sampled_received_bytes_per_second", "gpu2"),
			 2000000);
	gpus_close(&g);
}

static void each_error_is_its_state(void **unused)
{
	struct gpus g;

	(void)unused;
	setenv("FAKE_NVML_FAIL",
	       "DeviceGetPowerUsage@1=3,DeviceGetPowerUsage@2=4,DeviceGetPowerUsage@3=15,"
	       "DeviceGetPowerUsage@4=999,DeviceGetPowerUsage@5=21,DeviceGetHandleByIndex@6=4,"
	       "DeviceGetComputeRunningProcesses@0=4",
	       1);
	assert_int_equal(gpus_open(&g, 0), 0);
	assert_int_equal(value_of(&g, "gpu.power_watts", "gpu0"), 100000000);
	assert_refused(&g, "gpu.power_watts", "gpu1", STATE_UNSUPPORTED, "does not report");
	assert_refused(&g, "gpu.power_watts", "gpu2", STATE_FORBIDDEN, "not permit");
	assert_refused(&g, "gpu.power_watts", "gpu3", STATE_FAILED, "fell off the bus");
	assert_refused(&g, "gpu.power_watts", "gpu4", STATE_FAILED, "does not say why");
	assert_null(state_of_series(&g, "gpu.power_watts", "gpu5"));
	assert_int_equal(node_value(&g.n, "gpu.power_watts", "gpu5"), -1);
	assert_refused(&g, "gpu.utilization_ratio", "gpu6", STATE_FORBIDDEN, "not permit");
	assert_int_equal(node_value(&g.n, "gpu.utilization_ratio", "gpu3"), 40);
	assert_refused(&g, "gpu.job_memory_bytes", "gpu0", STATE_FORBIDDEN, "not permit");
	gpus_close(&g);
}

static void a_library_that_cannot_begin_says_why(void **unused)
{
	static const struct {
		const char *fail;
		int result;
		const char *why;
	} cases[] = {
		{ "Init=9", -ENODEV, "driver is not loaded" },
		{ "Init=18", -EIO, "different versions" },
		{ "Init=4", -EACCES, "not permit" },
		{ "DeviceGetCount=999", -EIO, "does not say why" },
	};
	struct gpus g;

	(void)unused;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		setenv("FAKE_NVML_FAIL", cases[i].fail, 1);
		assert_int_equal(gpus_open(&g, 20 * NS_PER_S), cases[i].result);
		assert_non_null(strstr(g.n.why[0].text, cases[i].why));
		assert_false(has_children());
		gpus_close(&g);
	}
	/* A recording learns it later, and goes on. */
	setenv("FAKE_NVML_FAIL", "Init=18", 1);
	assert_int_equal(gpus_open(&g, 0), 0);
	read_until_said(&g, "source.nvidia");
	assert_non_null(
		strstr(meta(&g, "source.nvidia"), "failed: NVIDIA's library and the loaded"));
	gpus_read(&g);
	gpus_close(&g);
}

static void a_missing_library_is_unsupported(void **unused)
{
	struct gpus g;

	(void)unused;
	setenv("SONDE_NVML", "/nowhere/libnvidia-ml.so.1", 1);
	assert_int_equal(gpus_open(&g, 20 * NS_PER_S), -ENOENT);
	assert_non_null(strstr(g.n.why[0].text, "/nowhere/libnvidia-ml.so.1"));
	gpus_close(&g);
	setenv("SONDE_NVML", "libm.so.6", 1);
	assert_int_equal(gpus_open(&g, 20 * NS_PER_S), -ENOSYS);
	assert_non_null(strstr(g.n.why[0].text, "has no nvmlInit_v2"));
	gpus_close(&g);
	unsetenv("SONDE_NVML");
	assert_int_equal(gpus_open(&g, 0), -ENODEV);
	gpus_close(&g);
}

static void a_missing_helper_is_unsupported(void **unused)
{
	struct gpus g;

	(void)unused;
	setenv("SONDE_LIBEXEC", "/nowhere", 1);
	assert_int_equal(gpus_open(&g, 0), -ENOENT);
	assert_non_null(strstr(g.n.why[0].text, "sonde-nvml is not installed"));
	unsetenv("SONDE_LIBEXEC");
	gpus_close(&g);
}

static void who_hangs_at_the_start_is_given_up(void **unused)
{
	struct gpus g;

	(void)unused;
	setenv("SONDE_NVML_PATIENCE", "1", 1);
	setenv("FAKE_NVML_HANG", "Init", 1);
	assert_int_equal(gpus_open(&g, 0), 0);
	read_until_said(&g, "source.nvidia");
	assert_string_equal(meta(&g, "source.nvidia"),
			    "failed: NVIDIA's driver did not answer in 1 s: nvmlInit_v2");
	assert_false(has_children());
	gpus_read(&g);
	gpus_close(&g);
	/* Who may wait is told the same. */
	assert_int_equal(gpus_open(&g, NS_PER_S), -ETIMEDOUT);
	assert_non_null(strstr(g.n.why[0].text, "nvmlInit_v2"));
	gpus_close(&g);
	assert_false(has_children());
}

/* Of several GPUs only the one that hangs is lost. */
static void who_hangs_is_left_out(void **unused)
{
	struct gpus g;

	(void)unused;
	setenv("SONDE_NVML_PATIENCE", "1", 1);
	setenv("FAKE_NVML_GPUS", "4", 1);
	setenv("FAKE_NVML_HANG", "DeviceGetPowerUsage@2", 1);
	assert_int_equal(gpus_open(&g, 0), 0);
	assert_int_equal(value_of(&g, "gpu.power_watts", "gpu3"), 100003000);
	assert_refused(&g, "gpu.power_watts", "gpu2", STATE_FAILED, "did not answer");
	assert_string_equal(meta(&g, "source.nvidia"), "");
	gpus_close(&g);
	assert_false(has_children());
}

static void who_crashes_is_left_out(void **unused)
{
	struct gpus g;

	(void)unused;
	setenv("FAKE_NVML_GPUS", "2", 1);
	setenv("FAKE_NVML_CRASH", "DeviceGetTemperature@0", 1);
	assert_int_equal(gpus_open(&g, 0), 0);
	assert_int_equal(value_of(&g, "gpu.power_watts", "gpu1"), 100001000);
	assert_refused(&g, "gpu.power_watts", "gpu0", STATE_FAILED, "did not answer before");
	gpus_close(&g);
	setenv("FAKE_NVML_CRASH", "Init", 1);
	assert_int_equal(gpus_open(&g, 20 * NS_PER_S), -EIO);
	assert_non_null(strstr(g.n.why[0].text, "crashed: nvmlInit_v2"));
	gpus_close(&g);
}

static void a_killed_helper_fails_alone(void **unused)
{
	struct gpus g;

	(void)unused;
	assert_int_equal(gpus_open(&g, 0), 0);
	assert_true(value_of(&g, "gpu.power_watts", "gpu3") > 0);
	kill(only_child(), SIGKILL);
	read_until_said(&g, "source.nvidia");
	assert_non_null(strstr(meta(&g, "source.nvidia"), "failed: the helper sonde-nvml was"));
	assert_refused(&g, "gpu.power_watts", "gpu3", STATE_FAILED, "sonde-nvml");
	assert_false(has_children());
	gpus_close(&g);
}

/* Its socket, its memory, and three times /dev/null: no pipe of ours that someone waits on. */
static void the_helper_holds_nothing_of_ours(void **unused)
{
	struct gpus g;
	int pipes[2], n = 0;
	char path[64];
	DIR *d;

	(void)unused;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(gpus_open(&g, 0), 0);
	assert_true(value_of(&g, "gpu.power_watts", "gpu3") > 0);
	snprintf(path, sizeof path, "/proc/%d/fd", (int)only_child());
	d = opendir(path);
	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	assert_int_equal(n - 2, 5);
	gpus_close(&g);
	close(pipes[0]);
	close(pipes[1]);
}

/* A hang in the middle of a recording: what was measured stays, the reason names the call. */
static void a_stopped_helper_is_given_up(void **unused)
{
	struct gpus g;

	(void)unused;
	setenv("SONDE_NVML_PATIENCE", "1", 1);
	assert_int_equal(gpus_open(&g, 0), 0);
	assert_true(value_of(&g, "gpu.power_watts", "gpu3") > 0);
	kill(only_child(), SIGSTOP);
	read_until_said(&g, "source.nvidia");
	assert_non_null(strstr(meta(&g, "source.nvidia"), "did not answer in 1 s"));
	assert_refused(&g, "gpu.power_watts", "gpu3", STATE_FAILED, "did not answer in 1 s");
	assert_false(has_children());
	gpus_close(&g);
}

static void a_divided_gpu_has_no_utilization(void **unused)
{
	struct gpus g;

	(void)unused;
	setenv("FAKE_NVML_MIG", "1", 1);
	setenv("FAKE_NVML_PROCESSES", "4321@1=100/1,99@1=200/2", 1);
	assert_int_equal(gpus_open(&g, 0), 0);
	assert_true(value_of(&g, "gpu.power_watts", "gpu1") > 0);
	assert_refused(&g, "gpu.utilization_ratio", "gpu1", STATE_UNSUPPORTED, "MIG is on");
	assert_refused(&g, "gpu.utilization_ratio", "gpu1.mig0", STATE_UNSUPPORTED, "MIG device");
	assert_string_equal(label_of(&g, "gpu1", "mig"), "on");
	assert_string_equal(label_of(&g, "gpu1.mig1", "uuid"),
			    "MIG-00000001-0000-0000-0000-000000000001");
	assert_int_equal(node_value(&g.n, "gpu.memory_used_bytes", "gpu1.mig0"), 80000001);
	assert_int_equal(node_value(&g.n, "gpu.job_memory_bytes", "gpu1.mig0"), 100);
	assert_int_equal(node_value(&g.n, "gpu.other_memory_bytes", "gpu1.mig0"), 0);
	assert_int_equal(node_value(&g.n, "gpu.other_memory_bytes", "gpu1.mig1"), 200);
	assert_int_equal(node_value(&g.n, "gpu.job_memory_bytes", "gpu1"), 100);
	assert_int_equal(node_value(&g.n, "gpu.other_memory_bytes", "gpu1"), 200);
	assert_string_equal(label_of(&g, "gpu1.mig0", "job"), "compute context");
	/* What a MIG device holds is part of its GPU: not added up a second time. */
	for (uint32_t i = 0; i < g.n.sample.nevents; i++)
		if (g.n.sample.event[i].kind == EVENT_INSTANCE &&
		    strstr(g.n.sample.event[i].name, ".mig")) {
			assert_true(g.n.sample.event[i].flags & INSTANCE_ASIDE);
			assert_string_equal(node_instance_name(&g.n, g.n.sample.event[i].parent),
					    "gpu1");
		}
	gpus_close(&g);
}

static void entries_of_every_size_are_read(void **unused)
{
	static const char *const sizes[] = { "16", "24", "32" };
	struct gpus g;

	(void)unused;
	setenv("FAKE_NVML_PROCESSES", "4321@0=100,4322@0=200,99@0=3000,98@0=-1", 1);
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		setenv("FAKE_NVML_ENTRY", sizes[i], 1);
		assert_int_equal(gpus_open(&g, 0), 0);
		assert_int_equal(value_of(&g, "gpu.job_processes_count", "gpu0"), 2);
		assert_int_equal(node_value(&g.n, "gpu.other_processes_count", "gpu0"), 2);
		assert_int_equal(node_value(&g.n, "gpu_process.memory_bytes", "python (4322)"),
				 200);
		/* Of one of them the driver does not tell how much it holds. */
		assert_int_equal(node_value(&g.n, "gpu.other_memory_bytes", "gpu0"), -1);
		gpus_close(&g);
	}
}

#define USED(g, metric, gpu) node_value(&(g).n, "gpu." metric "_sm_utilization_ratio", gpu)
#define USED_BY(g, process)  node_value(&(g).n, "gpu_process.sm_utilization_ratio", process)

/* By both functions, whichever the library has. Of a process counts what was sampled last; an entry
 * above 100 % is none. */
static void who_used_the_sms_is_known(void **unused)
{
	static const char *const libraries[] = { "fake_nvml", "fake_nvml_new" };
	struct gpus g;

	(void)unused;
	setenv("FAKE_NVML_PROCESSES", "4321@3=100,4322@3=200,99@3=4000", 1);
	setenv("FAKE_NVML_USES", "4321@3=30,4321@3=90,99@3=5,77@3=20,4322@3=4000000", 1);
	for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
		setenv("SONDE_NVML", stub(libraries[i]), 1);
		assert_int_equal(gpus_open(&g, 0), 0);
		assert_int_equal(value_of(&g, "gpu.job_sm_utilization_ratio", "gpu3"), 30);
		assert_int_equal(USED(g, "other", "gpu3"), 25); /* 77 computes not, it draws */
		assert_int_equal(USED_BY(g, "python (4321)"), 30);
		assert_int_equal(USED_BY(g, "python (4322)"), 0);
		assert_int_equal(USED_BY(g, "other (99)"), 5);
		/* The driver found nobody. */
		assert_int_equal(USED(g, "job", "gpu0"), 0);
		assert_int_equal(USED(g, "other", "gpu0"), 0);
		gpus_close(&g);
	}
}

static void who_used_the_sms_may_not_be_told(void **unused)
{
	struct gpus g;

	(void)unused;
	setenv("FAKE_NVML_PROCESSES", "4321@0=100,4321@1=100,4321@2=200", 1);
	setenv("FAKE_NVML_USES", "4321@0=30,4321@1=30,4321@2=30", 1);
	setenv("FAKE_NVML_FAIL", "DeviceGetProcessUtilization@0=4", 1);
	setenv("FAKE_NVML_MIG", "1", 1);
	assert_int_equal(gpus_open(&g, 0), 0);
	assert_int_equal(value_of(&g, "gpu.job_sm_utilization_ratio", "gpu2"), 30);
	assert_refused(&g, "gpu.job_sm_utilization_ratio", "gpu0", STATE_FORBIDDEN, "not permit");
	assert_refused(&g, "gpu_process.sm_utilization_ratio", "python (4321)", STATE_FORBIDDEN,
		       "not permit");
	assert_refused(&g, "gpu.other_sm_utilization_ratio", "gpu1", STATE_UNSUPPORTED,
		       "MIG is on");
	assert_refused(&g, "gpu.job_sm_utilization_ratio", "gpu1.mig0", STATE_UNSUPPORTED,
		       "MIG device");
	assert_int_equal(node_value(&g.n, "gpu.job_memory_bytes", "gpu0"), 100);
	gpus_close(&g);
}

/* More of them than there is room for: the sums are not known. */
static void too_many_users_are_no_sum(void **unused)
{
	char list[1024] = "4321@3=1";
	struct gpus g;

	(void)unused;
	for (int i = 0; i < NVIDIA_PROCESSES_MAX; i++)
		snprintf(list + strlen(list), sizeof list - strlen(list), ",%d@3=1", 5000 + i);
	setenv("FAKE_NVML_USES", list, 1);
	assert_int_equal(gpus_open(&g, 0), 0);
	assert_true(value_of(&g, "gpu.power_watts", "gpu3") > 0);
	assert_int_equal(USED(g, "job", "gpu3"), -1);
	assert_refused(&g, "gpu.job_sm_utilization_ratio", "gpu3", STATE_FAILED, "more processes");
	gpus_close(&g);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, fresh_environment)
	const struct CMUnitTest tests[] = {
		TEST(eight_gpus_tell_everything),
		TEST(gpus_have_names_and_the_driver_a_version),
		TEST(the_next_answer_is_fresh),
		TEST(whose_gpus_they_are_is_known),
		TEST(an_old_library_tells_what_it_can),
		TEST(each_error_is_its_state),
		TEST(a_library_that_cannot_begin_says_why),
		TEST(a_missing_library_is_unsupported),
		TEST(a_missing_helper_is_unsupported),
		TEST(who_hangs_at_the_start_is_given_up),
		TEST(who_hangs_is_left_out),
		TEST(who_crashes_is_left_out),
		TEST(a_killed_helper_fails_alone),
		TEST(the_helper_holds_nothing_of_ours),
		TEST(a_stopped_helper_is_given_up),
		TEST(a_divided_gpu_has_no_utilization),
		TEST(entries_of_every_size_are_read),
		TEST(who_used_the_sms_is_known),
		TEST(who_used_the_sms_may_not_be_told),
		TEST(too_many_users_are_no_sum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
