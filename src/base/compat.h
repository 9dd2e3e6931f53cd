/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compat.h - what older C libraries (glibc from 2.17, musl) and kernel headers lack, under the
 * names of the newest.
 *
 * The Makefile includes it into every file; where nothing is missing it is empty. A call that the
 * kernel itself does not know fails with ENOSYS, which callers have to expect anyway.
 */
#ifndef SONDE_BASE_COMPAT_H
#define SONDE_BASE_COMPAT_H

#include <features.h>
#include <stddef.h>
#include <sys/syscall.h>

#ifdef __GLIBC_PREREQ
#define COMPAT_GLIBC(major, minor)     __GLIBC_PREREQ(major, minor)
#define COMPAT_OLD_GLIBC(major, minor) !__GLIBC_PREREQ(major, minor)
#else
#define COMPAT_GLIBC(major, minor)     0
#define COMPAT_OLD_GLIBC(major, minor) 0
#endif

#ifndef __GLIBC__
#define __rlimit_resource_t int
/* musl has no arenas, and takes large blocks from the kernel as it is. */
#define M_MMAP_THRESHOLD     (-3)
#define M_ARENA_MAX          (-8)
#define mallopt(what, value) ((void)(what), (void)(value))
#endif

#if !defined SYS_close_range
#define SYS_close_range 436
#endif
#ifndef PERF_PMU_TYPE_SHIFT
#define PERF_PMU_TYPE_SHIFT 32
#endif
#ifndef PERF_FLAG_FD_CLOEXEC
#define PERF_FLAG_FD_CLOEXEC (1UL << 3)
#endif

#if !COMPAT_GLIBC(2, 32) || defined SONDE_LACKING
#include <signal.h>

static inline const char *compat_sigabbrev(int number)
{
	static const char names[][8] = {
		[SIGHUP] = "HUP",       [SIGINT] = "INT",       [SIGQUIT] = "QUIT",
		[SIGILL] = "ILL",       [SIGTRAP] = "TRAP",     [SIGABRT] = "ABRT",
		[SIGBUS] = "BUS",       [SIGFPE] = "FPE",       [SIGKILL] = "KILL",
		[SIGUSR1] = "USR1",     [SIGSEGV] = "SEGV",     [SIGUSR2] = "USR2",
		[SIGPIPE] = "PIPE",     [SIGALRM] = "ALRM",     [SIGTERM] = "TERM",
		[SIGSTKFLT] = "STKFLT", [SIGCHLD] = "CHLD",     [SIGCONT] = "CONT",
		[SIGSTOP] = "STOP",     [SIGTSTP] = "TSTP",     [SIGTTIN] = "TTIN",
		[SIGTTOU] = "TTOU",     [SIGURG] = "URG",       [SIGXCPU] = "XCPU",
		[SIGXFSZ] = "XFSZ",     [SIGVTALRM] = "VTALRM", [SIGPROF] = "PROF",
		[SIGWINCH] = "WINCH",   [SIGPOLL] = "POLL",     [SIGPWR] = "PWR",
		[SIGSYS] = "SYS",
	};

	return number > 0 && (size_t)number < sizeof names / sizeof names[0] ? names[number] : NULL;
}
#define sigabbrev_np compat_sigabbrev
#endif

#if !COMPAT_GLIBC(2, 30)
#include <dirent.h>
#include <sys/types.h>
#include <unistd.h>

static inline ssize_t compat_getdents(int fd, void *out, size_t size)
{
	return syscall(SYS_getdents64, fd, out, size);
}
#undef getdents64
#define getdents64 compat_getdents
#endif

#if !COMPAT_GLIBC(2, 28)
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static inline int compat_renameat(int from, const char *a, int to, const char *b, unsigned flags)
{
#ifdef SYS_renameat2
	return (int)syscall(SYS_renameat2, from, a, to, b, flags);
#else
	(void)from, (void)a, (void)to, (void)b, (void)flags;
	errno = ENOSYS;
	return -1;
#endif
}
#undef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#define renameat2        compat_renameat

/* As the kernel fills it in. */
struct compat_statx {
	uint32_t stx_mask, stx_blksize;
	uint64_t stx_attributes;
	uint32_t stx_nlink, stx_uid, stx_gid;
	uint16_t stx_mode, padding;
	uint64_t stx_ino, stx_size, stx_blocks, stx_attributes_mask;
	struct {
		int64_t s;
		uint32_t ns, padding;
	} times[4];
	uint32_t stx_rdev_major, stx_rdev_minor, stx_dev_major, stx_dev_minor;
	uint64_t stx_mnt_id, spare[13];
};
_Static_assert(sizeof(struct compat_statx) == 256, "the kernel writes so much");

static inline int compat_statx(int dir, const char *path, int flags, unsigned mask,
			       struct compat_statx *out)
{
#ifdef SYS_statx
	return (int)syscall(SYS_statx, dir, path, flags, mask, out);
#else
	(void)dir, (void)path, (void)flags, (void)mask, (void)out;
	errno = ENOSYS;
	return -1;
#endif
}
#define statx compat_statx
#undef STATX_TYPE
#undef STATX_SIZE
#undef STATX_MNT_ID
#undef AT_STATX_DONT_SYNC
#define STATX_TYPE         0x1U
#define STATX_SIZE         0x200U
#define STATX_MNT_ID       0x1000U
#define AT_STATX_DONT_SYNC 0x4000
#endif

#if COMPAT_OLD_GLIBC(2, 27)
#include <errno.h>
#include <unistd.h>

static inline int memfd_create(const char *name, unsigned flags)
{
#ifdef SYS_memfd_create
	return (int)syscall(SYS_memfd_create, name, flags);
#else
	(void)name, (void)flags;
	errno = ENOSYS;
	return -1;
#endif
}
#define MFD_CLOEXEC       1U
#define MFD_ALLOW_SEALING 2U
#include <fcntl.h>
#ifndef F_ADD_SEALS
#define F_ADD_SEALS   1033
#define F_SEAL_SEAL   1
#define F_SEAL_SHRINK 2
#define F_SEAL_GROW   4
#endif
#endif

#if COMPAT_OLD_GLIBC(2, 26)
#include <stdlib.h>

static inline void *reallocarray(void *old, size_t n, size_t size)
{
	return size && n > (size_t)-1 / size ? NULL : realloc(old, n * size);
}
#endif

#if COMPAT_OLD_GLIBC(2, 25)
#include <string.h>

static inline void explicit_bzero(void *at, size_t n)
{
	memset(at, 0, n);
	__asm__ volatile("" : : "r"(at) : "memory");
}
#endif

#endif
