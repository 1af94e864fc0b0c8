// SPDX-License-Identifier: MIT
#ifndef PMUSIM_FORMATS_CHAMPSIM_H
#define PMUSIM_FORMATS_CHAMPSIM_H

#include <algorithm>
#include <array>
#include <boost/endian/arithmetic.hpp>
#include <cstddef>
#include <span>
#include <vector>

#include "formats/input_stream.h"
#include "formats/step.h"
#include "pmusim/formats/formats.h"
#include "pmusim/x86/instruction.h"

namespace pmusim::formats {

using le64 = boost::endian::little_uint64_t;

/// What a ChampSim trace consists of (`input_instr` of its inc/trace_instruction.h); there is no header.
/// Register numbers are those of the Pin tool that defined the format, 0 where unused; so are addresses.
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

/// What a trace of CloudSuite consists of (`cloudsuite_instr` there), which ChampSim has to be asked for too.
struct CloudSuiteRecord {
  le64 ip;
  u8 is_branch;
  u8 taken;
  std::array<u8, 4> written;
  std::array<u8, 4> read;
  std::array<u8, 6> padding;
  std::array<le64, 4> stores;
  std::array<le64, 4> loads;
  std::array<u8, 2> address_space;
  std::array<u8, 6> padding_behind;
};
static_assert(sizeof(CloudSuiteRecord) == 96 && offsetof(CloudSuiteRecord, stores) == 24);

/// The same as tools write it that leave the address space out.
struct ShortCloudSuiteRecord {
  le64 ip;
  u8 is_branch;
  u8 taken;
  std::array<u8, 4> written;
  std::array<u8, 4> read;
  std::array<u8, 6> padding;
  std::array<le64, 4> stores;
  std::array<le64, 4> loads;
};
static_assert(sizeof(ShortCloudSuiteRecord) == 88 && offsetof(ShortCloudSuiteRecord, stores) == 24);

/// ChampSim tells branches by the registers that they use. Until 2023 whatever wrote IP and read another
/// register than IP, SP and flags was an indirect jump; since then it is conditional if it reads IP too, as
/// `loop` and `jrcxz` do, and branches on registers of other architectures.
enum class ChampSimBranches : u8 { since_2023, before_2023 };

/// Any of these records.
struct ChampSimFields {
  u64 ip = 0;
  u8 is_branch = 0, taken = 0;
  std::array<u8, 4> written{}, read{};
  std::array<u64, 4> stores{}, loads{};

  template <class Record>
  explicit ChampSimFields(const Record& record)
      : ip(record.ip), is_branch(record.is_branch), taken(record.taken), read(record.read) {
    std::ranges::copy(record.written, written.begin());
    std::ranges::copy(record.stores, stores.begin());
    std::ranges::copy(record.loads, loads.begin());
  }
};

/// The kind of branch that a record is to ChampSim; indirect_jump for what it calls "other".
BranchKind branch_kind(const ChampSimFields& record, ChampSimBranches branches);

/// The record (of either kind) of an instruction that was executed: `addresses` has one per memory operand,
/// or none.
template <class Record>
Record champsim_record(const x86::Instruction& instruction, u64 next_ip, std::span<const u64> addresses);

/// Which records a file has.
struct ChampSimLayout {
  std::size_t bytes;
  ChampSimFields (*fields)(std::span<const std::byte> record);
};

/// Reads records of the first of `layouts`, unless the first ones would better be those of another. Where the
/// first whole one begins in a file that was cut at its beginning is found in the same way.
class ChampSimReader final : public StepReader {
 public:
  ChampSimReader(InputStream stream, std::span<const ChampSimLayout> layouts, ChampSimBranches branches)
      : stream_(std::move(stream)), layouts_(layouts), branches_(branches) {}
  Result<std::optional<Step>, Error> next() override;
  std::vector<std::string> left_out() const override;

 private:
  Result<Done, Error> begin();
  Result<std::optional<ChampSimFields>, Error> next_record();
  Result<std::size_t, Error> read(std::span<std::byte> out);
  Step step_of(const ChampSimFields& record) const;
  Error no_record(const ChampSimFields& fields) const;

  InputStream stream_;
  std::span<const ChampSimLayout> layouts_;
  ChampSimLayout layout_ = layouts_.front();
  ChampSimBranches branches_;
  bool begun_ = false;
  std::vector<std::byte> front_;  // of the file, by which the first record is found
  std::size_t front_taken_ = 0;
  std::vector<std::byte> record_;
  u64 offset_ = 0, record_offset_ = 0, records_ = 0;
  u64 bytes_before_ = 0, bytes_behind_ = 0, kernel_instructions_ = 0;
};

Result<Conversion, Error> import_champsim(const ImportOptions& options);
Result<Conversion, Error> import_champsim_old(const ImportOptions& options);
Result<Conversion, Error> import_cloudsuite(const ImportOptions& options);

}  // namespace pmusim::formats

#endif
