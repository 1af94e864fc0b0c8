// SPDX-License-Identifier: MIT
// Lets happen, in few instructions, what the events of the models count: every level of cache and TLB answers
// loads, stores and fetch, branches of all kinds go wrong, loads meet older stores, buffers fill up, uops come
// from every source.
//
//   events
//
// Instructions that the CPU lacks (AVX2, AVX-512, VNNI, FP16) are left out.
// Build: cc -O1 -mno-red-zone -fcf-protection=none -fno-pie -no-pie events.c -o events
#define _GNU_SOURCE
#include <cpuid.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { line = 64, page = 4096, far = 256 * 1024 };

static void *map(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED) {
		perror("events: mmap");
		exit(1);
	}
	return at;
}

static void load(char *at, long step, long count)
{
	__asm__ volatile("1: mov (%0), %%eax; add %1, %0; dec %2; jnz 1b"
			 : "+r"(at), "+r"(step), "+r"(count)::"rax", "memory");
}

static void store(char *at, long step, long count)
{
	__asm__ volatile("1: mov %%eax, (%0); add %1, %0; dec %2; jnz 1b"
			 : "+r"(at), "+r"(step), "+r"(count)::"rax", "memory");
}

/* Calls what stands at each step: code that returns. */
static void fetch(char *at, long step, long count)
{
	__asm__ volatile("1: call *%0; add %1, %0; dec %2; jnz 1b"
			 : "+r"(at), "+r"(step), "+r"(count)::"memory");
}

/* Hits in the last level where it is no larger than L2: two lines that come in turn, between lines that L2 sees often. */
static void last_level(char *data)
{
	int often, round;

	for (often = 14; often < 20; often++)
		for (round = 0; round < 6; round++) {
			load(data, far, often);
			load(data + (30 + round % 2) * far, far, 1);
		}
}

/* Lines of one set of each cache: more than L1 and L2 have ways, and not more than the last level has. */
static void caches(void)
{
	enum { lines = 21, sets = 6 * line };
	char *data = map(64 * far), *code = (char *)map(65 * far) + sets;
	int round;

	for (round = 0; round < lines; round++)
		code[round * far] = (char)0xC3;	/* ret */
	for (round = 0; round < 10; round++)
		code[round * page] = (char)0xC3;
	for (round = 0; round < 6; round++) {
		load(data, far, lines);
		store(data + 2 * line, far, lines);
		fetch(code, far, lines);
	}
	last_level(data + 10 * line);
	for (round = 0; round < 4; round++) {
		load(data + 4 * line, page, 14);	/* hits in L2 */
		store(data + 8 * line, page, 14);
		fetch(code, page, 10);
	}
	for (round = 0; round < 3; round++) {
		load(data + 62, far, 12);	/* over the border of a line */
		store(data + 2 * line + 62, far, 12);
		load(data + 4, far, 12);	/* lines that are under way */
		load(data + 16 * page, line, 64);	/* hits in L1 */
		store(data + 16 * page, line, 64);
	}
	load(data + 32 * page, line, 1024);	/* a stream, for prefetchers */
	store(data + 48 * far, line, 1024);
	load(data + 48 * far, 2 * line, 1024);
}

/* More pages than the first level of TLBs has; pages of one set of the second level. */
static void pages(void)
{
	enum { some = 400, apart = 4 * 1024 * 1024 };
	char *data = map(40ull * apart), *more = map(40ull * apart), *code = map(some * (page + line));
	int round, n;

	for (n = 0; n < some; n++)
		code[n * (page + line)] = (char)0xC3;
	for (round = 0; round < 3; round++) {
		load(data, page + line, some);
		store(data, page + line, some);
		fetch(code, page + line, some);
		load(data, apart, 32);
		store(more, apart, 32);
	}
}

/* Branches that random bits decide; calls and returns that go elsewhere; jumps that nobody has seen. */
static void branches(void)
{
	enum { jumps = 12000, targets = 64 };
	unsigned char *code = map(jumps * 16 + 2 * page);
	uint64_t random = 0x9e3779b97f4a7c15u, taken = 0;
	int round, n;

	for (n = 0; n < jumps; n++)
		memcpy(code + n * 16, "\xEB\x0E", 2);	/* jmp to the next */
	code[jumps * 16] = 0xC3;
	fetch((char *)code, 0, 1);
	for (n = 0; n < targets; n++)
		code[n * 16] = 0xC3;
	for (round = 0; round < 1500; round++) {
		random ^= random >> 12;
		random ^= random << 25;
		random ^= random >> 27;
		__asm__ volatile("test $0x100, %1; jz 1f; inc %0; 1: test $0x200, %1; jnz 2f; dec %0; 2:"
				 : "+r"(taken) : "r"(random));
		/* to one of eight places by call, jump and a return that no call belongs to */
		__asm__ volatile("call *%0" : : "r"(code + (random >> 40) % targets * 16) : "memory");
		__asm__ volatile("lea 1f(%%rip), %%rax; push %%rax; jmp *%0; 1:"
				 : : "r"(code + (random >> 30) % targets * 16) : "rax", "memory");
		__asm__ volatile("lea 1f(%%rip), %%rcx; lea 2f(%%rip), %%rdx; test $0x400, %0; cmovnz %%rdx, %%rcx;"
				 "push %%rcx; ret; nop; nop; 1: nop; nop; 2:"
				 : : "r"(random) : "rcx", "rdx", "memory");
	}
}

