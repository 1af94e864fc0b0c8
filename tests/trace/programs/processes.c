// SPDX-License-Identifier: MIT
/* Forks a child that exits with 7, then vforks one that executes this program with an argument (exit 3). */
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int first, second;
	pid_t pid;

	if (argc > 1)
		return 3;
	pid = fork();
	if (pid == 0)
		_exit(7);
	waitpid(pid, &first, 0);
	pid = vfork();
	if (pid == 0) {
		execl(argv[0], argv[0], "child", (char *)0);
		_exit(99);
	}
	waitpid(pid, &second, 0);
	return WEXITSTATUS(first) * 10 + WEXITSTATUS(second);
}
