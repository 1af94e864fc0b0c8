// SPDX-License-Identifier: MIT
// Loops with one cause each for being slow, chosen by name. The line at fault is marked with that name.
#include <pthread.h>
#include <stdint.h>
#include <string.h>

enum { pages = 4000, page = 4096 };
static unsigned char memory[pages * page + page] __attribute__((aligned(4096)));
static unsigned char large[64 << 20] __attribute__((aligned(4096)));
static uint64_t counter;

static uint64_t cache_misses(void) {
  uint64_t sum = 0;
  for (int round = 0; round < 3; ++round)
    for (uint64_t at = 0; at + 8 <= sizeof large; at += 4160)
      sum += *(volatile uint64_t*)(large + at);  // planted: cache_misses
  return sum;
}

static uint64_t page_walks(void) {
  uint64_t sum = 0;
  for (int round = 0; round < 30; ++round)
    for (uint64_t at = 0; at < (uint64_t)pages * page; at += page + 64)
      sum += *(volatile uint64_t*)(memory + at);  // planted: page_walks
  return sum;
}

static uint64_t mispredicts(void) {
  uint64_t state = 88172645463325252u, sum = 0;
  for (int n = 0; n < 30000; ++n) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    if ((state & 1) != 0)  // planted: mispredicts
      __asm__ volatile("addq $3, %0" : "+r"(sum));
    else
      __asm__ volatile("xorq $5, %0" : "+r"(sum));
  }
  return sum;
}

static uint64_t division(void) {
  uint64_t number = ~0u;
  volatile uint64_t divisor = 3;
  for (int n = 0; n < 30000; ++n) number = 123456789 + number / divisor;  // planted: division
  return number;
}

static uint64_t dependency_chain(void) {
  uint64_t product = 1;
  for (int n = 0; n < 50000; ++n) product *= 0x5DEECE66Du;  // planted: dependency_chain
  return product;
}

static uint64_t store_forwarding(void) {
  uint64_t sum = 0;
  for (uint32_t n = 0; n < 30000; ++n) {
    *(volatile uint32_t*)memory = n;
    sum += *(volatile uint64_t*)memory;  // planted: store_forwarding
  }
  return sum;
}

static uint64_t split_accesses(void) {
  uint64_t at = 0;
  for (int n = 0; n < 30000; ++n) at = *(volatile uint64_t*)(memory + 60 + at);  // planted: split_accesses
  return at;
}

static uint64_t address_aliasing(void) {
  uint64_t at = 0;
  for (int n = 0; n < 30000; ++n) {
    *(volatile uint64_t*)(memory + 128) = at;
    at = *(volatile uint64_t*)(memory + 8 * page + 128 + at);  // planted: address_aliasing
  }
  return at;
}

static uint64_t locked(void) {
  for (int n = 0; n < 30000; ++n) __atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);  // planted: locked
  return counter;
}

static uint64_t front_end(void) {
  for (int round = 0; round < 8; ++round)
    __asm__ volatile(".rept 12000\n\tnopl 0x12345678(%rax,%rax,1)\n\t.endr");  // planted: front_end
  return 0;
}

static uint64_t load_latency(void) {
  uint64_t at = 0;
  for (int n = 0; n < 50000; ++n) at = *(volatile uint64_t*)(memory + at);  // planted: load_latency
  return at;
}

// One load in each of 256 pages, in as many lines: more than a first-level TLB holds, fewer than L1.
static uint64_t tlb_misses(void) {
  uint64_t at = 0;
  for (int round = 0; round < 200; ++round)
    for (uint64_t n = 0; n < 256; ++n)
      at = *(volatile uint64_t*)(memory + n * (page + 64) + at);  // planted: tlb_misses
  return at;
}

static volatile uint64_t side_by_side[2] __attribute__((aligned(64)));

static void* add_to_own(void* own) {
  for (int n = 0; n < 30000; ++n) ++*(volatile uint64_t*)own;  // planted: false_sharing
  return NULL;
}

static uint64_t false_sharing(void) {
  pthread_t threads[2];
  for (int n = 0; n < 2; ++n) pthread_create(&threads[n], NULL, add_to_own, (void*)&side_by_side[n]);
  for (int n = 0; n < 2; ++n) pthread_join(threads[n], NULL);
  return side_by_side[0] + side_by_side[1];
}

static uint64_t store_buffer(void) {
  for (int round = 0; round < 3; ++round)
    for (uint64_t at = 0; at + 8 <= sizeof large; at += 4160)
      *(volatile uint64_t*)(large + at) = at;  // planted: store_buffer
  return 0;
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    uint64_t (*run)(void);
  } causes[] = {{"cache_misses", cache_misses},
                {"page_walks", page_walks},
                {"mispredicts", mispredicts},
                {"division", division},
                {"dependency_chain", dependency_chain},
                {"store_forwarding", store_forwarding},
                {"split_accesses", split_accesses},
                {"address_aliasing", address_aliasing},
                {"locked", locked},
                {"front_end", front_end},
                {"load_latency", load_latency},
                {"tlb_misses", tlb_misses},
                {"false_sharing", false_sharing},
                {"store_buffer", store_buffer}};
  for (unsigned n = 0; argc == 2 && n < sizeof causes / sizeof *causes; ++n)
    if (strcmp(argv[1], causes[n].name) == 0) {
      counter = causes[n].run();
      return 0;
    }
  return 2;
}
