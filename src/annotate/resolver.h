// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ANNOTATE_RESOLVER_H
#define PMUSIM_SRC_ANNOTATE_RESOLVER_H

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "perf/cpu_mode.h"
#include "pmusim/annotate/report.h"
#include "symbols/address_space.h"
#include "symbols/module.h"

namespace pmusim::annotate {

/// A place in a file instead of in a process: what the same code has in common wherever it is mapped.
struct Location {
  u32 module = 0;
  u64 address = 0;
  friend auto operator<=>(const Location&, const Location&) = default;
};

/// What an address is looked up in: a process at some time, and what the CPU ran of it.
struct CodeSpace {
  symbols::AddressSpaces::Id id = 0;
  perf::CpuMode mode = perf::CpuMode::unknown;
  friend auto operator<=>(const CodeSpace&, const CodeSpace&) = default;
};

/// Processes of which no mapping is known.
inline constexpr symbols::AddressSpaces::Id no_space = ~u32{0};

struct SpecialModule;

/// Turns addresses of processes into places in modules and names them. Modules are opened when first seen.
class Resolver {
 public:
  struct OpenModule {
    std::string path;
    symbols::Module content;
  };
  struct KnownSymbol {
    u32 module = 0;
    u64 start = 0, end = 0;
    std::string name, linkage_name;
  };

  Resolver(const symbols::AddressSpaces& spaces, const Options& options)
      : spaces_(spaces), options_(options) {}

  /// Where no mode is known the address tells kernels apart, as it does on 64-bit ones.
  Location locate(const CodeSpace& space, u64 address);
  /// An address of a branch stack, of which no mode is known but that of its sample.
  Location locate_branch(const CodeSpace& space, u64 address);
  /// The symbol at a place, a number of this resolver; one "[unknown]" for the rest of each module.
  u32 symbol_at(const Location& location);
  /// What stands at an address of a module: "main+0x12"; empty if no symbol is there.
  std::string name_of(u32 module, u64 address) const;

  std::vector<OpenModule>& modules() { return modules_; }
  const std::vector<KnownSymbol>& symbols() const { return symbols_; }

 private:
  const symbols::Mapping* mapping_at(symbols::AddressSpaces::Id space, u64 address) const;
  u32 module_of_file(u32 file);
  u32 special_module(const SpecialModule& special);
  symbols::Module open(const symbols::FileIdentity& file) const;

  const symbols::AddressSpaces& spaces_;
  const Options& options_;
  std::vector<OpenModule> modules_;
  std::vector<KnownSymbol> symbols_;
  std::map<u32, u32> module_of_file_;
  std::map<std::string, u32> special_modules_;
  std::map<std::pair<u32, u64>, u32> symbol_index_;
};

/// A demangled name without the list of parameters: what people type.
std::string without_parameters(const std::string& name);
/// True if `wanted` is one of the names of a symbol: demangled, the same without parameters, or as linked;
/// brackets of names after an address may be left out (command lines take them for a list).
bool has_name(const std::string& name, const std::string& linkage_name, const std::string& wanted);

}  // namespace pmusim::annotate

#endif
