// SPDX-License-Identifier: MIT
/* A thread that is not the first executes the program with an argument while its XMM15 holds something. */
#include <pthread.h>

static void *execute(void *program)
{
	char *const arguments[] = {program, "again", 0};
	char *const environment[] = {0};
	unsigned long number = 59 /* execve */;

	__asm__ volatile("movq %1, %%xmm15\n\tsyscall"
			 : "+a"(number)
			 : "r"(0x1234567890abcdefUL), "D"(program), "S"(arguments), "d"(environment)
			 : "rcx", "r11", "xmm15", "memory");
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc > 1)
		return 0;
	pthread_create(&thread, 0, execute, argv[0]);
	pthread_join(thread, 0);
	return 99;
}
