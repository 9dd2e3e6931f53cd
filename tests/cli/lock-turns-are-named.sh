# SPDX-License-Identifier: Apache-2.0
# Threads of which one works in a mutex while the others wait for it are told so, with the function that works, whatever the program's name; threads that wait for work in a
# condition, or that each have a mutex of their own, are not.
. "$TOP/tests/lib.sh"
need gcc
need jq
[ "$(nproc)" -ge 2 ] || skip "there is one core"
cat >turns.c <<'END'
#include <pthread.h>
#include <string.h>
#include "cpu_work.h"
static pthread_mutex_t all = PTHREAD_MUTEX_INITIALIZER, own[4] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
	PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static pthread_cond_t come = PTHREAD_COND_INITIALIZER;
static int how, over, left = 100; /* pieces of work, for whoever is there */
__attribute__((noinline)) static void measure(void) { work(60); sink += 1; }
static void *worker(void *arg)
{
	long i = (long)arg;

	while (__atomic_fetch_sub(&left, how == 'c' ? 2 : 1, __ATOMIC_RELAXED) > 0) {
		pthread_mutex_t *m = how == 'o' ? &own[i] : &all;

		pthread_mutex_lock(m);
		if (how == 'c' && i)
			while (!over)
				pthread_cond_wait(&come, m);
		if (how == 'c')
			pthread_mutex_unlock(m);
		if (how != 'c' || !i)
			measure();
		if (how != 'c')
			pthread_mutex_unlock(m);
	}
	pthread_mutex_lock(&all);
	over = 1;
	pthread_cond_broadcast(&come);
	pthread_mutex_unlock(&all);
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t t[4];

	how = argv[argc - 1][0];
	for (long i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return 0;
}
END
gcc -O1 -g -pthread -I "$TOP/tests/programs" -o 'turns)' turns.c || fail "gcc"
verdicts() { # HOW: the sentences on turns at a lock
	"$SONDE" run --quiet -i 100ms -o "job_$1" -- './turns)' "$1" || fail "turns $1"
	"$SONDE" show --json "job_$1" | jq -r '.verdicts[] | select(.rule | startswith("lock-turns")).sentence'
}
verdicts turns >said
contains said "One thread at a time has the lock"
contains said "at turns) (pid "
contains said " of them waited for one mutex while one worked"
[ "$(figure job_turns '.nodes[0].metadata["job.waited.turns_most"]')" = 3 ] || fail "not three waited: $(cat said)"
if "$SONDE" show --json job_turns | jq -e '.code' >/dev/null 2>&1; then
	contains said "measure (turns.c:"
fi
equal "said of a condition" "" "$(verdicts condition)"
equal "said of locks of one thread each" "" "$(verdicts own)"
