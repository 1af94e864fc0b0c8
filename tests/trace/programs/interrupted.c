// SPDX-License-Identifier: MIT
/* Repeats REP LODSB until an alarm has come between two iterations of one. */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

static char bytes[50000];
static volatile int within;
extern const char repeated[];

static void look(int signal, siginfo_t *info, void *context)
{
	const greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)signal;
	(void)info;
	if (registers[REG_RIP] == (greg_t)repeated && registers[REG_RCX] > 0 &&
	    registers[REG_RCX] < (greg_t)sizeof(bytes))
		within = 1;
}

int main(void)
{
	const struct itimerval once = {{0, 0}, {0, 1000}};
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = look;
	action.sa_flags = SA_SIGINFO;
	sigaction(SIGALRM, &action, 0);
	while (!within) {
		const char *from = bytes;
		unsigned long count = sizeof(bytes);

		setitimer(ITIMER_REAL, &once, 0);
		__asm__ volatile(".globl repeated\nrepeated:\n\trep lodsb" : "+S"(from), "+c"(count) : : "rax", "memory");
		if (from != bytes + sizeof(bytes) || count != 0)
			return 1;
	}
	return 0;
}
