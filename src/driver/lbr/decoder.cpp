// SPDX-License-Identifier: MIT
#include "driver/lbr/decoder.h"

#include <cstddef>

#include "driver/lbr/lbr.h"
#include "perf/byte_writer.h"
#include "pmusim/arch/branch.h"
#include "pmusim/arch/debug_store.h"

namespace pmusim::driver {
namespace {

constexpr unsigned upper_byte = 56;
/// Source and target, with which records and entries begin alike.
constexpr std::size_t addresses_bytes = offsetof(perf::BranchEntry, to) + sizeof(u64);
static_assert(offsetof(LbrEntry, info) == addresses_bytes &&
              offsetof(pebs::LbrRecord, info) == addresses_bytes);

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

u64 cycle_mask(const LbrTraits& traits, u64 info) {
  const bool timed = !traits.architectural || (traits.cycles_known && (info & lbr_info::CYC_CNT_VALID) != 0);
  return timed ? u64{lbr_info::CYC_CNT} << perf::branch_flags::CYCLES_LOW : 0;
}

}  // namespace

LbrDecoder::LbrDecoder(const LbrTraits& traits) {
  for (u64 byte = 0; byte < by_upper_byte_.size(); ++byte)
    by_upper_byte_[byte] = {flags_of(traits, byte << upper_byte), cycle_mask(traits, byte << upper_byte)};
}

/// `look` sees each record and the flags that its entry gets.
template <class Record, class Look>
inline std::size_t LbrDecoder::translate(std::span<const Record> records, std::byte* out, Look look) const {
  using namespace perf::branch_flags;
  std::size_t used = 0;
  // Both addresses at once and the flags as a word: bit field by bit field, an entry takes twice as long.
  perf::ByteWriter entries(out);
  for (const Record& record : records) {
    if (record.from == 0) break;
    const u64 info = record.info;
    const Meaning& meaning = by_upper_byte_[info >> upper_byte];
    entries.put_all(std::as_bytes(std::span(&record, 1)).template first<addresses_bytes>());
    entries.put(meaning.flags | (info << CYCLES_LOW & meaning.cycles) | field(info, 39, 32) << RESERVED_LOW);
    look(record, meaning.flags);
    ++used;
  }
  return used;
}

template <class Record>
std::size_t LbrDecoder::decode(std::span<const Record> records, std::byte* out) const {
  return translate(records, out, [](const Record&, u64) {});
}

DecodedBranches LbrDecoder::decode_and_judge(std::span<const pebs::LbrRecord> records, std::byte* out) const {
  constexpr u64 type = u64{0xF} << perf::branch_flags::TYPE_LOW;
  u64 addresses = 0;
  bool typed = true;
  const std::size_t count = translate(records, out, [&](const pebs::LbrRecord& record, u64 flags) {
    addresses |= record.from | record.to;
    typed &= (flags & type) != 0;
  });
  return {.count = count, .typed = typed, .user = (addresses >> 63) == 0};
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
