/* SPDX-License-Identifier: Apache-2.0 */
/*
 * starts.h - where the functions of a module begin, by its tables of unwinding: also of one without
 * symbols.
 */
#ifndef SONDE_UNWIND_STARTS_H
#define SONDE_UNWIND_STARTS_H

#include "unwind/module.h"

/* What is remembered of one module. {0} is nothing yet; the module must stay as it is. */
struct starts {
	bool looked;
	const uint8_t *table; /* of .eh_frame_hdr: entries of 8 bytes, from base on */
	uint64_t base;
	uint64_t *own; /* or read from .eh_frame, sorted */
	uint32_t n;
};

/* Where the function begins that has this address, both as the module's file has them; 0: it is not
 * known. */
uint64_t starts_find(struct starts *s, const struct module *m, uint64_t address);
void starts_free(struct starts *s);

/* Bytes of a module at an offset of its file; fewer at its end. */
size_t module_code(const struct module *m, uint64_t offset, const uint8_t **code, size_t n);

#endif
