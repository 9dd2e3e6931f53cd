/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/module.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/text/number.h"
#include "core/stacks/waitkind.h"
#include "unwind/work.h"
#include "waits/spins.h"

#include <ctype.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	IMAGE_MAX = 64 << 20, /* bytes of one that is copied from a process */
	LOOK_AGAIN_MS = 1000,
	MAPS_LINE = PATH_MAX + 128,
};
#define FILE_SIZE_MAX (INT64_C(1) << 36)

static void read_segments(struct module *m)
{
	size_t n;

	if (elf_getphdrnum(m->elf, &n))
		return;
	for (size_t i = 0; i < n && m->nsegments < SEGMENTS_MAX; i++) {
		GElf_Phdr ph;

		if (i > INT_MAX || !gelf_getphdr(m->elf, (int)i, &ph) || ph.p_type != PT_LOAD)
			continue;
		m->segment[m->nsegments++] =
			(struct segment){ ph.p_offset, ph.p_filesz, ph.p_vaddr };
	}
}

static void read_build_id(struct module *m)
{
	const void *bytes;
	ssize_t n = dwelf_elf_gnu_build_id(m->elf, &bytes);

	for (ssize_t i = 0; i < n && i < (ssize_t)sizeof m->build_id / 2; i++)
		snprintf(m->build_id + 2 * i, 3, "%02x", ((const uint8_t *)bytes)[i]);
}

/* To expand a compressed section, as Go's programs have them, libelf writes into the section's
 * header: into its own copy of it where it reads a file, else into the memory that it was given,
 * which two handles cannot share (0.188). What a process has in memory has no such sections. */
static Elf *elf_open(struct module *m, int fd)
{
	Elf *elf = fd < 0 ? elf_memory((char *)m->image, m->size)
			  : elf_begin(fd, ELF_C_READ_MMAP, NULL);

	if (elf && fd >= 0 && elf_cntl(elf, ELF_C_FDREAD)) {
		elf_end(elf);
		return NULL;
	}
	return elf;
}

/* What finds callers. .debug_frame is looked at where there is no .eh_frame, as in Go's programs.
 * fd -1: of the image alone. */
static void module_use(struct module *m, int fd)
{
	m->elf = elf_open(m, fd);
	m->names_elf = elf_open(m, fd);
	if (!m->elf || !m->names_elf || elf_kind(m->elf) != ELF_K_ELF)
		return;
	m->usable = true;
	read_segments(m);
	read_build_id(m);
	m->cfi = dwarf_getcfi_elf(m->elf);
	m->dwarf = dwarf_begin_elf(m->elf, DWARF_C_READ, NULL);
	m->cfi_more = m->dwarf ? dwarf_getcfi(m->dwarf) : NULL;
}

static void image_map(struct module *m, int fd, const struct stat *st)
{
	void *image;

	if (st->st_size <= 0 || st->st_size > FILE_SIZE_MAX)
		return;
	image = mmap(NULL, (size_t)st->st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (image == MAP_FAILED)
		return;
	m->image = image;
	m->size = (size_t)st->st_size;
	m->mtime_ns = st->st_mtim.tv_sec * NS_PER_S + st->st_mtim.tv_nsec;
}

/* Devices without a name of their own (overlay, btrfs, NFS) are told otherwise by stat. */
static bool is_the_same(const struct module_seen *seen, const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_ino == seen->inode &&
	       (!seen->major ||
		(major(st->st_dev) == seen->major && minor(st->st_dev) == seen->minor));
}

static int open_as(const char *path, const struct module_seen *seen, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0)
		return -1;
	if (!fstat(fd, st) && is_the_same(seen, st))
		return fd;
	close(fd);
	return -1;
}

/* As the process sees it, as this one does, or what the process runs. */
static int module_open(const struct module_seen *seen, struct stat *st)
{
	char path[PATH_MAX + 32];
	int fd;

	snprintf(path, sizeof path, "/proc/%d/root%s", (int)seen->pid, seen->path);
	fd = open_as(path, seen, st);
	if (fd < 0)
		fd = open_as(seen->path, seen, st);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof path, "/proc/%d/exe", (int)seen->pid);
	return open_as(path, seen, st);
}

struct part {
	uint64_t start, end, offset;
};

