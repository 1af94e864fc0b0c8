// SPDX-License-Identifier: MIT
#include "driver/intel/lbr/decoder.h"

#include <cstddef>
#include <cstring>

#include "driver/intel/lbr/lbr.h"
#include "driver/x86/record_word.h"
#include "pmusim/arch/branch.h"
#include "pmusim/arch/debug_store.h"

namespace pmusim::driver {
namespace {

constexpr unsigned upper_byte = 56;
constexpr u64 type_bits = u64{0xF} << perf::branch_flags::TYPE_LOW;
constexpr u64 cycle_bits = u64{lbr_info::CYC_CNT} << perf::branch_flags::CYCLES_LOW;
constexpr u64 untyped = bit(63);  // beside the flags: they name no type
constexpr u64 no_cycles = ~(cycle_bits | untyped);
/// Source and target, with which records and entries begin alike.
constexpr std::size_t addresses_bytes = offsetof(perf::BranchEntry, to) + sizeof(u64);
static_assert(offsetof(LbrEntry, info) == addresses_bytes &&
              offsetof(pebs::LbrRecord, info) == addresses_bytes);

/// INFO as it lies in memory: what does not depend on its upper byte is taken as it is.
struct InfoParts {
  le16 cycles;
  u8 unused[2];
  u8 counts;  ///< BR_CNTR
  u8 unused_too[2];
  u8 upper;
};
static_assert(sizeof(InfoParts) == sizeof(LbrEntry::info) && alignof(InfoParts) == 1);

/// By architectural BR_TYPE; what it does not tell apart is UNKNOWN.
constexpr std::array<u8, 16> types = [] {
  using namespace perf::branch_type;
  return std::array<u8, 16>{COND, IND, UNCOND, IND_CALL, CALL, RET};
}();

u64 flags_of(const LbrTraits& traits, u64 info) {
  using namespace perf::branch_flags;
  const bool mispredicted = traits.mispredict_known && (info & lbr_info::MISPRED) != 0;
  u64 flags = mispredicted ? MISPRED : PREDICTED;
  if ((info & lbr_info::IN_TSX) != 0) flags |= IN_TX;
  if ((info & lbr_info::TSX_ABORT) != 0) flags |= ABORT;
  if (traits.type_known) flags |= u64{types[field(info, 59, 56)]} << TYPE_LOW;
  return flags;
}

/// What of the cycle count of INFO goes into its entry: all or nothing.
u64 cycles_of(const LbrTraits& traits, u64 info) {
  const bool timed = !traits.architectural || (traits.cycles_known && (info & lbr_info::CYC_CNT_VALID) != 0);
  return timed ? cycle_bits : 0;
}

}  // namespace

LbrDecoder::LbrDecoder(const LbrTraits& traits) {
  for (u64 byte = 0; byte < by_upper_byte_.size(); ++byte) {
    const u64 info = byte << upper_byte, flags = flags_of(traits, info);
    by_upper_byte_[byte] = flags | cycles_of(traits, info) | ((flags & type_bits) == 0 ? untyped : 0);
  }
}

/// `look` sees each record and what its upper byte stands for.
template <class Record, class Look>
inline std::size_t LbrDecoder::translate(std::span<const Record> records, std::byte* const out,
                                         Look look) const {
  using namespace perf::branch_flags;
  // Both addresses at once and the flags as a word: bit field by bit field, an entry takes twice as long. Of
  // 18 instructions an entry, four only step from one to the next.
  std::byte* entry = out;
#pragma GCC unroll 4
  for (const Record& record : records) {
    if (record.from == 0) break;
    const auto* const info = reinterpret_cast<const InfoParts*>(&record.info);
    const u64 meaning = by_upper_byte_[info->upper];
    const u64 cycles = u64{info->cycles} << CYCLES_LOW;
    std::memcpy(entry, &record, addresses_bytes);
    store_word(entry + addresses_bytes, (meaning & (cycles | no_cycles)) | u64{info->counts} << RESERVED_LOW);
    look(record, meaning);
    entry += sizeof(perf::BranchEntry);
  }
  return static_cast<std::size_t>(entry - out) / sizeof(perf::BranchEntry);
}

template <class Record>
std::size_t LbrDecoder::decode(std::span<const Record> records, std::byte* out) const {
  return translate(records, out, [](const Record&, u64) {});
}

DecodedBranches LbrDecoder::decode_and_judge(std::span<const pebs::LbrRecord> records, std::byte* out) const {
  u64 addresses = 0, meanings = 0;
  const std::size_t count = translate(records, out, [&](const pebs::LbrRecord& record, u64 meaning) {
    addresses |= record.from | record.to;
    meanings |= meaning;
  });
  return {.count = count, .typed = (meanings & untyped) == 0, .user = (addresses >> 63) == 0};
}

template <class Record>
void LbrDecoder::decode(std::span<const Record> records, std::vector<perf::BranchEntry>& out) const {
  out.resize(records.size());
  out.resize(decode(records, std::as_writable_bytes(std::span(out)).data()));
}

template void LbrDecoder::decode(std::span<const LbrEntry>, std::vector<perf::BranchEntry>&) const;
template void LbrDecoder::decode(std::span<const pebs::LbrRecord>, std::vector<perf::BranchEntry>&) const;
template std::size_t LbrDecoder::decode(std::span<const pebs::LbrRecord>, std::byte*) const;

}  // namespace pmusim::driver
