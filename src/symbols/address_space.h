// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SYMBOLS_ADDRESS_SPACE_H
#define PMUSIM_SRC_SYMBOLS_ADDRESS_SPACE_H

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pmusim/base/types.h"

namespace pmusim::symbols {

/// A file as a mapping names it.
struct FileIdentity {
  std::string path;
  std::vector<std::byte> build_id;  ///< empty if the mapping does not tell
  friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};

/// [start, end) of a process shows the file from `file_offset` on.
struct Mapping {
  u64 start = 0, end = 0, file_offset = 0;
  u32 file = 0;  ///< index into AddressSpaces::files()
  friend bool operator==(const Mapping&, const Mapping&) = default;
};

/// What a process has where. Mappings do not overlap.
class AddressSpace {
 public:
  /// nullptr if nothing is known to be there.
  const Mapping* find(u64 address) const;

 private:
  friend class AddressSpaces;
  bool overlaps(const Mapping& mapping) const;
  void cut_out(u64 start, u64 end);
  std::map<u64, Mapping> by_start_;
};

/// The address spaces of all processes over time.
///
/// Events come in order of their time; then any moment can be asked for. A mapping that lies over another one
/// starts a new state of the process; one that fills a hole belongs to the present state from its beginning,
/// because nobody can have run there before. So most processes have one state, and samples of one state may
/// be summed up by raw address.
class AddressSpaces {
 public:
  using Id = u32;

  u32 add_file(FileIdentity file);
  const std::vector<FileIdentity>& files() const { return files_; }

  void map(u32 pid, u64 time, const Mapping& mapping);
  void exec(u32 pid, u64 time);
  /// The child starts with what the parent has.
  void fork(u32 parent, u32 child, u64 time);

  /// The state of a process at a moment; nothing if no event of it is known.
  std::optional<Id> find(u32 pid, u64 time) const;
  const AddressSpace& operator[](Id id) const { return spaces_[id]; }
  /// False if there were so many changes that some were applied to older moments as well, to bound memory.
  bool is_exact() const { return exact_; }

 private:
  struct State {
    u64 since;
    Id space;
  };
  State& state(u32 pid, u64 time);
  Id add_space(AddressSpace space);
  bool may_copy(const AddressSpace& space);

  std::vector<FileIdentity> files_;
  std::map<FileIdentity, u32> file_index_;
  std::vector<AddressSpace> spaces_;
  std::vector<u32> users_;  ///< processes whose present state a space is
  std::unordered_map<u32, std::vector<State>> history_;
  u64 copied_ = 0, mapped_ = 0;  ///< mappings
  bool exact_ = true;
};

}  // namespace pmusim::symbols

#endif
