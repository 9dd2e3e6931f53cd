# SPDX-License-Identifier: Apache-2.0
"""Programs that wait, made at random: C and C++ with chains of functions of every shape, built in every way; Python, node and shells. Each knows
what its threads wait for, whom for, and in which functions. Used by blocked-threads-are-named.py."""
import shutil

HEAD = """
#define _GNU_SOURCE
#include <alloca.h>
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __cplusplus
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>
#endif
static volatile long sink;
static long tid_of[16], who[16];
static int fd_of[16][2];
static pthread_t other[16];
static char big[1 << 20];
static int nothing(int i) { sink += i; return 0; }
/* Its return addresses stay in the room that alloca then takes. */
__attribute__((noinline)) int load_old_rests(int n) { if (n > 0) sink += load_old_rests(n - 1); sink++; return (int)sink; }
static long forever(void) { for (;;) pause(); return 0; }
static pid_t partner(int shut) {
	int up[2]; char c; pid_t p;
	if (pipe(up)) abort();
	p = fork();
	if (!p) { prctl(PR_SET_PDEATHSIG, SIGKILL); if (shut >= 0) close(shut); if (write(up[1], "x", 1) < 0) abort(); forever(); }
	if (read(up[0], &c, 1) < 0) abort();
	close(up[0]); close(up[1]);
	return p;
}
static void pipe_with(int i, int mine) {
	if (pipe(fd_of[i])) abort();
	who[i] = partner(fd_of[i][mine]); close(fd_of[i][!mine]);
}
static void socket_with(int i) {
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd_of[i])) abort();
	who[i] = partner(fd_of[i][0]); close(fd_of[i][1]);
}
static void listen_at(int i) {
	struct sockaddr_in a; memset(&a, 0, sizeof a); a.sin_family = AF_INET; a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd_of[i][0] = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(fd_of[i][0], (struct sockaddr *)&a, sizeof a) || listen(fd_of[i][0], 1)) abort();
}
static void connect_with(int i) {
	struct sockaddr_in a; socklen_t n = sizeof a; int l, c, s;
	listen_at(i); l = fd_of[i][0];
	if (getsockname(l, (struct sockaddr *)&a, &n)) abort();
	c = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(c, (struct sockaddr *)&a, sizeof a)) abort();
	s = accept(l, NULL, NULL); close(l); fd_of[i][0] = c;
	who[i] = partner(c); close(s);
}
static void held(int i, int by_flock) {
	char name[32]; int up[2]; char c; struct flock k; pid_t p;
	snprintf(name, sizeof name, "lock.%d", i);
	fd_of[i][0] = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	memset(&k, 0, sizeof k); k.l_type = F_WRLCK;
	if (pipe(up)) abort();
	p = fork();
	if (!p) {
		int fd = open(name, O_RDWR);
		prctl(PR_SET_PDEATHSIG, SIGKILL); close(fd_of[i][0]);
		if (by_flock ? flock(fd, LOCK_EX) : fcntl(fd, F_SETLK, &k)) abort();
		if (write(up[1], "x", 1) < 0) abort();
		forever();
	}
	if (read(up[0], &c, 1) < 0) abort();
	close(up[0]); close(up[1]); who[i] = p;
}
static void *locks(void *m) { pthread_mutex_lock((pthread_mutex_t *)m); return 0; }
static void *sleeper(void *a) { long i = (long)a; who[i] = syscall(SYS_gettid); forever(); return 0; }
"""

