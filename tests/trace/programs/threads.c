// SPDX-License-Identifier: MIT
/* Two threads take a mutex in turns; exits with the sum they made: 2 * 50. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum;

static void *work(void *unused)
{
	for (int i = 0; i < 50; i++) {
		pthread_mutex_lock(&lock);
		sum++;
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], 0, work, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], 0);
	return sum;
}