/* A number that begins here and ends with this character, which is taken, too. */
static bool take_number(const char **at, int base, char end, uint64_t *out)
{
	char *stop;

	if (!isxdigit((unsigned char)**at))
		return false;
	*out = strtoull(*at, &stop, base);
	*at = stop + 1;
	return *stop == end;
}

bool module_seen_parse(struct module_seen *seen, char rights[5], const char *line)
{
	uint64_t maj, min;
	const char *at = line;

	if (!take_number(&at, 16, '-', &seen->start) || !take_number(&at, 16, ' ', &seen->end) ||
	    strnlen(at, 5) < 5 || at[4] != ' ')
		return false;
	memcpy(rights, at, 4);
	rights[4] = '\0';
	at += 5;
	if (!take_number(&at, 16, ' ', &seen->offset) || !take_number(&at, 16, ':', &maj) ||
	    !take_number(&at, 16, ' ', &min) || !take_number(&at, 10, ' ', &seen->inode))
		return false;
	seen->major = (uint32_t)maj;
	seen->minor = (uint32_t)min;
	seen->path = at + strspn(at, " ");
	return true;
}

/* One line of the process's maps that is of this file. */
static bool part_of(const char *line, const struct module_seen *seen, struct part *p)
{
	struct module_seen found = { 0 };
	char rights[5];

	if (!module_seen_parse(&found, rights, line) || found.inode != seen->inode ||
	    found.major != seen->major || found.minor != seen->minor || found.end <= found.start ||
	    found.offset > IMAGE_MAX || found.end - found.start > IMAGE_MAX)
		return false;
	*p = (struct part){ found.start, found.end, found.offset };
	return found.offset + (found.end - found.start) <= IMAGE_MAX;
}

/* Of a file that is gone: as far as the process has it in memory, where this may be read. */
static void image_copy(struct module *m, const struct module_seen *seen)
{
	char path[64], line[MAPS_LINE];
	struct part p;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/maps", (int)seen->pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f)) {
		struct iovec to, from;
		uint8_t *grown;

		if (!part_of(line, seen, &p))
			continue;
		if (p.offset + (p.end - p.start) > m->size) {
			size_t size = (size_t)(p.offset + (p.end - p.start));

			grown = realloc(m->image, size);
			if (!grown)
				break;
			memset(grown + m->size, 0, size - m->size);
			m->image = grown;
			m->size = size;
		}
		to = (struct iovec){ m->image + p.offset, (size_t)(p.end - p.start) };
		from = (struct iovec){ (void *)(uintptr_t)p.start, to.iov_len };
		(void)process_vm_readv(seen->pid, &to, 1, &from, 1, 0);
	}
	if (f)
		fclose(f);
	m->of_heap = true;
}