# kind: (globals, set up, wait, what it waits for, who ends it: m main thread, p whom who[i] names, s itself, - nobody is known, what its object has)
C_KINDS = {
    "mutex": ("static pthread_mutex_t m@ = PTHREAD_MUTEX_INITIALIZER;", "pthread_mutex_lock(&m@);", "pthread_mutex_lock(&m@);", "mutex", "m", ""),
    "mutex_pi": ("static pthread_mutex_t m@;", """{ pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
        pthread_mutex_init(&m@, &a); pthread_mutex_lock(&m@); }""", "pthread_mutex_lock(&m@);", "mutex", "m", ""),
    "mutex_robust": ("static pthread_mutex_t m@;", """{ pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
        pthread_mutex_init(&m@, &a); pthread_mutex_lock(&m@); }""", "pthread_mutex_lock(&m@);", "mutex", "m", ""),
    "mutex_lost": ("static pthread_mutex_t m@ = PTHREAD_MUTEX_INITIALIZER;", "pthread_create(&other[@], NULL, locks, &m@); pthread_join(other[@], NULL);", "pthread_mutex_lock(&m@);",
                   "mutex", "-", "which is not in this process"),
    "condition": ("static pthread_mutex_t m@ = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t c@ = PTHREAD_COND_INITIALIZER;", "",
                  "pthread_mutex_lock(&m@); pthread_cond_wait(&c@, &m@);", "condition", "-", ""),
    "barrier": ("static pthread_barrier_t b@;", "pthread_barrier_init(&b@, NULL, 3);", "pthread_barrier_wait(&b@);", "barrier", "-", "1 of 3"),
    "semaphore": ("static sem_t s@;", "sem_init(&s@, 0, 0);", "sem_wait(&s@);", "semaphore", "-", ""),
    "rwlock": ("static pthread_rwlock_t r@ = PTHREAD_RWLOCK_INITIALIZER;", "pthread_rwlock_wrlock(&r@);", "pthread_rwlock_rdlock(&r@);", "rwlock", "m", ""),
    "rwlock_write": ("static pthread_rwlock_t r@ = PTHREAD_RWLOCK_INITIALIZER;", "pthread_rwlock_wrlock(&r@);", "pthread_rwlock_wrlock(&r@);", "rwlock", "m", ""),
    "join": ("", "pthread_create(&other[@], NULL, sleeper, (void *)@); while (!*(volatile long *)&who[@]) usleep(100);", "pthread_join(other[@], NULL);", "thread_end", "p", ""),
    "pipe_read": ("", "pipe_with(@, 0);", "sink += read(fd_of[@][0], big, 1);", "pipe_read", "p", ""),
    "pipe_write": ("", "pipe_with(@, 1);", "sink += write(fd_of[@][1], big, sizeof big);", "pipe_write", "p", ""),
    "socket": ("", "socket_with(@);", "sink += recv(fd_of[@][0], big, 1, 0);", "socket_read", "p", ""),
    "socket_write": ("", "socket_with(@);", "for (;;) sink += send(fd_of[@][0], big, sizeof big, 0);", "socket_write", "p", ""),
    "tcp": ("", "connect_with(@);", "sink += read(fd_of[@][0], big, 1);", "socket_read", "p", "TCP 127.0.0.1:"),
    "accept": ("", "listen_at(@);", "sink += accept(fd_of[@][0], NULL, NULL);", "connection", "-", "TCP 127.0.0.1:"),
    "flock": ("", "held(@, 1);", "sink += flock(fd_of[@][0], LOCK_EX);", "file_lock", "p", "lock.@"),
    "fcntl": ("", "held(@, 0);", "{ struct flock k; memset(&k, 0, sizeof k); k.l_type = F_WRLCK; sink += fcntl(fd_of[@][0], F_SETLKW, &k); }", "file_lock", "p", "lock.@"),
    "child": ("", "who[@] = partner(-1);", "sink += waitpid((pid_t)who[@], NULL, 0);", "child", "p", ""),
    "sleep": ("", "", "sleep(3000);", "timer", "-", "3000 s"),
    "nanosleep": ("", "", "{ struct timespec t; t.tv_sec = 5000; t.tv_nsec = 0; nanosleep(&t, NULL); }", "timer", "-", "5000 s"),
    "poll": ("", "pipe_with(@, 0);", "{ struct pollfd p; p.fd = fd_of[@][0]; p.events = POLLIN; sink += poll(&p, 1, -1); }", "pipe_read", "p", ""),
    "poll_timed": ("", "socket_with(@);", "{ struct pollfd p; p.fd = fd_of[@][0]; p.events = POLLIN; sink += poll(&p, 1, 1000000); }", "socket_read", "p", ""),
    "poll_none": ("", "", "sink += poll(NULL, 0, 1000000);", "timer", "-", ""),
    "select": ("", "socket_with(@);", "{ fd_set s; FD_ZERO(&s); FD_SET(fd_of[@][0], &s); sink += select(fd_of[@][0] + 1, &s, NULL, NULL, NULL); }", "socket_read", "p", ""),
    "epoll": ("", "pipe_with(@, 0);", """{ int e = epoll_create1(0); struct epoll_event v; v.events = EPOLLIN; epoll_ctl(e, EPOLL_CTL_ADD, fd_of[@][0], &v);
        sink += epoll_wait(e, &v, 1, -1); }""", "pipe_read", "p", ""),
    "fifo": ("", 'mkfifo("fifo.@", 0600);', 'sink += open("fifo.@", O_RDONLY);', "fifo_writer", "-", "fifo.@"),
    "fifo_reader": ("", 'mkfifo("fifo.@", 0600);', 'sink += open("fifo.@", O_WRONLY);', "fifo_reader", "-", "fifo.@"),
    "eventfd": ("", "fd_of[@][0] = eventfd(0, 0);", "sink += read(fd_of[@][0], big, 8);", "events", "-", "[eventfd]"),
    "signal": ("", "", "{ sigset_t s; int n; sigemptyset(&s); sigaddset(&s, SIGUSR1); sink += sigwait(&s, &n); }", "signal", "-", ""),
    "queue": ("", "who[@] = fd_of[@][0] = msgget(IPC_PRIVATE, 0600);", "sink += msgrcv(fd_of[@][0], big, 8, 0, 0);", "queue", "-", ""),
    "terminal": ("", "fd_of[@][0] = posix_openpt(O_RDWR | O_NOCTTY); grantpt(fd_of[@][0]); unlockpt(fd_of[@][0]); fd_of[@][1] = open(ptsname(fd_of[@][0]), O_RDWR | O_NOCTTY);",
                 "sink += read(fd_of[@][1], big, 1);", "terminal", "-", "/dev/pts/"),
}
CPP_KINDS = {
    "std_mutex": ("static std::mutex m@;", "m@.lock();", "m@.lock();", "mutex", "m", ""),
    "std_guard": ("static std::mutex m@;", "m@.lock();", "std::lock_guard<std::mutex> g(m@); sink++;", "mutex", "m", ""),
    "std_condition": ("static std::mutex m@; static std::condition_variable c@;", "", "std::unique_lock<std::mutex> g(m@); c@.wait(g, [] { return sink < -1; });", "condition", "-", ""),
    "std_thread": ("static std::thread t@;", "t@ = std::thread([] { sleeper((void *)@); }); while (!*(volatile long *)&who[@]) usleep(100);", "t@.join();", "thread_end", "p", ""),
    "std_future": ("static std::promise<int> p@;", "", "std::future<int> f = p@.get_future(); sink += f.get();", "thread", "-", ""),
}
BUILDS = ["-O0", "-O1", "-O2", "-O3", "-Os", "-Og"]
FRAMES = ["-fomit-frame-pointer", "-fno-omit-frame-pointer", ""]
LINKS = ["", "", "-no-pie", "-Wl,-z,lazy", "-Wl,-z,now -fno-plt", "-static", "-fcf-protection=full", "-s", "-fstack-protector-all"]


