// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_DRIVER_PEBS_BUFFERS_H
#define PMUSIM_TESTS_DRIVER_PEBS_BUFFERS_H

#include <cstring>
#include <vector>

#include "driver/intel/debug_store/pebs_demux.h"
#include "pmusim/arch/debug_store.h"

namespace pmusim::driver {

using Bytes = std::vector<std::byte>;

template <class T>
void append(Bytes& buffer, const T& group, std::size_t bytes = sizeof(T)) {
  const auto* from = reinterpret_cast<const std::byte*>(&group);
  buffer.insert(buffer.end(), from, from + bytes);
}

/// A buffer of formats 1 to 3 with these status words; records are told apart by their IP: 0, 1, 2, ...
inline Bytes fixed_buffer(unsigned format, std::initializer_list<u64> status_words) {
  Bytes buffer;
  u64 ip = 0;
  for (const u64 status : status_words) {
    pebs::FixedRecord record{};
    record.status = status;
    record.registers.rip = ip;
    record.eventing_ip = ip++;
    append(buffer, record, pebs::fixed_record_bytes(format));
  }
  return buffer;
}

inline void append_adaptive(Bytes& buffer, u64 config, u64 counters, u64 ip) {
  Bytes record(pebs::adaptive_layout(config).size);
  pebs::BasicGroup basic{};
  basic.format = static_cast<u32>(config);
  basic.size = static_cast<u16>(record.size());
  basic.eventing_ip = ip;
  basic.applicable_counters = counters;
  std::memcpy(record.data(), &basic, sizeof(basic));
  buffer.insert(buffer.end(), record.begin(), record.end());
}

/// An adaptive buffer of basic records.
inline Bytes adaptive_buffer(std::initializer_list<u64> counters) {
  Bytes buffer;
  u64 ip = 0;
  for (const u64 applicable : counters) append_adaptive(buffer, 0, applicable, ip++);
  return buffer;
}

/// An architectural fragment; `word` is the header without its size.
inline void append_arch(Bytes& buffer, u64 word, u64 counters, u64 ip) {
  Bytes fragment(pebs::arch_layout(word, 32).size);
  pebs::ArchHeader head{};
  head.word = word | fragment.size();
  std::memcpy(fragment.data(), &head, sizeof(head));
  if ((word & pebs::header::BASIC) != 0) {
    pebs::ArchBasic basic{};
    basic.eventing_ip = ip;
    basic.applicable_counters = counters;
    std::memcpy(fragment.data() + sizeof(head), &basic, sizeof(basic));
  }
  buffer.insert(buffer.end(), fragment.begin(), fragment.end());
}

}  // namespace pmusim::driver

#endif
