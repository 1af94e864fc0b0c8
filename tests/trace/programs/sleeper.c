// SPDX-License-Identifier: MIT
/* One thread spins without a system call until another, which sleeps first, tells it to go on. */
#include <pthread.h>
#include <unistd.h>

static volatile int awake;

static void *sleep_first(void *unused)
{
	usleep(2000);
	awake = 1;
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, 0, sleep_first, 0);
	while (!awake)
		;
	pthread_join(thread, 0);
	return 6;
}
