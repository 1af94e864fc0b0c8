// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERF_CONTROL_PAGE_H
#define PMUSIM_SRC_PERF_CONTROL_PAGE_H

#include <array>
#include <cstddef>

#include "pmusim/base/types.h"

namespace pmusim::perf {

/// perf_event_mmap_page: the first page of a mapped event (<linux/perf_event.h>).
struct ControlPage {
  u32 version = 0, compat_version = 0;
  u32 lock = 0;   ///< seqcount around the fields up to time_mask
  u32 index = 0;  ///< rdpmc index + 1; 0: not readable from user space
  i64 offset = 0;
  u64 time_enabled = 0, time_running = 0;
  u64 capabilities = 2;  ///< bit 1 is always set: "bit 0 means nothing"
  u16 pmc_width = 0;
  u16 time_shift = 0;
  u32 time_mult = 0;
  u64 time_offset = 0, time_zero = 0;
  u32 size = 96;  ///< offset of `reserved`
  u32 reserved_1 = 0;
  u64 time_cycles = 0, time_mask = 0;
  std::array<std::byte, 928> reserved{};
  u64 data_head = 0;  ///< written by the producer, bytes since the start, never reduced
  u64 data_tail = 0;  ///< written by the consumer
  u64 data_offset = 0, data_size = 0;
  u64 aux_head = 0, aux_tail = 0, aux_offset = 0, aux_size = 0;

  static constexpr u64 cap_bit0_is_deprecated = 1 << 1, cap_user_rdpmc = 1 << 2, cap_user_time = 1 << 3,
                       cap_user_time_zero = 1 << 4;
};
static_assert(offsetof(ControlPage, capabilities) == 40 && offsetof(ControlPage, time_zero) == 64 &&
              offsetof(ControlPage, size) == 72 && offsetof(ControlPage, reserved) == 96 &&
              offsetof(ControlPage, data_head) == 1024 && offsetof(ControlPage, aux_size) == 1080);

}  // namespace pmusim::perf

#endif
