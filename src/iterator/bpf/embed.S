/* SPDX-License-Identifier: Apache-2.0 */
/* The program for the kernel, which the Makefile puts into gen/. */

	.section .rodata
	.balign 8
	.globl iterator_object
	.hidden iterator_object
	.globl iterator_object_end
	.hidden iterator_object_end
iterator_object:
	.incbin "tasks.bpf.o"
iterator_object_end:

	.section .note.GNU-stack, "", %progbits