def chain(random, i, wait, compiler):
    """Functions that lead to the wait, and their names, the innermost first."""
    depth, text, names = random.randint(1, 6), "", []
    for level in range(depth):
        name = f"{random.choice(['load', 'solve', 'step', 'send', 'merge', 'apply'])}_{i}_{level}"
        inner = names[-1] if names else None
        call = wait if not inner else f"sink += {inner}(a + 1);"
        shape = random.choice(["plain", "array", "alloca", "pointer", "large", "dirty", "aligned"])
        before = {"plain": "", "array": "volatile char x[200]; memset((void *)x, a, sizeof x); sink += x[3];",
                  "alloca": "sink += load_old_rests(40); volatile char *x = (volatile char *)alloca((size_t)(a & 63) + 40); x[1] = 2; sink += x[1];", "pointer": "",
                  "large": "volatile char x[40000]; x[a & 7] = 1; sink += x[a & 7];", "dirty": "sink += nothing(a); sink += printf(\"%s\", \"\");",
                  "aligned": "volatile char x[64] __attribute__((aligned(64))); x[0] = 1; sink += x[0];"}[shape]
        if shape == "pointer" and inner:
            call = f"{{ int (*volatile f)(int) = {inner}; sink += f(a); }}"
        text += f"__attribute__((noinline{'' if compiler.startswith('clang') else ', noclone'})) int {name}(int a) {{ {before} {call} sink += a; return (int)sink; }}\n"
        names.append(name)
    return text, names


