/* SPDX-License-Identifier: Apache-2.0 */
#include "source/gpu/nvidia_code.h"

#include "source/gpu/nvidia_page.h"

#include <errno.h>
#include <stddef.h>

static const struct code {
	int code;
	enum state state;
	const char *text;
} codes[] = {
	{ NVIDIA_NOT_READ, STATE_ABSENT, "" },
	{ NVIDIA_NO_SYMBOL, STATE_UNSUPPORTED, "this driver's library has no function for it" },
	{ NVIDIA_LEFT_OUT, STATE_FAILED, "the GPU did not answer before and is not asked again" },
	{ NVIDIA_NEEDLESS, STATE_UNSUPPORTED, "this driver counts the bytes: gpu.pcie_sent_bytes" },
	{ 1, STATE_FAILED, "NVML was not initialised" },
	{ 2, STATE_UNSUPPORTED, "the driver knows no such thing of this GPU" },
	{ 3, STATE_UNSUPPORTED, "this GPU does not report it" },
	{ 4, STATE_FORBIDDEN, "the driver does not permit it to this user" },
	{ 6, STATE_UNSUPPORTED, "the driver finds no such thing" },
	{ 7, STATE_FAILED, "more processes use the GPU than can be distinguished" },
	{ 8, STATE_FAILED, "a power cable of the GPU is not attached" },
	{ 9, STATE_UNSUPPORTED,
	  "the NVIDIA driver is not loaded, or no GPU is given to this user" },
	{ 10, STATE_FAILED, "the driver took too long" },
	{ 11, STATE_FAILED, "the driver has a problem with the GPU's interrupts" },
	{ 12, STATE_UNSUPPORTED, "a library that NVML needs is missing" },
	{ 13, STATE_UNSUPPORTED, "this driver's library has no function for it" },
	{ 14, STATE_FAILED, "the GPU's inforom is corrupted" },
	{ 15, STATE_FAILED, "the GPU is lost: it fell off the bus; the node needs a reboot" },
	{ 16, STATE_FAILED, "the GPU needs a reset" },
	{ 17, STATE_FORBIDDEN, "the operating system (a cgroup, perhaps) blocks the GPU" },
	{ 18, STATE_FAILED,
	  "NVIDIA's library and the loaded driver are of different versions; load the driver "
	  "again, or reboot" },
	{ 19, STATE_FAILED, "the GPU is in use" },
	{ 20, STATE_FAILED, "there is no memory" },
	{ 21, STATE_ABSENT, "" },
	{ 22, STATE_UNSUPPORTED, "this vGPU has no ECC" },
	{ 24, STATE_UNSUPPORTED, "this GPU does not report it" },
	{ 25, STATE_UNSUPPORTED, "this driver's library has another version of the call" },
	{ 26, STATE_UNSUPPORTED, "this driver does not report it any more" },
	{ 27, STATE_ABSENT, "" },
	{ 28, STATE_UNSUPPORTED, "the GPU was not found" },
};

static const struct code *find(int code)
{
	static const struct code unknown = { 999, STATE_FAILED,
					     "NVIDIA's driver failed and does not say why" };

	for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
		if (codes[i].code == code)
			return &codes[i];
	return &unknown;
}

enum state nvidia_code_state(int code)
{
	return code ? find(code)->state : STATE_PRESENT;
}

const char *nvidia_code_text(int code)
{
	return code ? find(code)->text : "";
}

int nvidia_code_errno(int code)
{
	switch (nvidia_code_state(code)) {
	case STATE_UNSUPPORTED:
		return -ENODEV;
	case STATE_FORBIDDEN:
		return -EACCES;
	default:
		return -EIO;
	}
}
