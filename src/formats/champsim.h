// SPDX-License-Identifier: MIT
#ifndef PMUSIM_FORMATS_CHAMPSIM_H
#define PMUSIM_FORMATS_CHAMPSIM_H

#include <array>
#include <boost/endian/arithmetic.hpp>

#include "formats/input_stream.h"
#include "formats/step.h"
#include "pmusim/x86/instruction.h"

namespace pmusim::formats {

using le64 = boost::endian::little_uint64_t;

/// What a ChampSim trace consists of; there is no header. Register numbers are those of the Pin tool that
/// defined the format, 0 where unused; so are addresses.
struct ChampSimRecord {
  le64 ip;
  u8 is_branch;
  u8 taken;
  std::array<u8, 2> written;
  std::array<u8, 4> read;
  std::array<le64, 2> stores;
  std::array<le64, 4> loads;
};
static_assert(sizeof(ChampSimRecord) == 64);

/// ChampSim tells branches by the registers that they use. Until 2023 whatever wrote IP and read another
/// register than IP, SP and flags was an indirect jump; since then it is conditional if it reads IP too, as
/// `loop` and `jrcxz` do, and branches on registers of other architectures.
enum class ChampSimBranches : u8 { since_2023, before_2023 };

/// The kind of branch that a record is to ChampSim; indirect_jump for what it calls "other".
BranchKind branch_kind(const ChampSimRecord& record, ChampSimBranches branches);

/// The record of an instruction that was executed: `addresses` has one per memory operand, or none.
ChampSimRecord champsim_record(const x86::Instruction& instruction, u64 next_ip,
                               std::span<const u64> addresses);

class ChampSimReader final : public StepReader {
 public:
  ChampSimReader(InputStream stream, ChampSimBranches branches)
      : stream_(std::move(stream)), branches_(branches) {}
  Result<std::optional<Step>, Error> next() override;

 private:
  InputStream stream_;
  ChampSimBranches branches_;
};

}  // namespace pmusim::formats

#endif