static void use_vdso(struct module *m)
{
	const uint8_t *own = (const uint8_t *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	long page = sysconf(_SC_PAGESIZE);

	m->path = strdup("[vdso]");
	if (!own || page <= 0)
		return;
	m->size = 2 * (size_t)page; /* it is one or two pages, and data lies before it */
	m->image = calloc(1, m->size);
	if (!m->image)
		return;
	{
		struct iovec to = { m->image, m->size }, from = { (void *)(uintptr_t)own, m->size };
		ssize_t n = process_vm_readv(getpid(), &to, 1, &from, 1, 0);

		if (n <= 0) {
			memcpy(m->image, own, (size_t)page);
			n = page;
		}
		m->size = (size_t)n;
	}
	m->of_heap = true;
	module_use(m, -1);
}

void modules_init(struct modules *m)
{
	elf_version(EV_CURRENT);
	m->row[MODULE_JIT].path = strdup("[jit]");
	m->row[MODULE_WAIT].path = strdup(WAIT_MODULE);
	m->row[MODULE_PYTHON].path = strdup(PYTHON_MODULE);
	use_vdso(&m->row[MODULE_VDSO]);
	m->n = MODULE_FIRST;
}

/* What this module was seen as is that file still, as far as its name tells. */
static bool still_is(struct module *m, const struct module_seen *seen)
{
	char path[PATH_MAX + 32];
	struct stat st;

	if (seen->now_ns - m->seen_ns < LOOK_AGAIN_MS * NS_PER_MS)
		return true;
	m->seen_ns = seen->now_ns;
	snprintf(path, sizeof path, "/proc/%d/root%s", (int)seen->pid, seen->path);
	if (stat(path, &st) || !is_the_same(seen, &st))
		return true; /* it is gone, or another's: what is known stays */
	return !m->mtime_ns || m->mtime_ns == st.st_mtim.tv_sec * NS_PER_S + st.st_mtim.tv_nsec;
}

/* An earlier helper died of it. */
static bool is_refused(const struct modules *m, const struct module_seen *seen)
{
	uint32_t n = m->page ? m->page->nrefused : 0;

	for (uint32_t i = 0; i < n && i < STACKS_REFUSED_MAX; i++) {
		const struct stacks_file *f = &m->page->refused[i];

		if (f->inode == seen->inode && f->major == seen->major && f->minor == seen->minor &&
		    !strncmp(f->path, seen->path, sizeof f->path - 1))
			return true;
	}
	return false;
}

static void module_read(struct module *x, const struct module_seen *seen)
{
	struct stat st;
	int fd;

	work_on(x);
	fd = module_open(seen, &st);
	if (fd >= 0)
		image_map(x, fd, &st);
	else
		image_copy(x, seen);
	if (x->image)
		module_use(x, fd);
	if (fd >= 0)
		close(fd);
	work_on(NULL);
}

uint32_t modules_find(struct modules *m, const struct module_seen *seen)
{
	struct module *x;

	/* The newest first: an inode may be used again. */
	for (uint32_t i = m->n; i-- > MODULE_FIRST;) {
		x = &m->row[i];
		if (x->inode == seen->inode && x->major == seen->major && x->minor == seen->minor &&
		    !strcmp(x->path, seen->path) && still_is(x, seen))
			return i;
	}
	if (m->n == MODULES_MAX)
		return MODULE_NONE;
	x = &m->row[m->n];
	*x = (struct module){ .path = strdup(seen->path),
			      .major = seen->major,
			      .minor = seen->minor,
			      .inode = seen->inode,
			      .seen_ns = seen->now_ns };
	if (!x->path)
		return MODULE_NONE;
	if (!is_refused(m, seen))
		module_read(x, seen);
	return m->n++;
}

/* libelf maps a file to be read only (ELF_C_READ_MMAP), from its first page on; where it cannot, it
 * has read it into memory of its own. */
void mapped_let_go(Elf *elf)
{
	size_t n = 0;
	char *map = elf ? elf_rawfile(elf, &n) : NULL;

	if (map && (uintptr_t)map % (uintptr_t)sysconf(_SC_PAGESIZE) == 0)
		madvise(map, n, MADV_DONTNEED);
}

void modules_let_go(const struct modules *m)
{
	for (uint32_t i = MODULE_FIRST; i < m->n; i++) {
		const struct module *x = &m->row[i];

		if (x->image && !x->of_heap)
			madvise(x->image, x->size, MADV_DONTNEED);
		if (x->usable && !x->of_heap)
			mapped_let_go(x->elf);
	}
}

bool modules_resident(int64_t *all_bytes, int64_t *files_bytes)
{
	char text[128];
	const char *at = text;
	int64_t page = sysconf(_SC_PAGESIZE), size, all, files;
	ssize_t n;
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	if (!number_i64(&at, &size) || !number_i64(&at, &all) || !number_i64(&at, &files))
		return false;
	*all_bytes = all * page;
	*files_bytes = files * page;
	return true;
}

bool module_address(const struct module *m, uint64_t offset, uint64_t *address)
{
	for (uint32_t i = 0; i < m->nsegments; i++) {
		const struct segment *s = &m->segment[i];

		if (offset >= s->offset && offset - s->offset < s->size) {
			*address = offset - s->offset + s->address;
			return true;
		}
	}
	return false;
}

/* And back. */
static bool module_offset(const struct module *m, uint64_t address, uint64_t *offset)
{
	for (uint32_t i = 0; i < m->nsegments; i++) {
		const struct segment *s = &m->segment[i];

		if (address >= s->address && address - s->address < s->size) {
			*offset = address - s->address + s->offset;
			return true;
		}
	}
	return false;
}

enum {
	ENCODED_PCREL_4 = 0x1b,
	ENCODED_U4 = 0x03,
	ENCODED_TABLE = 0x3b,
	HEADER = 12,
	OWN_MAX = 1 << 20,
};

size_t module_code(const struct module *m, uint64_t offset, const uint8_t **code, size_t n)
{
	if (!m->image || offset >= m->size)
		return 0;
	*code = m->image + offset;
	return m->size - offset < n ? m->size - offset : n;
}

bool module_spins(const struct module *m, Elf *elf, uint64_t address)
{
	enum { BEFORE = 64, BEHIND = 64 };
	const uint8_t *code = NULL;
	uint64_t offset, from;
	GElf_Ehdr head;
	size_t n;

	if (!gelf_getehdr(elf, &head) || head.e_machine != EM_X86_64 ||
	    !module_offset(m, address, &offset))
		return false;
	from = offset < BEFORE ? 0 : offset - BEFORE;
	n = module_code(m, from, &code, BEFORE + BEHIND);
	return spins_at(code, n, (size_t)(offset - from));
}

/* The sorted table that the C library's own unwinding uses (LSB, .eh_frame_hdr). */
static bool find_table(struct starts *s, const struct module *m)
{
	size_t count;

	if (elf_getphdrnum(m->elf, &count))
		return false;
	for (size_t i = 0; i < count && i < INT_MAX; i++) {
		const uint8_t *h;
		GElf_Phdr ph;
		uint32_t n;

		if (!gelf_getphdr(m->elf, (int)i, &ph) || ph.p_type != PT_GNU_EH_FRAME)
			continue;
		if (ph.p_filesz < HEADER ||
		    module_code(m, ph.p_offset, &h, ph.p_filesz) != ph.p_filesz || h[0] != 1 ||
		    h[1] != ENCODED_PCREL_4 || h[2] != ENCODED_U4 || h[3] != ENCODED_TABLE)
			return false;
		memcpy(&n, h + 8, sizeof n);
		if (n > (ph.p_filesz - HEADER) / 8)
			return false;
		s->table = h + HEADER;
		s->base = ph.p_vaddr;
		s->n = n;
		return true;
	}
	return false;
}

static bool is_code(const struct module *m, uint64_t address)
{
	uint64_t offset;

	return module_offset(m, address, &offset);
}

/* Each description of a function; where it begins is relative to where that is written. */
static void read_section(struct starts *s, const struct module *m, Elf_Data *data, uint64_t address)
{
	const unsigned char *ident = (const unsigned char *)elf_getident(m->elf, NULL);
	Dwarf_Off at = 0, next;
	Dwarf_CFI_Entry e;
	uint32_t cap = 0;

	while (!dwarf_next_cfi(ident, data, true, at, &next, &e) && next > at) {
		const uint8_t *start = e.fde.start;
		uint64_t *grown, where;
		int32_t distance;

		at = next;
		if (dwarf_cfi_cie_p(&e) || e.fde.end - start < 8)
			continue;
		memcpy(&distance, start, sizeof distance);
		where = address + (uint64_t)(start - (const uint8_t *)data->d_buf) +
			(uint64_t)(int64_t)distance;
		grown = is_code(m, where) && s->n < OWN_MAX
				? array_room(s->own, s->n, &cap, sizeof *grown)
				: NULL;
		if (!grown)
			continue;
		s->own = grown;
		grown[s->n++] = where;
	}
}

static int by_address(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Of a static program, which has no such table. */
static void read_own(struct starts *s, const struct module *m)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(m->elf, &names))
		return;
	while ((scn = elf_nextscn(m->elf, scn))) {
		GElf_Shdr sh;
		const char *name =
			gelf_getshdr(scn, &sh) ? elf_strptr(m->elf, names, sh.sh_name) : NULL;
		Elf_Data *data;

		if (!name || strcmp(name, ".eh_frame") != 0)
			continue;
		data = elf_rawdata(scn, NULL);
		if (data && data->d_buf)
			read_section(s, m, data, sh.sh_addr);
	}
	if (s->n)
		qsort(s->own, s->n, sizeof *s->own, by_address);
}

static uint64_t entry_of(const struct starts *s, uint32_t i)
{
	int32_t v;

	if (!s->table)
		return s->own[i];
	memcpy(&v, s->table + (size_t)i * 8, sizeof v);
	return s->base + (uint64_t)(int64_t)v;
}

uint64_t starts_find(struct starts *s, const struct module *m, uint64_t address)
{
	uint32_t low = 0, high;

	if (!s->looked && m->usable && !find_table(s, m))
		read_own(s, m);
	s->looked = true;
	for (high = s->n; low < high;) {
		uint32_t mid = low + (high - low) / 2;

		if (entry_of(s, mid) <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? entry_of(s, low - 1) : 0;
}

void starts_free(struct starts *s)
{
	free(s->own);
	*s = (struct starts){ 0 };
}
