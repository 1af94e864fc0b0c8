// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERFDATA_WRITER_H
#define PMUSIM_SRC_PERFDATA_WRITER_H

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/output_file.h"
#include "perf/simd_abi.h"
#include "perfdata/file_format.h"
#include "perfdata/payload.h"
#include "pmusim/base/types.h"
#include "pmusim/perfdata/reader.h"

namespace pmusim::perfdata {

enum class Compression : u8 { none, zstd };

/// What a TIME_CONV record says: ns = zero + tsc * multiplier / 2^shift.
struct TimeConversion {
  u64 shift = 0, multiplier = 0, zero = 0;
};

struct Options {
  Form form = Form::file;
  /// Bytes of perf_event_attr to write, one of VER0 (64) to VER10 (176). Readers refuse attributes larger
  /// than their own; 128 is read by everything since Linux 5.13.
  u32 attr_bytes = 128;
  /// How attributes of 176 bytes lay out their SIMD fields.
  perf::SimdAbi simd = perf::SimdAbi::series_v7;
  Compression compression = Compression::none;
  int compression_level = 3;
  /// Whether others than the owner may read the file: samples of registers show what programs work on.
  Readers readers = Readers::as_umask_says;
  /// For readers that want to turn sample times back into time stamps of the CPU.
  std::optional<TimeConversion> time_conversion;
  bool counts = false;  ///< the file has counts of perf stat record, and no samples
  Metadata metadata;
};

/// Writes a perf.data file that perf, BOLT and AutoFDO read.
///
/// Events first, then records, then finish(). The file grows under a temporary name and takes its own name in
/// finish(); a writer that fails or is destroyed before leaves nothing behind. Something that exists and is
/// not a regular file (a pipe, /dev/stdout) is written directly.
///
/// After an error every further call returns that error.
class Writer {
 public:
  /// "-" is standard output. Errors: the path cannot be created; `attr_bytes` is no known size; Form::file on
  /// something not seekable.
  static Result<Writer, Error> create(const std::filesystem::path& path, Options options);

  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;
  ~Writer();

  /// `name` is what reports show. Errors: records are already written; a field beyond `attr_bytes` is set.
  Result<Done, Error> add_event(const perf::Attr& attr, std::string name, std::span<const u64> ids);
  /// Says that `members` consecutive events from `leader` (an index, in order of add_event) form a group.
  void add_group(std::string name, u32 leader, u32 members);

  using Space = perfdata::Space;
  /// Any time before finish(). `id` has at most 20 bytes.
  void add_build_id(std::string path, std::span<const std::byte> id, Space space = Space::user);

  /// Appends to the data section. Records may be cut anywhere between calls.
  Result<Done, Error> write(std::span<const std::byte> records);

  /// Between records: bytes that a PMU wrote to memory by itself (AUXTRACE), a multiple of 8 as perf pads
  /// them. They are not compressed. `area.bytes` is filled in.
  Result<Done, Error> write_aux(AuxArea area, std::span<const std::byte> bytes);

  /// Between records: one of those that tools write.
  Result<Done, Error> write(UserRecord type, const Payload& payload);

  /// Between records: promises that no record from here on is older than one written so far, so that readers
  /// that sort by time may deliver what they have (FINISHED_ROUND).
  Result<Done, Error> end_round();

  /// Completes the file and gives it its name. Errors: the disk is full, the last record is not whole.
  Result<Done, Error> finish();

  /// Bytes of records written so far, before compression.
  u64 record_bytes() const;

 private:
  class State;
  explicit Writer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pmusim::perfdata

#endif
