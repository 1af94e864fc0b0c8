// SPDX-License-Identifier: MIT
#ifndef PMUSIM_MACHINE_HOST_SYMBOLS_H
#define PMUSIM_MACHINE_HOST_SYMBOLS_H

#include <filesystem>
#include <string>
#include <string_view>

namespace pmusim::machine {

/// The build ID, in hexadecimal, that the notes of a kernel (/sys/kernel/notes) name; empty if they name
/// none.
std::string build_id_of(std::string_view notes);

/// Under its name when it is whole: until then what had the name stays. False: it could not be written.
bool write_whole(const std::filesystem::path& path, const std::string& contents);

/// Puts the symbols of the guest's kernel where perf looks for those of kernels that do not run here: the
/// build-ID cache in ~/.debug. Returns the file; an empty path, and nothing is written, without a home.
std::filesystem::path cache_symbols(const std::string& build_id, const std::string& kallsyms);

}  // namespace pmusim::machine

#endif
