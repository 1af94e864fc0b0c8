#include "pmusim/driver/lbr_decoder.h"

#include "pmusim/arch/lbr.h"
#include "pmusim/arch/pebs_records.h"
#include "pmusim/driver/lbr.h"

namespace pmusim::driver {
namespace {

constexpr unsigned upper_byte = 56;

/// By architectural BR_TYPE; what it does not tell apart is UNKNOWN.
constexpr std::array<u8, 16> types = [] {
  using namespace perf::branch_type;
  return std::array<u8, 16>{COND, IND, UNCOND, IND_CALL, CALL, RET};
}();

perf::BranchEntry flags_of(const LbrTraits& traits, u64 info) {
  const bool mispredicted = traits.mispredict_known && (info & lbr_info::MISPRED) != 0;
  const bool timed = !traits.architectural || (traits.cycles_known && (info & lbr_info::CYC_CNT_VALID) != 0);
  perf::BranchEntry flags;
  flags.mispred = mispredicted;
  flags.predicted = !mispredicted;
  flags.in_tx = (info & lbr_info::IN_TSX) != 0;
  flags.abort = (info & lbr_info::TSX_ABORT) != 0;
  if (timed) flags.cycles = lbr_info::CYC_CNT;
  if (traits.type_known) flags.type = types[field(info, 59, 56)] & 0xF;
  return flags;
}

}  // namespace

LbrDecoder::LbrDecoder(const LbrTraits& traits) {
  for (u64 byte = 0; byte < by_upper_byte_.size(); ++byte)
    by_upper_byte_[byte] = flags_of(traits, byte << upper_byte);
}

template <class Record>
void LbrDecoder::decode(std::span<const Record> records, std::vector<perf::BranchEntry>& out) const {
  out.resize(records.size());
  std::size_t used = 0;
  for (const Record& record : records) {
    const u64 from = record.from, info = record.info;
    if (from == 0) break;
    perf::BranchEntry entry = by_upper_byte_[info >> upper_byte];
    entry.from = from;
    entry.to = record.to;
    entry.cycles &= static_cast<u16>(info);
    entry.reserved = static_cast<u8>(field(info, 39, 32));
    out[used++] = entry;
  }
  out.resize(used);
}

template void LbrDecoder::decode(std::span<const LbrEntry>, std::vector<perf::BranchEntry>&) const;
template void LbrDecoder::decode(std::span<const pebs::LbrRecord>, std::vector<perf::BranchEntry>&) const;

}  // namespace pmusim::driver
