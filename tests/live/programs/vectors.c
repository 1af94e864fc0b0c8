// SPDX-License-Identifier: MIT
// vectors: loops with known values in XMM0 and XMM9.
// vectors sampled: samples XMM9 of itself by a perf_event_attr of VER10 (176 bytes) and prints what is in the
// sample, as hexadecimal qwords, the last one first.
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static void loop_with_vectors(void) {
  const unsigned long long low = 0x1122334455667788, high = 0x99AABBCCDDEEFF00;
  __asm__ volatile(
      "movq %0, %%xmm0\n pinsrq $1, %1, %%xmm0\n movdqa %%xmm0, %%xmm9\n"
      "mov $500, %%ecx\n 1: dec %%ecx\n jnz 1b"
      :
      : "r"(low), "r"(high)
      : "ecx", "cc", "xmm0", "xmm9");
}

// What of the attribute <linux/perf_event.h> does not have yet.
struct ver10 {
  struct perf_event_attr attr;
  unsigned char rest[176 - sizeof(struct perf_event_attr)];
};
static void put(struct ver10* to, unsigned offset, unsigned long long value, unsigned bytes) {
  memcpy((char*)to + offset, &value, bytes);
}

static int sample_itself(void) {
  struct ver10 wide;
  memset(&wide, 0, sizeof wide);
  wide.attr.size = 176;
  wide.attr.type = PERF_TYPE_HARDWARE;
  wide.attr.config = PERF_COUNT_HW_INSTRUCTIONS;
  wide.attr.sample_period = 100;
  wide.attr.sample_type = PERF_SAMPLE_REGS_INTR;
  wide.attr.disabled = 1;
  wide.attr.exclude_kernel = wide.attr.exclude_hv = 1;
  put(&wide, 144, 1, 2);       // sample_simd_regs_enabled
  put(&wide, 146, 2, 2);       // sample_simd_vec_reg_qwords: XMM
  put(&wide, 160, 1 << 9, 8);  // sample_simd_vec_reg_intr
  const int event = (int)syscall(SYS_perf_event_open, &wide, 0, -1, -1, 0);
  if (event < 0) return perror("open"), 1;
  const struct perf_event_mmap_page* const page =
      mmap(NULL, 9 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
  if (page == MAP_FAILED) return perror("mmap"), 1;
  ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
  loop_with_vectors();
  ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
  // header; abi; numbers of vectors, their qwords, predicates, their qwords; XMM9
  struct {
    struct perf_event_header header;
    unsigned long long abi;
    unsigned short counts[4];
    unsigned long long xmm[2];
  } sample;
  for (unsigned long long at = 0; at < page->data_head; at += sample.header.size) {
    memcpy(&sample, (const char*)page + 4096 + at, sizeof sample);
    if (sample.header.type == PERF_RECORD_SAMPLE)
      printf("%llx %u %u %llx%016llx\n", sample.abi, sample.counts[0], sample.counts[1], sample.xmm[1],
             sample.xmm[0]);
  }
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "sampled") == 0) return sample_itself();
  loop_with_vectors();
  return 0;
}