/* A load behind stores whose addresses are late: elsewhere, the same place, half of it, 4 KiB off. */
static void older_stores(void)
{
	char *data = map(4 * page);
	static const int offset[] = {256, 0, 2, page};
	int round, n, kind;

	for (round = 0; round < 6; round++)
		for (kind = 0; kind < 4; kind++)
			for (n = kind == 0 ? 40 : 1; n > 0; n--) {
				register char *to __asm__("rbx") = data + 64;
				register char *from __asm__("rdi") = data + 64 + offset[kind];
				uint64_t one = 1;

				__asm__ volatile(".rept 12; imul %2, %2; .endr; imul %2, %0; mov %%eax, (%0);"
						 "mov (%1), %%ecx"
						 : "+r"(to), "+r"(from), "+r"(one)::"rax", "rcx", "memory");
			}
}

/* More work than fits behind what waits for memory, at each place where it waits. */
static void buffers(void)
{
	char *data = map(64 * far);
	int round;

	for (round = 0; round < 3; round++) {
		load(data + round * 37 * page, page, 1);
		__asm__ volatile(".rept 1200; nop; .endr");
		load(data + (round + 20) * 37 * page, page, 1);
		__asm__ volatile(".rept 400; imul %%rax, %%rax; .endr" ::: "rax");
	}
	for (round = 0; round < 4; round++) {
		/* straight on, with nothing but accesses */
		__asm__ volatile("lea (%0), %%rdx; .rept 400; mov (%%rdx), %%eax; add $5 * 64 + 4096, %%rdx; .endr"
				 : : "r"(data + round * 8 * far) : "rax", "rdx", "memory");
		__asm__ volatile("lea (%0), %%rdx; .rept 400; mov %%eax, (%%rdx); add $5 * 64 + 4096, %%rdx; .endr"
				 : : "r"(data + (round * 8 + 32) * far / 2 + 32) : "rax", "rdx", "memory");
	}
}

/* Uops that do not wait for each other; a loop; prefixes that change lengths; microcode; code that is written. */
static void uops(void)
{
	char *data = map(page), *code = map(4 * page);
	int round;

	for (round = 0; round < 800; round++)
		__asm__ volatile("add $1, %%eax; add $1, %%ecx; add $1, %%edx; add $1, %%esi; mov (%0), %%r8d;"
				 "mov %%r9d, 64(%0); addps %%xmm1, %%xmm1; mulps %%xmm2, %%xmm2; lea 8(%%rdx,%%rcx), %%r10d;"
				 "shl $3, %%r11d"
				 : : "D"(data) : "rax", "rcx", "rdx", "rsi", "r8", "r10", "r11", "xmm1", "xmm2", "memory");
	__asm__ volatile("mov $300, %%ecx; 1: nop; nop; nop; nop; dec %%ecx; jnz 1b" ::: "rcx");
	for (round = 0; round < 40; round++) {
		memcpy(code + round * 16, "\x90\x66\x3D\x34\x12\x90\xC3", 7);
		fetch(code + round * 16, 16, 1);
		fetch(code, 0, 3);	/* its line has been written meanwhile */
		store(code + round * 16 + 8, 0, 1);
	}
	for (round = 0; round < 20; round++)
		__asm__ volatile("xor %%eax, %%eax; cpuid; pause; lfence; mfence; nop; nop"
				 ::: "rax", "rbx", "rcx", "rdx", "memory");
	for (round = 0; round < 6; round++)	/* too many uops for the uop cache */
		__asm__ volatile(".rept 64; xchg %%ax, %%ax; .endr; .rept 6000; nop; .endr" ::: "rax");
}

