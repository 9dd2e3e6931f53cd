/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module.h - files with code, once for all processes: what finds the caller, and what names code.
 *
 * A module is opened as soon as it is seen, so that it may be deleted or replaced afterwards. What
 * is in it is hostile: at worst this process crashes, and another one takes its place.
 */
#ifndef SONDE_UNWIND_MODULE_H
#define SONDE_UNWIND_MODULE_H

#include "source/program/stacks_page.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	MODULES_MAX = 4096,
	SEGMENTS_MAX = 16,
	MODULE_NONE = 0,
	MODULE_JIT = 1,    /* memory with code and without a file */
	MODULE_WAIT = 2,   /* no code: what a thread does or waits for, by name */
	MODULE_PYTHON = 3, /* functions of Python, by name, file and line */
	MODULE_VDSO = 4,
	MODULE_FIRST = 5, /* of those with a file */
};

struct segment {
	uint64_t offset, size, address;
};

/* Where its functions begin, as far as that is remembered. {0} is nothing yet; the module must stay
 * as it is. */
struct starts {
	bool looked;
	const uint8_t *table; /* of .eh_frame_hdr: entries of 8 bytes, from base on */
	uint64_t base;
	uint64_t *own; /* or read from .eh_frame, sorted */
	uint32_t n;
};

struct module {
	char *path;
	char build_id[2 * 32 + 1];
	uint32_t major, minor;
	uint64_t inode;
	int64_t seen_ns; /* when it was last compared with the file */
	int64_t mtime_ns;
	bool told; /* it is in the recording */
	uint8_t *image;
	size_t size;
	bool of_heap;              /* the image was copied */
	Elf *elf, *names_elf;      /* of who finds callers; of the thread that finds names */
	Dwarf *dwarf;              /* of frame_debug */
	Dwarf_CFI *cfi, *cfi_more; /* .eh_frame, .debug_frame */
	struct segment segment[SEGMENTS_MAX];
	uint32_t nsegments;
	bool usable;
	struct starts starts;  /* of who finds callers */
	_Atomic bool lineless; /* all that names may find of it are functions */
};

/* Where in a process it was seen. */
struct module_seen {
	pid_t pid;
	const char *path;
	uint32_t major, minor;
	uint64_t inode;
	uint64_t start, end, offset;
	int64_t now_ns;
};

struct modules {
	struct module row[MODULES_MAX];
	uint32_t n;
	const struct stacks_page *page; /* what is not to be read; NULL: nothing */
};

void modules_init(struct modules *m);
/* Its number; MODULE_NONE: there is no room. */
uint32_t modules_find(struct modules *m, const struct module_seen *seen);
/* A line of /proc/PID/maps: all of it but pid and now_ns; path is the rest of the line. rights: 4
 * letters. False: it is none. */
bool module_seen_parse(struct module_seen *seen, char rights[5], const char *line);
/* Pages of what finds callers are not this process's any more until they are read again. */
void modules_let_go(const struct modules *m);
/* The same of a file that libelf has opened by a descriptor. */
void mapped_let_go(Elf *elf);
/* Memory that this process has, and how much of it is pages of files. False: it is not told. */
bool modules_resident(int64_t *all_bytes, int64_t *files_bytes);
enum { MODULES_RESIDENT_MAX = 8 << 20 }; /* of files, code included, before pages are let go */
/* The address in the file's own terms of what is at this offset of it. False: in no segment. */
bool module_address(const struct module *m, uint64_t offset, uint64_t *address);

/*
 * Where the functions of a module begin, by its tables of unwinding: also of one without symbols.
 */

/* Where the function begins that has this address, both as the module's file has them; 0: it is not
 * known. */
uint64_t starts_find(struct starts *s, const struct module *m, uint64_t address);
void starts_free(struct starts *s);

/* Bytes of a module at an offset of its file; fewer at its end. */
size_t module_code(const struct module *m, uint64_t offset, const uint8_t **code, size_t n);
/* Whether an instruction is in a loop that does nothing but look at memory, by the code around it;
 * elf: one of the module's two, as the thread is. */
bool module_spins(const struct module *m, Elf *elf, uint64_t address);

#endif
