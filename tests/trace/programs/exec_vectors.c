// SPDX-License-Identifier: MIT
/* Executes itself with an argument while XMM15 holds something. */
int main(int argc, char **argv)
{
	char *const arguments[] = {argv[0], "again", 0};
	char *const environment[] = {0};
	unsigned long number = 59 /* execve */;

	if (argc > 1)
		return 0;
	__asm__ volatile("movq %1, %%xmm15\n\tsyscall"
			 : "+a"(number)
			 : "r"(0x1234567890abcdefUL), "D"(argv[0]), "S"(arguments), "d"(environment)
			 : "rcx", "r11", "xmm15", "memory");
	return 99;
}
