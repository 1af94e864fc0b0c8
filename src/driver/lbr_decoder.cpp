#include "pmusim/driver/lbr_decoder.h"

#include "pmusim/arch/lbr.h"
#include "pmusim/arch/pebs_records.h"
#include "pmusim/driver/lbr.h"
#include "pmusim/perf/byte_writer.h"

namespace pmusim::driver {
namespace {

constexpr unsigned upper_byte = 56;

/// By architectural BR_TYPE; what it does not tell apart is UNKNOWN.
constexpr std::array<u8, 16> types = [] {
  using namespace perf::branch_type;
  return std::array<u8, 16>{COND, IND, UNCOND, IND_CALL, CALL, RET};
}();

u32 flags_of(const LbrTraits& traits, u64 info) {
  using namespace perf::branch_flags;
  const bool mispredicted = traits.mispredict_known && (info & lbr_info::MISPRED) != 0;
  u64 flags = mispredicted ? MISPRED : PREDICTED;
  if ((info & lbr_info::IN_TSX) != 0) flags |= IN_TX;
  if ((info & lbr_info::TSX_ABORT) != 0) flags |= ABORT;
  if (traits.type_known) flags |= u64{types[field(info, 59, 56)]} << TYPE_LOW;
  return static_cast<u32>(flags);
}

u32 cycle_bits(const LbrTraits& traits, u64 info) {
  const bool timed = !traits.architectural || (traits.cycles_known && (info & lbr_info::CYC_CNT_VALID) != 0);
  return timed ? lbr_info::CYC_CNT : 0;
}

}  // namespace

LbrDecoder::LbrDecoder(const LbrTraits& traits) {
  for (u64 byte = 0; byte < by_upper_byte_.size(); ++byte)
    by_upper_byte_[byte] = {flags_of(traits, byte << upper_byte), cycle_bits(traits, byte << upper_byte)};
}

template <class Record>
void LbrDecoder::decode(std::span<const Record> records, std::vector<perf::BranchEntry>& out) const {
  using namespace perf::branch_flags;
  out.resize(records.size());
  std::size_t used = 0;
  // Word by word: bit field by bit field, an entry takes 1.4 times as long.
  perf::ByteWriter entries(std::as_writable_bytes(std::span(out)).data());
  for (const Record& record : records) {
    const u64 from = record.from, info = record.info;
    if (from == 0) break;
    const Meaning meaning = by_upper_byte_[info >> upper_byte];
    const u64 flags =
        meaning.flags | (info & meaning.cycles) << CYCLES_LOW | field(info, 39, 32) << RESERVED_LOW;
    entries.put(from);
    entries.put(u64{record.to});
    entries.put(flags);
    ++used;
  }
  out.resize(used);
}

template void LbrDecoder::decode(std::span<const LbrEntry>, std::vector<perf::BranchEntry>&) const;
template void LbrDecoder::decode(std::span<const pebs::LbrRecord>, std::vector<perf::BranchEntry>&) const;

}  // namespace pmusim::driver
