/* SPDX-License-Identifier: Apache-2.0 */
/* The files of events/ in one packed piece, which the Makefile puts into gen/. */

	.section .rodata
	.globl asset_events
	.hidden asset_events
	.globl asset_events_end
	.hidden asset_events_end
asset_events:
	.incbin "events.packed"
asset_events_end:

	.section .note.GNU-stack, "", %progbits
