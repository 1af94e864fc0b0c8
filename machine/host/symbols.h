// SPDX-License-Identifier: MIT
#ifndef PMUSIM_MACHINE_HOST_SYMBOLS_H
#define PMUSIM_MACHINE_HOST_SYMBOLS_H

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace pmusim::machine {

/// The build ID, in hexadecimal, that the notes of a kernel (/sys/kernel/notes) name; empty if they name
/// none.
std::string build_id_of(std::string_view notes);

/// Under its name when it is whole: until then what had the name stays. `access`: who may read it, if not as
/// the umask says. False: it could not be written.
bool write_whole(const std::filesystem::path& path, const std::string& contents,
                 std::filesystem::perms access = std::filesystem::perms::unknown);

/// Puts the symbols of the guest's kernel where perf looks for those of kernels that do not run here: the
/// build-ID cache in ~/.debug. Returns the file; an empty path, and nothing is written, without a home.
std::filesystem::path cache_symbols(const std::string& build_id, const std::string& kallsyms);

/// Where the functions of a kernel are.
class KernelFunctions {
 public:
  /// As /proc/kallsyms has them. Lines that are none are left out.
  explicit KernelFunctions(std::string_view kallsyms);
  /// The function that an address lies in; empty if it is none of the kernel's.
  std::string_view name_of(std::uint64_t address) const;
  /// Puts names in place of addresses behind "at=" in a text file. False: it cannot be read or written.
  bool name_in(const std::filesystem::path& file) const;

 private:
  struct Symbol {
    std::uint64_t address = 0;
    std::string name;  ///< empty: no function
  };
  std::vector<Symbol> symbols_;
};

}  // namespace pmusim::machine

#endif
