/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lacking.c - what libsonde.so.0 of a release calls and the C libraries of its users may lack:
 * glibc from 2.17, musl from 1.2.0.
 *
 * Linked into that library alone, where these take the place of the C library's; none is visible
 * outside. base/compat.h is for building with such a C library.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

void *reallocarray(void *old, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / size) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, n * size);
}

#ifdef __GLIBC__
#include <dirent.h>

/* The kernel's struct stat is the C library's on these processors. */
#if !defined __x86_64__ && !defined __aarch64__
#error "struct stat of this processor is not known to be the kernel's"
#endif
int stat(const char *path, struct stat *out)
{
	return (int)syscall(SYS_newfstatat, AT_FDCWD, path, out, 0);
}

int fstat(int fd, struct stat *out)
{
	return (int)syscall(SYS_newfstatat, fd, "", out, AT_EMPTY_PATH);
}

int fstatat(int dir, const char *path, struct stat *out, int flags)
{
	return (int)syscall(SYS_newfstatat, dir, path, out, flags);
}

int memfd_create(const char *name, unsigned flags)
{
	return (int)syscall(SYS_memfd_create, name, flags);
}

ssize_t getdents64(int fd, void *out, size_t size)
{
	return syscall(SYS_getdents64, fd, out, size);
}

#undef sigabbrev_np
const char *sigabbrev_np(int number)
{
	return compat_sigabbrev(number);
}

#if defined __x86_64__ && __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>

/* What base/hash.c asks, SSE 4.2 and PCLMULQDQ, and core/frame/derive_slice.c, AVX2. */
const struct cpuid_feature *__x86_get_cpuid_feature_leaf(unsigned leaf)
{
	static const struct cpuid_feature none,
		checksums = { .active_array[2] = 1U << 20 | 1U << 1 },
		avx2 = { .active_array[1] = 1U << 5 };

	if (leaf == CPUID_INDEX_1 && __builtin_cpu_supports("sse4.2") &&
	    __builtin_cpu_supports("pclmul"))
		return &checksums;
	return leaf == CPUID_INDEX_7 && __builtin_cpu_supports("avx2") ? &avx2 : &none;
}
#endif
#else
#include <sys/auxv.h>

/* What libgcc of a compiler for glibc asks which atomic instructions there are. */
unsigned long __getauxval(unsigned long type)
{
	return getauxval(type);
}

static _Thread_local struct {
	int (*compare)(const void *, const void *, void *);
	void *context;
} sorting;

static int compare_sorted(const void *a, const void *b)
{
	return sorting.compare(a, b, sorting.context);
}

/* None of the library's comparisons sorts. */
void qsort_r(void *base, size_t n, size_t size, int (*compare)(const void *, const void *, void *),
	     void *context)
{
	sorting.compare = compare;
	sorting.context = context;
	qsort(base, n, size, compare_sorted);
}
#endif
