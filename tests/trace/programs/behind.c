// SPDX-License-Identifier: MIT
/*
 * Goes on behind region_end(), where a recording is to leave it.
 *   asleep  a child that waits for the program exits with 5 when it is told to; the program exits with that.
 *   killed  the program exits with 3. A child kills another, and is the last at region_end().
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) void region_end(void)
{
	__asm__ volatile("");
}

/* Whether a byte came, and not the end. */
static int take(int pipe_end)
{
	char byte;

	return read(pipe_end, &byte, 1) == 1;
}

static void give(int pipe_end)
{
	if (write(pipe_end, "", 1) != 1)
		_exit(98);
}

static int asleep(void)
{
	int here[2], go[2], status;

	if (pipe(here) != 0 || pipe(go) != 0)
		return 99;
	alarm(20); /* whoever is not let go is not waited for without end */
	if (fork() == 0) {
		give(here[1]);
		_exit(take(go[0]) ? 5 : 97);
	}
	take(here[0]);
	region_end();
	give(go[1]);
	wait(&status);
	return WEXITSTATUS(status);
}

static int killed(void)
{
	int open_as_long_as_it_runs[2];
	pid_t victim;

	if (pipe(open_as_long_as_it_runs) != 0)
		return 99;
	victim = fork();
	if (victim == 0) {
		close(open_as_long_as_it_runs[1]);
		for (;;)
			pause();
	}
	if (fork() == 0) {
		close(open_as_long_as_it_runs[1]);
		take(open_as_long_as_it_runs[0]);
		kill(victim, SIGKILL);
		region_end();
		_exit(0);
	}
	return 3;
}

int main(int argc, char **argv)
{
	return argc > 1 && strcmp(argv[1], "killed") == 0 ? killed() : asleep();
}
