/* SPDX-License-Identifier: Apache-2.0 */
/* What drivers of GPUs tell of a client in /proc/PID/fdinfo, as each of them writes it. */
#include "source/gpu/drm_gpu.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char amdgpu[] = "pos:\t0\nflags:\t02100002\nmnt_id:\t26\nino:\t552\n"
			     "drm-driver:\tamdgpu\ndrm-client-id:\t61\ndrm-pdev:\t0000:c1:00.0\n"
			     "pasid:\t32777\n"
			     "drm-total-cpu:\t0\ndrm-resident-cpu:\t0\n"
			     "drm-total-vram:\t2097152 KiB\ndrm-shared-vram:\t0\n"
			     "drm-active-vram:\t12 KiB\ndrm-resident-vram:\t1048576 KiB\n"
			     "drm-purgeable-vram:\t0\ndrm-total-gtt:\t64 MiB\n"
			     "drm-memory-vram:\t1048576 KiB\ndrm-memory-gtt: \t65536 KiB\n"
			     "amd-evicted-vram:\t0 KiB\n"
			     "drm-engine-gfx:\t123456789 ns\ndrm-engine-compute:\t5 ns\n"
			     "drm-engine-capacity-compute:\t4\n";

static const char i915[] = "drm-driver:\ti915\ndrm-client-id:\t7\ndrm-pdev:\t0000:00:02.0\n"
			   "drm-total-system0:\t8 MiB\ndrm-shared-system0:\t0\n"
			   "drm-resident-system0:\t4 MiB\ndrm-total-local0:\t3 MiB\n"
			   "drm-engine-render:\t9 ns\ndrm-engine-video:\t0 ns\n"
			   "drm-engine-capacity-video:\t2\n";

static const char xe[] = "drm-driver:\txe\ndrm-client-id:\t12\n"
			 "drm-resident-vram0:\t16 KiB\ndrm-resident-vram1:\t16 KiB\n"
			 "drm-resident-gtt:\t1 KiB\n"
			 "drm-cycles-rcs:\t28257900\ndrm-total-cycles-rcs:\t7655183225\n"
			 "drm-engine-capacity-ccs:\t4\n";

static const struct drm_engine *engine(const struct drm_fdinfo *info, const char *name)
{
	for (size_t i = 0; i < info->nengines; i++)
		if (strcmp(info->engine[i].name, name) == 0)
			return &info->engine[i];
	fail_msg("no engine %s", name);
	return NULL;
}

static void amds_is_read(void **unused)
{
	struct drm_fdinfo info;

	(void)unused;
	assert_int_equal(drm_fdinfo_parse(amdgpu, &info), 0);
	assert_string_equal(info.driver, "amdgpu");
	assert_int_equal(info.client, 61);
	assert_int_equal(info.device_bytes, 1 << 30); /* what is resident, once */
	assert_int_equal(info.host_bytes, 64 << 20);
	assert_int_equal(info.nengines, 2);
	assert_int_equal(engine(&info, "gfx")->busy_ns, 123456789);
	assert_int_equal(engine(&info, "gfx")->capacity, 1);
	assert_int_equal(engine(&info, "gfx")->cycles, -1);
	assert_int_equal(engine(&info, "compute")->busy_ns, 5);
	assert_int_equal(engine(&info, "compute")->capacity, 4);
}

static void intels_are_read(void **unused)
{
	struct drm_fdinfo info;

	(void)unused;
	assert_int_equal(drm_fdinfo_parse(i915, &info), 0);
	assert_int_equal(info.host_bytes, 4 << 20);
	assert_int_equal(info.device_bytes, 3 << 20); /* allocated: what is resident is not told */
	assert_int_equal(engine(&info, "video")->busy_ns, 0);
	assert_int_equal(engine(&info, "video")->capacity, 2);
	assert_int_equal(drm_fdinfo_parse(xe, &info), 0);
	assert_int_equal(info.device_bytes, 32 << 10);
	assert_int_equal(engine(&info, "rcs")->cycles, 28257900);
	assert_int_equal(engine(&info, "rcs")->total_cycles, INT64_C(7655183225));
	assert_int_equal(engine(&info, "rcs")->busy_ns, -1);
	assert_int_equal(engine(&info, "ccs")->capacity, 4);
}

static void what_is_not_told_is_not_zero(void **unused)
{
	struct drm_fdinfo info;

	(void)unused;
	assert_int_equal(drm_fdinfo_parse("drm-driver:\tnouveau\ndrm-client-id:\t0\n", &info), 0);
	assert_int_equal(info.device_bytes, -1);
	assert_int_equal(info.host_bytes, -1);
	assert_int_equal(info.nengines, 0);
	assert_int_equal(drm_fdinfo_parse("pos:\t0\nflags:\t02\nmnt_id:\t9\n", &info), -ENODATA);
	assert_int_equal(drm_fdinfo_parse("", &info), -ENODATA);
}

static void garbage_is_no_client(void **unused)
{
	static const char *const lines[] = {
		"drm-engine-gfx:\t-1 ns\n",
		"drm-engine-gfx:\t12 us\n",
		"drm-engine-gfx:\t12\n",
		"drm-engine-:\t12 ns\n",
		"drm-engine-gfx 12 ns\n",
		"drm-engine-capacity-gfx:\t0\n",
		"drm-engine-a-name-that-is-longer-than-any:\t1 ns\n",
		"drm-cycles-rcs:\tx\n",
		"drm-resident-vram:\t1 GiB\n",
		"drm-resident-vram:\t99999999999999999 KiB\n",
		"drm-total-vram:\t99999999999999999999\n",
		"drm-memory-vram:\t\n",
	};
	struct drm_fdinfo info;
	char text[256];

	(void)unused;
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		snprintf(text, sizeof text, "drm-client-id:\t1\n%s", lines[i]);
		if (drm_fdinfo_parse(text, &info) != -EBADMSG)
			fail_msg("taken: %s", lines[i]);
	}
	assert_int_equal(drm_fdinfo_parse("drm-client-id:\t1x\n", &info), -EBADMSG);
}

/* More engines and regions than there are: the first ones are kept. */
static void too_many_are_left_out(void **unused)
{
	struct drm_fdinfo info;
	char text[4096] = "drm-client-id:\t1\n";

	(void)unused;
	for (int i = 0; i < 40; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text),
			 "drm-engine-e%d:\t1 ns\ndrm-resident-vram%d:\t1 KiB\n", i, i);
	assert_int_equal(drm_fdinfo_parse(text, &info), 0);
	assert_int_equal(info.nengines, DRM_ENGINES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(amds_is_read),
		cmocka_unit_test(intels_are_read),
		cmocka_unit_test(what_is_not_told_is_not_zero),
		cmocka_unit_test(garbage_is_no_client),
		cmocka_unit_test(too_many_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
