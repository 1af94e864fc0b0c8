// SPDX-License-Identifier: MIT
/* Gets signals of the kind that its argument names, and exits with how often its handlers began. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { rounds = 5, threads = 4 };

static volatile sig_atomic_t handled;
static sigjmp_buf escape;

static void count(int signal)
{
	(void)signal;
	__atomic_add_fetch(&handled, 1, __ATOMIC_RELAXED);
}

static void count_and_escape(int signal)
{
	count(signal);
	siglongjmp(escape, 1);
}

/* As runtimes hand on what is not theirs: a jump with the arguments that it got. */
static void (*volatile next)(int) = count;
static void hand_on(int signal)
{
	next(signal);
}

static void step_over_division(int signal, siginfo_t *info, void *context)
{
	(void)info;
	count(signal);
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
}

static void alarm_after(int us, int again)
{
	const struct itimerval timer = {{0, again ? us : 0}, {0, us}};

	setitimer(ITIMER_REAL, &timer, 0);
}

static void of_raise(void)
{
	raise(SIGUSR1);
}

static void of_pipe(void)
{
	int ends[2];

	if (pipe(ends) != 0)
		_exit(99);
	close(ends[0]);
	if (write(ends[1], "x", 1) >= 0)
		_exit(99);
	close(ends[1]);
}

static void of_itimer(void)
{
	const int before = handled;
	volatile unsigned spent = 0;

	alarm_after(2000, 1);
	while (handled == before)
		spent++;
	alarm_after(0, 0);
}

static void of_pause(void)
{
	const int before = handled;

	/* Again and again: a first one may come before the pause. */
	alarm_after(3000, 1);
	while (handled == before)
		pause();
	alarm_after(0, 0);
}

static void of_chld(void)
{
	int status;

	if (fork() == 0)
		_exit(0);
	while (wait(&status) < 0)
		continue;
}

static void block(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigprocmask(how, &set, 0);
}

static void of_unblock(void)
{
	block(SIG_BLOCK);
	raise(SIGUSR1);
	block(SIG_UNBLOCK);
}

static void of_nested(void)
{
	sigset_t none;

	sigemptyset(&none);
	block(SIG_BLOCK);
	raise(SIGUSR1);
	raise(SIGUSR2);
	sigsuspend(&none);
	block(SIG_UNBLOCK);
}

static void of_escape(void)
{
	if (!sigsetjmp(escape, 1))
		*(volatile int *)8 = 0;
}

static void of_division(void)
{
	__asm__ volatile("xor %%ecx, %%ecx\n\tdiv %%ecx" : : : "rax", "rcx", "rdx");
}

static void of_stack(void)
{
	static char memory[65536];
	const stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)};

	sigaltstack(&stack, 0);
	raise(SIGWINCH);
}

static void of_restart(void)
{
	char byte;
	int ends[2];

	if (pipe(ends) != 0)
		_exit(99);
	if (fork() == 0) {
		usleep(20000);
		kill(getppid(), SIGUSR1);
		usleep(20000);
		_exit(write(ends[1], "x", 1) != 1);
	}
	if (read(ends[0], &byte, 1) != 1)
		_exit(99);
	wait(0);
	close(ends[0]);
	close(ends[1]);
}

static void *raise_in_thread(void *unused)
{
	for (int n = 0; n < rounds; n++)
		pthread_kill(pthread_self(), SIGUSR1);
	return unused;
}

static void of_threads(void)
{
	pthread_t thread[threads];

	for (int n = 0; n < threads; n++)
		pthread_create(&thread[n], 0, raise_in_thread, 0);
	for (int n = 0; n < threads; n++)
		pthread_join(thread[n], 0);
}

static void of_fork(void)
{
	int status;
	const pid_t child = fork();

	raise(SIGUSR1);
	if (child == 0)
		_exit(0);
	waitpid(child, &status, 0);
	handled++;
}

static const struct {
	const char *name;
	void (*of)(void);
} kinds[] = {{"raise", of_raise},       {"pipe", of_pipe},       {"itimer", of_itimer},   {"pause", of_pause},
	     {"chld", of_chld},         {"unblock", of_unblock}, {"nested", of_nested},   {"escape", of_escape},
	     {"division", of_division}, {"stack", of_stack},     {"restart", of_restart}, {"threads", of_threads},
	     {"fork", of_fork},         {"chain", of_raise}};

static void handle(int signal, void (*handler)(int), int flags)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	action.sa_flags = flags;
	sigaction(signal, &action, 0);
}

int main(int argc, char **argv)
{
	const int own[] = {SIGUSR1, SIGUSR2, SIGPIPE, SIGALRM};
	const struct sigaction division = {.sa_sigaction = step_over_division, .sa_flags = SA_SIGINFO};

	for (unsigned n = 0; n < sizeof(own) / sizeof(own[0]); n++)
		handle(own[n], count, SA_RESTART);
	handle(SIGSEGV, count_and_escape, 0);
	sigaction(SIGFPE, &division, 0);
	handle(SIGWINCH, count, SA_ONSTACK);
	if (argc > 1 && strcmp(argv[1], "chld") == 0)
		handle(SIGCHLD, count, SA_RESTART);
	if (argc > 1 && strcmp(argv[1], "chain") == 0)
		handle(SIGUSR1, hand_on, 0);
	for (unsigned n = 0; argc > 1 && n < sizeof(kinds) / sizeof(kinds[0]); n++)
		if (strcmp(argv[1], kinds[n].name) == 0)
			for (int round = 0; round < (kinds[n].of == of_threads ? 1 : rounds); round++)
				kinds[n].of();
	return handled;
}
