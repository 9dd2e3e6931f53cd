/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/debugfile.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static Elf *elf_of(int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);

	if (elf && elf_kind(elf) == ELF_K_ELF)
		return elf;
	elf_end(elf);
	return NULL;
}

static int open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool has_build_id(Elf *elf, const char *build_id)
{
	const void *bytes;
	ssize_t n = dwelf_elf_gnu_build_id(elf, &bytes);

	if (n <= 0 || (size_t)n * 2 != strlen(build_id))
		return false;
	for (ssize_t i = 0; i < n; i++) {
		char byte[3];

		snprintf(byte, sizeof byte, "%02x", ((const uint8_t *)bytes)[i]);
		if (memcmp(byte, build_id + 2 * i, 2) != 0)
			return false;
	}
	return true;
}

/* That of zlib, which .gnu_debuglink has. */
static bool checksum_is(int fd, uint32_t wanted)
{
	uint32_t table[256], crc = UINT32_MAX;
	uint8_t buf[16384];
	ssize_t n;

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320U : 0);
	}
	while ((n = read(fd, buf, sizeof buf)) > 0)
		for (ssize_t i = 0; i < n; i++)
			crc = crc >> 8 ^ table[(crc ^ buf[i]) & 0xff];
	return n == 0 && ~crc == wanted;
}

/* wanted: the checksum of .gnu_debuglink; NULL: its build-id tells. */
static bool try_debug(struct debugfile *d, const struct module *m, const char *path,
		      const uint32_t *wanted)
{
	int fd = open_regular(path);
	Elf *elf = fd >= 0 && (!wanted || checksum_is(fd, *wanted)) ? elf_of(fd) : NULL;

	if (elf && (wanted || has_build_id(elf, m->build_id))) {
		*d = (struct debugfile){ elf, fd };
		return true;
	}
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return false;
}

void debugfile_find(struct debugfile *d, const struct module *m, Elf *elf)
{
	const char *id = m->build_id, *name = m->path, *slash;
	char path[PATH_MAX];
	GElf_Word crc;
	const char *link;
	int directory;

	if (strlen(id) > 4) {
		snprintf(path, sizeof path, "/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
		if (try_debug(d, m, path, NULL))
			return;
	}
	link = dwelf_elf_gnu_debuglink(elf, &crc);
	slash = name ? strrchr(name, '/') : NULL;
	if (!link || !slash || strchr(link, '/'))
		return;
	directory = (int)(slash - name);
	snprintf(path, sizeof path, "%.*s/%s", directory, name, link);
	if (strcmp(path, name) != 0 && try_debug(d, m, path, &crc))
		return;
	snprintf(path, sizeof path, "%.*s/.debug/%s", directory, name, link);
	if (try_debug(d, m, path, &crc))
		return;
	snprintf(path, sizeof path, "/usr/lib/debug%.*s/%s", directory, name, link);
	try_debug(d, m, path, &crc);
}

bool debugfile_has_info(Elf *elf)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		const char *name =
			gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;

		if (name && (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info")) &&
		    sh.sh_type != SHT_NOBITS)
			return true;
	}
	return false;
}

int64_t debugfile_inflated_bytes(Elf *elf)
{
	Elf_Scn *scn = NULL;
	int64_t n = 0;

	while (elf && (scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		GElf_Chdr ch;

		if (gelf_getshdr(scn, &sh) && sh.sh_flags & SHF_COMPRESSED &&
		    gelf_getchdr(scn, &ch))
			n += ch.ch_size < INT32_MAX ? (int64_t)ch.ch_size : INT32_MAX;
	}
	return n;
}

void debugfile_close(struct debugfile *d)
{
	elf_end(d->elf);
	if (d->fd >= 0)
		close(d->fd);
	*d = (struct debugfile){ NULL, -1 };
}
