/* SPDX-License-Identifier: Apache-2.0 */
/*
 * without perf_event_open,ptrace,... CMD [ARGS...]: runs CMD with these system calls refused by a
 * seccomp filter (EPERM), as container engines and sites do; without permitted-perf-events CMD: as
 * where kernel.perf_event_paranoid is 3 (EACCES); without linux-3.10 CMD: without those that Linux
 * 3.10 did not have (ENOSYS).
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *name;
	unsigned number;
} calls[] = {
	{ "perf_event_open", SYS_perf_event_open },
	{ "ptrace", SYS_ptrace },
	{ "process_vm_readv", SYS_process_vm_readv },
	{ "socket", SYS_socket },
	{ "bpf", SYS_bpf },
};

/* What came in 3.11 or later; those without a name have the same number everywhere. */
static const unsigned later[] = { SYS_bpf,       SYS_copy_file_range, SYS_execveat,
				  SYS_getrandom, SYS_membarrier,      SYS_memfd_create,
				  SYS_mlock2,    SYS_preadv2,         SYS_pwritev2,
				  SYS_renameat2, SYS_sched_getattr,   SYS_sched_setattr,
				  SYS_seccomp,   SYS_statx,           SYS_userfaultfd };
enum {
	NUMBERED_FROM = 424,
	CALLS = sizeof calls / sizeof calls[0] + sizeof later / sizeof later[0]
};

static void refuse(struct sock_fprog *p, unsigned how, unsigned number, unsigned error)
{
	p->filter[p->len++] =
		(struct sock_filter)BPF_JUMP((unsigned short)(BPF_JMP | how | BPF_K), number, 0, 1);
	p->filter[p->len++] =
		(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error);
}

int main(int argc, char **argv)
{
	struct sock_filter code[2 * CALLS + 4];
	struct sock_fprog program = { .filter = code };

	if (argc < 3)
		return 2;
	code[program.len++] = (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
		if (strstr(argv[1], calls[i].name))
			refuse(&program, BPF_JEQ, calls[i].number, EPERM);
	}
	if (!strcmp(argv[1], "permitted-perf-events"))
		refuse(&program, BPF_JEQ, SYS_perf_event_open, EACCES);
	if (!strcmp(argv[1], "linux-3.10")) {
		for (size_t i = 0; i < sizeof later / sizeof later[0]; i++)
			refuse(&program, BPF_JEQ, later[i], ENOSYS);
		refuse(&program, BPF_JGE, NUMBERED_FROM, ENOSYS);
	}
	code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("without: seccomp");
		return 77;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
