/* SPDX-License-Identifier: Apache-2.0 */
/* The maps that travel in the program. Assembled from the root of the source tree. */

	.section .rodata
	.globl asset_perfmon_map
	.hidden asset_perfmon_map
	.globl asset_perfmon_map_end
	.hidden asset_perfmon_map_end
asset_perfmon_map:
	.incbin "maps/perfmon.map"
asset_perfmon_map_end:

	.section .note.GNU-stack, "", %progbits
