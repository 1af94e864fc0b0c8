// SPDX-License-Identifier: MIT
#include "arch/pebs_generator.h"

#include <algorithm>
#include <cstring>

#include "arch/pebs_fragments.h"
#include "base/split_mix.h"

namespace pmusim::pebs {

namespace {

constexpr u64 code_start = 0x401000, code_bytes = 0x8000, data_start = 0x7F0000000000;

/// What one record is about.
struct Subject {
  u64 counters = 0, ip = 0, tsc = 0, address = 0, latency = 0;
};

template <class T>
void put(std::byte* record, u32 offset, const T& group) {
  std::memcpy(record + offset, &group, sizeof(T));
}

GprGroup random_gprs(SplitMix& random, const Subject& subject) {
  GprGroup group{};
  group.rflags = 0x246;
  group.rip = subject.ip + 4;
  for (le64& gpr : group.gpr) gpr = random.next();
  return group;
}

u64 legacy_info(SplitMix& random) { return 1 + random.below(200); }  // cycles, predicted

u64 arch_info(SplitMix& random) {
  constexpr u64 known_types = 6;
  const u64 cycles = legacy_info(random);
  return lbr_info::CYC_CNT_VALID | to_field(random.below(known_types), 59, 56) | cycles;
}

void put_branches(std::byte* record, u32 offset, u32 entries, SplitMix& random, u64 (*info)(SplitMix&)) {
  for (u32 i = 0; i < entries; ++i) {
    LbrRecord entry{};
    entry.from = code_start + random.below(code_bytes);
    entry.to = code_start + random.below(code_bytes);
    entry.info = info(random);
    put(record, offset + i * static_cast<u32>(sizeof(entry)), entry);
  }
}

void put_fixed(std::byte* record, unsigned format, SplitMix& random, const Subject& subject) {
  FixedRecord fixed{};
  const GprGroup gprs = random_gprs(random, subject);
  fixed.registers.rflags = gprs.rflags;
  fixed.registers.rip = gprs.rip;
  fixed.registers.rax = gprs.gpr[0];
  fixed.registers.rsp = gprs.gpr[4];
  std::copy(gprs.gpr + 8, gprs.gpr + 16, fixed.registers.r8_to_r15);
  fixed.status = subject.counters;
  fixed.linear_address = subject.address;
  fixed.data_source = 1 + random.below(6);
  fixed.latency_cycles = subject.latency;
  fixed.eventing_ip = subject.ip;
  fixed.tsc = subject.tsc;
  std::memcpy(record, &fixed, fixed_record_bytes(format));
}

u64 adaptive_config(const RecordGroups& groups) {
  using namespace data_cfg;
  return (groups.memory ? MEMORY : 0) | (groups.gprs ? GPRS : 0) | (groups.xmm ? XMM : 0) |
         (groups.lbr_entries != 0 ? LBR | to_field(groups.lbr_entries - 1, 31, 24) : 0);
}

void put_adaptive(std::byte* record, const AdaptiveLayout& layout, u64 config, SplitMix& random,
                  const Subject& subject) {
  BasicGroup basic{};
  basic.format = static_cast<u32>(config);
  basic.size = static_cast<u16>(layout.size);
  basic.eventing_ip = subject.ip;
  basic.applicable_counters = subject.counters;
  basic.tsc = subject.tsc;
  basic.retire_latency = static_cast<u16>(subject.latency / 2);
  put(record, 0, basic);
  if (layout.memory != 0) {
    MemoryGroup memory{};
    memory.address = subject.address;
    memory.data_source = 1 + random.below(6);
    memory.latency = subject.latency;
    put(record, layout.memory, memory);
  }
  if (layout.gprs != 0) put(record, layout.gprs, random_gprs(random, subject));
  if (layout.xmm != 0) {
    XmmGroup xmm{};
    for (le64& word : xmm.words) word = random.next();
    put(record, layout.xmm, xmm);
  }
  if (layout.lbr != 0) put_branches(record, layout.lbr, layout.lbr_entries, random, legacy_info);
}

u64 arch_word(const RecordGroups& groups) {
  using namespace cfg_c;
  const u64 code = groups.lbr_entries == 0 ? 0 : std::min<u64>(groups.lbr_entries / 8, 3);
  return header::BASIC | header::MODE_64 | (groups.memory ? AUX : 0) | (groups.gprs ? GPRS : 0) |
         (groups.xmm ? XMM : 0) | (groups.other_vectors & VECTORS) | to_field(code, 41, 40);
}

/// Every component is in use.
void put_vectors(std::byte* record, u64 word, u32 offset, SplitMix& random) {
  ArchVectorHeader head{};
  u32 at = offset + static_cast<u32>(sizeof(head));
  for (const VectorGroup& group : vector_groups) {
    if ((word & group.bit) == 0) continue;
    head.xstate = head.xstate | bit(group.component);
    for (const u32 end = at + group.bytes; at < end; at += sizeof(le64)) put(record, at, le64(random.next()));
  }
  put(record, offset, head);
}

void put_arch(std::byte* record, const ArchFragment& fragment, u32 depth, SplitMix& random,
              const Subject& subject) {
  const ArchLayout layout = arch_layout(fragment.word, depth);
  ArchHeader head{};
  head.word = fragment.word;
  put(record, 0, head);
  if (layout.basic != 0) {
    ArchBasic basic{};
    basic.eventing_ip = subject.ip;
    basic.applicable_counters = subject.counters;
    basic.tsc = subject.tsc;
    basic.retire_latency = bit(16) | subject.latency / 2;
    put(record, layout.basic, basic);
  }
  if (layout.aux != 0) {
    ArchAux aux{};
    aux.address = subject.address;
    aux.data_source = 1;
    aux.latency = subject.latency << 32;
    put(record, layout.aux, aux);
  }
  if (layout.gprs != 0) {
    ArchGprs gprs{};
    gprs.registers = random_gprs(random, subject);
    put(record, layout.gprs, gprs);
  }
  if (layout.vectors != 0) put_vectors(record, fragment.word, layout.vectors, random);
  if (layout.lbr != 0) {
    ArchLbrHeader lbr{};
    lbr.depth = depth;
    put(record, layout.lbr, lbr);
    put_branches(record, layout.lbr + static_cast<u32>(sizeof(lbr)), arch_lbr_entries(fragment.word, depth),
                 random, arch_info);
  }
}

Subject next_subject(const GeneratorOptions& options, SplitMix& random, const Subject& previous) {
  Subject subject;
  const u64 owner = random.below(options.events);
  subject.counters = bit(static_cast<unsigned>(owner));
  const bool collides = random.below(1000) < options.collisions_permille && options.events > 1;
  if (collides) {
    const u64 other = (owner + 1 + random.below(options.events - 1)) % options.events;
    subject.counters |= bit(static_cast<unsigned>(other));
  }
  subject.ip = code_start + random.below(code_bytes);
  subject.tsc = previous.tsc + 1000 + random.below(4000);
  subject.address = data_start + 8 * random.below(1 << 20);
  subject.latency = 5 + random.below(300);
  return subject;
}

}  // namespace

GeneratedBuffer generate_buffer(const GeneratorOptions& options) {
  const u64 config = adaptive_config(options.groups);
  const AdaptiveLayout adaptive = adaptive_layout(config);
  const u32 depth = options.groups.lbr_entries;
  const ArchFragments fragments(arch_word(options.groups), depth, 0, options.fragment_bytes);

  GeneratedBuffer buffer;
  buffer.format = options.format;
  buffer.enabled = low_bits(options.events);
  buffer.record_bytes = options.format <= 3   ? fixed_record_bytes(options.format)
                        : options.format <= 6 ? adaptive.size
                                              : fragments.bytes();
  buffer.bytes.resize(options.records * buffer.record_bytes);
  SplitMix random(options.seed);
  Subject subject;
  for (u64 i = 0; i < options.records; ++i) {
    std::byte* record = buffer.bytes.data() + i * buffer.record_bytes;
    subject = next_subject(options, random, subject);
    if (options.format <= 3)
      put_fixed(record, options.format, random, subject);
    else if (options.format <= 6)
      put_adaptive(record, adaptive, config, random, subject);
    else
      for (const ArchFragment& fragment : fragments)
        put_arch(record + fragment.offset, fragment, depth, random, subject);
  }
  return buffer;
}

std::vector<GeneratedBuffer> generate_rotation(GeneratorOptions options, u64 bytes, unsigned buffers) {
  options.records = 0;
  options.records = bytes / generate_buffer(options).record_bytes;
  std::vector<GeneratedBuffer> all;
  for (options.seed = 0; options.seed < buffers; ++options.seed) all.push_back(generate_buffer(options));
  return all;
}

}  // namespace pmusim::pebs
