// SPDX-License-Identifier: MIT
// SIMD code whose vector registers are known: every loop keeps values in fixed registers and says which.
//
//   simd [THREADS [ROUNDS [LOG]]]
//
// Each thread t = 0, 1, ... loads 64-bit lanes with t * 0x1000000 + register * 0x10000 + lane * 0x100 +
// round's low byte, then spins in a marked stretch of code that does not touch them. With AVX2 registers 0 to
// 15 are 256 bits wide; where the CPU has AVX-512, 0 to 31 are 512 bits wide, and k1 to k7 hold t * 0x1000000
// + k * 0x10000 + the round's low byte. R15 holds t * 0x1000000 + the round's low byte. Before each stretch a
// line of the log (standard output, if no file is named) says what it holds:
//
//   stretch BEGIN END thread T round R width BYTES registers N masks M
//
// BEGIN and END are the addresses of the stretch, END exclusive.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { lanes = 8, vectors = 32, masks = 8 };

struct contents {
  _Alignas(64) uint64_t vector[vectors][lanes];
  uint64_t mask[masks];
};

// Labels of the stretches. Values stay in the registers from the first to the last instruction between them.
extern char avx512_begin[], avx512_end[], avx2_begin[], avx2_end[];

#define LOAD_ZMM(r) "vmovdqu64 64*" #r "(%[from]), %%zmm" #r "\n\t"
#define LOAD_YMM(r) "vmovdqu 64*" #r "(%[from]), %%ymm" #r "\n\t"
#define LOAD_K(k) "kmovq 2048+8*" #k "(%[from]), %%k" #k "\n\t"

__attribute__((noinline, target("avx512f,avx512bw"))) static void hold_avx512(const struct contents* c,
                                                                              uint64_t spins) {
  register uint64_t base __asm__("r15") = c->mask[0];
  __asm__ volatile(
      LOAD_ZMM(0) LOAD_ZMM(1) LOAD_ZMM(2) LOAD_ZMM(3) LOAD_ZMM(4) LOAD_ZMM(5) LOAD_ZMM(6) LOAD_ZMM(7)
      LOAD_ZMM(8) LOAD_ZMM(9) LOAD_ZMM(10) LOAD_ZMM(11) LOAD_ZMM(12) LOAD_ZMM(13) LOAD_ZMM(14) LOAD_ZMM(15)
      LOAD_ZMM(16) LOAD_ZMM(17) LOAD_ZMM(18) LOAD_ZMM(19) LOAD_ZMM(20) LOAD_ZMM(21) LOAD_ZMM(22) LOAD_ZMM(23)
      LOAD_ZMM(24) LOAD_ZMM(25) LOAD_ZMM(26) LOAD_ZMM(27) LOAD_ZMM(28) LOAD_ZMM(29) LOAD_ZMM(30) LOAD_ZMM(31)
      LOAD_K(1) LOAD_K(2) LOAD_K(3) LOAD_K(4) LOAD_K(5) LOAD_K(6) LOAD_K(7)
      ".globl avx512_begin\n"
      "avx512_begin:\n\t"
      "nop\n\t"
      "dec %[spins]\n\t"
      "jnz avx512_begin\n"
      ".globl avx512_end\n"
      "avx512_end:\n\t"
      "vzeroall\n\t"
      : [spins] "+r"(spins)
      : [from] "r"(c), "r"(base)
      : "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

__attribute__((noinline, target("avx2"))) static void hold_avx2(const struct contents* c, uint64_t spins) {
  register uint64_t base __asm__("r15") = c->mask[0];
  __asm__ volatile(
      LOAD_YMM(0) LOAD_YMM(1) LOAD_YMM(2) LOAD_YMM(3) LOAD_YMM(4) LOAD_YMM(5) LOAD_YMM(6) LOAD_YMM(7)
      LOAD_YMM(8) LOAD_YMM(9) LOAD_YMM(10) LOAD_YMM(11) LOAD_YMM(12) LOAD_YMM(13) LOAD_YMM(14) LOAD_YMM(15)
      ".globl avx2_begin\n"
      "avx2_begin:\n\t"
      "nop\n\t"
      "dec %[spins]\n\t"
      "jnz avx2_begin\n"
      ".globl avx2_end\n"
      "avx2_end:\n\t"
      "vzeroall\n\t"
      : [spins] "+r"(spins)
      : [from] "r"(c), "r"(base)
      : "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

// AVX2 arithmetic over an array: what a compiler makes of vector code, between the stretches.
__attribute__((noinline, target("avx2"))) static uint32_t sum_of_squares(const uint32_t* v, unsigned n) {
  uint32_t sum = 0;
  for (unsigned i = 0; i < n; ++i) sum += v[i] * v[i];
  return sum;
}

static void fill(struct contents* c, uint64_t thread, uint64_t round) {
  const uint64_t base = thread * 0x1000000 + (round & 0xFF);
  for (uint64_t r = 0; r < vectors; ++r)
    for (uint64_t lane = 0; lane < lanes; ++lane) c->vector[r][lane] = base + r * 0x10000 + lane * 0x100;
  for (uint64_t k = 0; k < masks; ++k) c->mask[k] = base + k * 0x10000;
}

static uint64_t rounds = 20;
static const uint64_t spins = 100;
static FILE* log_file;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

static void say(const char* begin, const char* end, uint64_t thread, uint64_t round, unsigned width,
                unsigned registers, unsigned masks_held) {
  pthread_mutex_lock(&log_lock);
  fprintf(log_file, "stretch %p %p thread %lu round %lu width %u registers %u masks %u\n", (const void*)begin,
          (const void*)end, thread, round, width, registers, masks_held);
  fflush(log_file);
  pthread_mutex_unlock(&log_lock);
}

static void* work(void* argument) {
  const uint64_t thread = (uint64_t)(uintptr_t)argument;
  uint32_t numbers[64];
  for (unsigned i = 0; i < 64; ++i) numbers[i] = i + (uint32_t)thread;
  uint32_t total = 0;
  struct contents c;
  for (uint64_t round = 0; round < rounds; ++round) {
    fill(&c, thread, round);
    say(avx2_begin, avx2_end, thread, round, 32, 16, 0);
    hold_avx2(&c, spins);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")) {
      say(avx512_begin, avx512_end, thread, round, 64, 32, 7);
      hold_avx512(&c, spins);
    }
    total += sum_of_squares(numbers, 64);
  }
  return (void*)(uintptr_t)total;
}

int main(int argc, char** argv) {
  enum { most_threads = 16 };
  unsigned threads = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 0) : 1;
  if (argc > 2) rounds = strtoull(argv[2], NULL, 0);
  if (threads == 0 || threads > most_threads) {
    fprintf(stderr, "usage: simd [THREADS [ROUNDS [LOG]]], THREADS from 1 to %d\n", most_threads);
    return 2;
  }
  log_file = argc > 3 ? fopen(argv[3], "w") : stdout;
  if (log_file == NULL) {
    fprintf(stderr, "simd: cannot write %s\n", argv[3]);
    return 2;
  }
  if (!__builtin_cpu_supports("avx2")) {
    fprintf(stderr, "simd: this CPU has no AVX2\n");
    return 3;
  }
  pthread_t started[most_threads];
  for (unsigned t = 1; t < threads; ++t) pthread_create(&started[t], NULL, work, (void*)(uintptr_t)t);
  work((void*)0);
  for (unsigned t = 1; t < threads; ++t) pthread_join(started[t], NULL);
  return 0;
}
