// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_FORMATS_PT_CODE_H
#define PMUSIM_SRC_FORMATS_PT_CODE_H

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/input_file.h"
#include "formats/pt_decoder.h"
#include "formats/step.h"
#include "pmusim/trace/trace.h"

namespace pmusim::formats {

/// Instructions that a native trace executed, by process and address: code of programs whose files are not
/// there, or that was in no file.
class RecordedCode {
 public:
  /// Of an address that had several, the last. Errors: as trace::Reader.
  static Result<RecordedCode, Error> read(const std::string& trace);
  /// The instruction at an address; empty where none was executed.
  std::span<const std::byte> at(u32 pid, u64 ip) const;

 private:
  std::map<u32, std::unordered_map<u64, Code>> by_pid_;
};

/// What stands at the addresses of processes: recorded code first, then what files have that are mapped
/// there.
///
/// A file is used only where its build id is the mapping's, if that has one. Memory is bounded: pages of
/// files that were asked for, 64 MiB of them at a time.
class PtCode final : public CodeSource {
 public:
  explicit PtCode(RecordedCode recorded) : recorded_(std::move(recorded)) {}

  void map(u32 pid, const trace::Mapping& mapping);
  void fork(u32 parent_pid, u32 pid) { spaces_[pid] = spaces_[parent_pid]; }
  void forget(u32 pid) { spaces_.erase(pid); }

  std::size_t read(u32 pid, u64 ip, std::span<std::byte> out) override;
  /// Paths of mappings that were executed and have no file to read.
  const std::set<std::string>& missing() const { return missing_; }

 private:
  static constexpr std::size_t page_bytes = 4096, max_pages = 16384;
  struct Piece {
    u64 end = 0, file_offset = 0;
    std::size_t file = 0;
  };
  struct File {
    std::string path;
    std::vector<u8> build_id;
    bool opened = false;
    std::optional<InputFile> contents;
  };
  using Space = std::map<u64, Piece>;  // by start

  std::size_t file_number(const trace::Mapping& mapping);
  void clear(Space& space, u64 start, u64 end);
  std::span<const std::byte> page(std::size_t file, u64 number);
  const std::optional<InputFile>& open(File& file);

  RecordedCode recorded_;
  std::map<u32, Space> spaces_;  // by pid
  std::vector<File> files_;
  std::map<std::pair<std::string, std::vector<u8>>, std::size_t> numbers_;
  std::map<std::pair<std::size_t, u64>, std::vector<std::byte>> pages_;  // by file and number
  std::set<std::string> missing_;
};

}  // namespace pmusim::formats

#endif
