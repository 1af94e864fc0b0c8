// SPDX-License-Identifier: MIT
/*
 * Handles a signal it sends itself, a fault, a breakpoint instruction, and an alarm that interrupts a sleeping
 * system call; exits with the number of handled signals: 4.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile int handled;
static sigjmp_buf after_fault;

static void count(int signal)
{
	(void)signal;
	handled++;
}

static void escape(int signal)
{
	(void)signal;
	handled++;
	siglongjmp(after_fault, 1);
}

static void handle(int signal, void (*handler)(int))
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	sigaction(signal, &action, 0);
}

int main(void)
{
	handle(SIGUSR1, count);
	handle(SIGSEGV, escape);
	handle(SIGTRAP, count);
	handle(SIGALRM, count);
	raise(SIGUSR1);
	if (!sigsetjmp(after_fault, 1))
		*(volatile int *)8 = 0;
	__asm__ volatile("int3");
	alarm(1);
	if (pause() != -1 || errno != EINTR)
		return 99;
	return handled;
}
