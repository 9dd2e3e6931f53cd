/* SPDX-License-Identifier: Apache-2.0 */
/* The program that expands Python requirements. Assembled from the root of the source tree. */

	.section .rodata
	.globl asset_expand_py
	.hidden asset_expand_py
asset_expand_py:
	.incbin "src/sweep/expand.py"
	.byte 0

	.section .note.GNU-stack, "", %progbits
