/* SPDX-License-Identifier: Apache-2.0 */
/* deadlock: two threads that each wait for the mutex of the other. */
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;

static void *other(void *unused)
{
	pthread_mutex_lock(&second);
	usleep(200000);
	pthread_mutex_lock(&first);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_mutex_lock(&first);
	if (pthread_create(&thread, NULL, other, NULL))
		return 1;
	usleep(200000);
	pthread_mutex_lock(&second);
	return 0;
}
