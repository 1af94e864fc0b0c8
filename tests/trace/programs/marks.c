// SPDX-License-Identifier: MIT
/* A loop between the marks that tell a recorder where to begin and to end. */
#define MARK(number) __asm__ volatile("movl %0, %%ebx\n\t.byte 0x64, 0x67, 0x90" : : "i"(number) : "ebx")

volatile int sum;

void before(void) { ++sum; }
void between(void) { ++sum; }
void after(void) { ++sum; }

int main(void)
{
	int i;

	before();
	MARK(0x111);
	for (i = 0; i < 10; i++)
		between();
	MARK(0x222);
	after();
	return 0;
}
