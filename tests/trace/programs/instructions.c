// SPDX-License-Identifier: MIT
/*
 * Instructions that single stepping shows in another way than they retire. Exits with 0 if the program sees
 * nothing of the stepping.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char from[100], to[100];

/* REP MOVSB of 100 bytes, then of none. */
__attribute__((noinline)) void repeat(unsigned long count)
{
	void *source = from, *destination = to;

	__asm__ volatile("rep movsb" : "+S"(source), "+D"(destination), "+c"(count) : : "memory");
}

/* The trap flag in a PUSHF image, and in R11 after a system call. */
static int trap_flag_seen(void)
{
	unsigned long pushed, number = 39 /* getpid */;
	register unsigned long r11 __asm__("r11");

	__asm__ volatile("pushfq\n\tpopq %0" : "=r"(pushed));
	__asm__ volatile("syscall" : "+a"(number), "=r"(r11) : : "rcx", "memory");
	return ((pushed | r11) & 0x100) != 0;
}

/* A constant whose lowest byte is the opcode of PUSHF, with what would be the trap flag. */
static int constant_changed(void)
{
	long pushed;

	__asm__ volatile("pushq $-100\n\tpopq %0" : "=r"(pushed));
	return pushed != -100;
}

/* Code written at run time, and overwritten without another system call. */
static int changing_code(void)
{
	unsigned char *code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static const unsigned char return_n[] = {0xb8, 0, 0, 0, 0x5a, 0xc3}; /* mov $0x5a000000 + n, %eax; ret */
	int sum = 0;

	for (unsigned char i = 1; i <= 3; i++) {
		memcpy(code, return_n, sizeof(return_n));
		code[1] = i;
		sum += ((int (*)(void))code)() - 0x5a000000;
	}
	return sum;
}

int main(void)
{
	repeat(100);
	repeat(0);
	if (trap_flag_seen())
		return 1;
	if (constant_changed())
		return 3;
	return changing_code() == 6 ? 0 : 2;
}