/* One of each that events tell apart. */
static void instructions(void)
{
	char data[256] __attribute__((aligned(64))) = {0}, other[128];
	int round;

	for (round = 0; round < 4; round++) {
		__asm__ volatile("fld1; fld1; faddp; fstp %%st(0)" ::: "st", "st(1)");
		__asm__ volatile("xor %%edx, %%edx; mov $7, %%eax; mov $3, %%ecx; div %%ecx; imul %%ecx, %%eax"
				 ::: "rax", "rcx", "rdx");
		__asm__ volatile("pxor %%xmm0, %%xmm0; movaps %%xmm0, %%xmm1; addss %%xmm1, %%xmm0; addsd %%xmm1, %%xmm0;"
				 "addps %%xmm1, %%xmm0; addpd %%xmm1, %%xmm0; mulss %%xmm1, %%xmm0; divps %%xmm1, %%xmm0;"
				 "divss %%xmm1, %%xmm0; sqrtpd %%xmm1, %%xmm0"
				 ::: "xmm0", "xmm1");
		__asm__ volatile("paddb %%xmm1, %%xmm0; pand %%xmm1, %%xmm0; psllw %%xmm1, %%xmm0; pmullw %%xmm1, %%xmm0;"
				 "packsswb %%xmm1, %%xmm0; punpcklbw %%xmm1, %%xmm0; pshufd $0, %%xmm1, %%xmm0"
				 ::: "xmm0", "xmm1");
		__asm__ volatile("paddb %%mm1, %%mm0; pand %%mm1, %%mm0; psllw %%mm1, %%mm0; pmullw %%mm1, %%mm0;"
				 "packsswb %%mm1, %%mm0; punpcklbw %%mm1, %%mm0; emms" ::: "mm0", "mm1");
		__asm__ volatile("prefetchnta (%0); prefetcht0 (%0); prefetcht1 (%0); prefetcht2 (%0); prefetchw (%0)"
				 : : "r"(data) : "memory");
		__asm__ volatile("lock addl $1, (%0); lock addl $1, 62(%0)" : : "r"(data) : "memory", "cc");
		__asm__ volatile("mov %%ecx, %%eax; lea 8(%%rdx,%%rcx,4), %%eax; cmp %%eax, %%ecx; jne 1f; nop; 1:"
				 ::: "rax", "cc");
		__asm__ volatile("mov %0, %%rsi; mov %1, %%rdi; mov $100, %%ecx; rep movsb"
				 : : "r"(data), "r"(other) : "rsi", "rdi", "rcx", "memory");
		__asm__ volatile("jmp 1f; 1: call 2f; 2: pop %%rax" ::: "rax", "memory");
		__asm__ volatile("mov $39, %%eax; syscall" ::: "rax", "rcx", "r11", "memory");	/* getpid */
	}
}

__attribute__((target("avx2"))) static void avx2(void)
{
	int round;

	for (round = 0; round < 4; round++)
		__asm__ volatile("vxorps %%ymm1, %%ymm1, %%ymm1; vaddps %%ymm1, %%ymm1, %%ymm0; vaddpd %%ymm1, %%ymm1, %%ymm0;"
				 "vpaddb %%ymm1, %%ymm1, %%ymm0; vpmullw %%ymm1, %%ymm1, %%ymm0; vmovaps %%ymm1, %%ymm0;"
				 "vpsllw $1, %%ymm1, %%ymm0; vpand %%ymm1, %%ymm1, %%ymm0; vzeroupper"
				 ::: "xmm0", "xmm1");
}

__attribute__((target("avx512f,avx512bw"))) static void avx512(void)
{
	int round;

	for (round = 0; round < 4; round++)
		__asm__ volatile("vpxorq %%zmm1, %%zmm1, %%zmm1; vaddps %%zmm1, %%zmm1, %%zmm0; vaddpd %%zmm1, %%zmm1, %%zmm0;"
				 "vpaddb %%zmm1, %%zmm1, %%zmm0; vzeroupper" ::: "xmm0", "xmm1");
}

/* vpdpbusd of 128 and 256 bits with EVEX */
static void vnni(void)
{
	__asm__ volatile(".byte 0x62,0xF2,0x75,0x08,0x50,0xC1; .byte 0x62,0xF2,0x75,0x28,0x50,0xC1" ::: "xmm0");
}

/* vaddsh, vaddph of each width, vfmulcsh */
static void fp16(void)
{
	__asm__ volatile(".byte 0x62,0xF5,0x76,0x08,0x58,0xC1; .byte 0x62,0xF5,0x74,0x08,0x58,0xC1;"
			 ".byte 0x62,0xF5,0x74,0x28,0x58,0xC1; .byte 0x62,0xF5,0x74,0x48,0x58,0xC1;"
			 ".byte 0x62,0xF6,0x76,0x08,0xD7,0xC1" ::: "xmm0");
}

int main(void)
{
	unsigned a, b = 0, c = 0, d = 0;

	caches();
	pages();
	branches();
	older_stores();
	buffers();
	uops();
	instructions();
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx2"))
		avx2();
	if (__builtin_cpu_supports("avx512bw"))
		avx512();
	if (__builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vl"))
		vnni();
	__get_cpuid_count(7, 0, &a, &b, &c, &d);
	if (__builtin_cpu_supports("avx512bw") && (d & 1u << 23) != 0)
		fp16();
	return 0;
}