def compiled(random, name):
    """Source, command to build it, and what is true of it."""
    cpp = random.random() < 0.3
    compiler = ("g++" if cpp else random.choice(["gcc", "gcc", "gcc", "clang"]))
    if not shutil.which(compiler):
        compiler = "gcc"
    kinds = {**C_KINDS, **CPP_KINDS} if cpp else C_KINDS
    n = random.randint(1, 4)
    drawn = [random.choice(sorted(kinds)) for _ in range(n)]
    if cpp:
        drawn[0] = random.choice(sorted(CPP_KINDS))
    text, make, started, truth = HEAD, "", "", []
    for i, kind in enumerate(drawn):
        declared, setup, wait, what, whom, has = (part.replace("@", str(i)) for part in kinds[kind])
        functions, names = chain(random, i, wait, compiler)
        text += f"{declared}\n{functions}static void *thread_{i}(void *a) {{ tid_of[{i}] = syscall(SYS_gettid); sink += {names[-1]}((int)(long)a); return 0; }}\n"
        make += f"\t{setup}\n"
        started += f"\tpthread_create(&t, NULL, thread_{i}, (void *){i}L);\n"
        truth.append({"kind": kind, "waits_for": what, "whom": whom, "has": has, "functions": names})
    text += f"""int main(void) {{
	pthread_t t; (void)held; (void)socket_with; (void)connect_with; (void)pipe_with; (void)sleeper; (void)locks; (void)nothing;
	sigset_t s; sigemptyset(&s); sigaddset(&s, SIGUSR1); pthread_sigmask(SIG_BLOCK, &s, NULL);
{make}{started}	for (int i = 0; i < {n}; i++) while (!*(volatile long *)&tid_of[i]) usleep(1000);
	printf("[%d", (int)getpid()); for (int i = 0; i < {n}; i++) printf(", [%ld, %ld]", tid_of[i], who[i]); printf("]\\n"); fflush(stdout);
	forever();
}}
"""
    link = random.choice(LINKS)
    source = f"{name}.{'cc' if cpp else 'c'}"
    build = [compiler, "-w", "-g", random.choice(BUILDS).replace("-Og", "-O1" if compiler == "clang" else "-Og"), *random.choice(FRAMES).split(), *link.split(), "-pthread", "-o", name, source]
    return source, text, build, {"threads": truth, "stripped": link == "-s", "build": " ".join(build)}


# What interpreters wait for is found by their system calls: (program, text, what, what its object or one who ends it has)
SCRIPTS = {
    "py_sleep": ("python3", "import time; time.sleep(4000)", "timer", ""),
    "py_lock": ("python3", "import threading; x = threading.Lock(); x.acquire(); x.acquire()", "semaphore", ""),
    "py_pipe": ("python3", "import os; r, w = os.pipe(); os.fork() or (os.close(r), __import__('time').sleep(4000)); os.close(w); os.read(r, 1)", "pipe_read", "python3"),
    "py_child": ("python3", "import subprocess; subprocess.run(['sleep', '4000'])", "child", "sleep"),
    "py_select": ("python3", "import select, socket; a, b = socket.socketpair(); select.select([a], [], [])", "socket_read", ""),
    "py_flock": ("python3", "import fcntl; a, b = open('x', 'w'), open('x', 'w'); fcntl.flock(a, 2); fcntl.flock(b, 2)", "file_lock", "/x"),
    "py_fifo": ("python3", "import os; os.path.exists('f') or os.mkfifo('f'); open('f')", "fifo_writer", "f"),
    "py_accept": ("python3", "import socket; socket.create_server(('127.0.0.1', 0)).accept()", "connection", "TCP 127.0.0.1:"),
    "py_connect": ("python3", "import socket; s = socket.create_server(('127.0.0.1', 0)); socket.create_connection(s.getsockname()).recv(1)", "socket_read", "TCP 127.0.0.1:"),
    "node_child": ("node", "require('child_process').execSync('sleep 4000')", "events", "sleep"),
    "node_timer": ("node", "setTimeout(() => 0, 4000000)", "events", ""),
    "sh_child": ("sh", "sleep 4000; true", "child", "sleep"),
    "sh_wait": ("bash", "sleep 4000 & wait", "child", "sleep"),
    "sh_fifo": ("sh", "mkfifo f; read x <f", "fifo_writer", "f"),
    "sh_pipe": ("bash", "sleep 4000 | read x; true", "child", "bash"),
}


def script(random, name):
    kind = random.choice(sorted(SCRIPTS))
    program, text, what, has = SCRIPTS[kind]
    command = [program, "-c" if program != "node" else "-e", text]
    return command, {"threads": [{"kind": kind, "waits_for": what, "whom": "", "has": has, "functions": []}], "stripped": True, "build": name}
