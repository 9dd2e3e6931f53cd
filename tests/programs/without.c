/* SPDX-License-Identifier: Apache-2.0 */
/*
 * without perf_event_open,ptrace,... CMD [ARGS...]: runs CMD with these system calls refused by a
 * seccomp filter (EPERM), as container engines and sites do.
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
	{ "socket", SYS_socket },
	{ "bpf", SYS_bpf },
};

enum { CALLS = sizeof calls / sizeof calls[0] };

int main(int argc, char **argv)
{
	struct sock_filter code[2 * CALLS + 2];
	struct sock_fprog program = { .filter = code };

	if (argc < 3)
		return 2;
	code[program.len++] = (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, nr));
	for (int i = 0; i < CALLS; i++) {
		if (!strstr(argv[1], calls[i].name))
			continue;
		code[program.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
								   calls[i].number, 0, 1);
		code[program.len++] =
			(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
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
