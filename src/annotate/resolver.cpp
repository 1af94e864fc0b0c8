// SPDX-License-Identifier: MIT
#include "resolver.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/demangle.h"
#include "base/kernel_address.h"
#include "mapped_name.h"

namespace pmusim::annotate {

using perf::CpuMode;

/// What is no file.
struct SpecialModule {
  std::string_view name, problem;
};

namespace {

constexpr SpecialModule unknown{"[unknown]", "no mapping of a file is known here"};
constexpr SpecialModule kernel{"[kernel]", "symbols of kernels are in a file of their own (--kallsyms)"};
constexpr SpecialModule hypervisor{"[hypervisor]", "symbols of hypervisors are not read"};
constexpr SpecialModule guest_kernel{"[guest kernel]", "symbols of kernels are not read"};
constexpr SpecialModule guest_user{"[guest user]", "what guests have mapped is not known"};

/// nullptr for code of a process.
const SpecialModule* special_of(CpuMode mode, u64 address) {
  switch (mode) {
    case CpuMode::kernel:
      return &kernel;
    case CpuMode::hypervisor:
      return &hypervisor;
    case CpuMode::guest_kernel:
      return &guest_kernel;
    case CpuMode::guest_user:
      return &guest_user;
    case CpuMode::unknown:
      return is_kernel_address(address) ? &kernel : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace

const symbols::Mapping* Resolver::mapping_at(symbols::AddressSpaces::Id space, u64 address) const {
  return space == no_space ? nullptr : spaces_[space].find(address);
}

Location Resolver::locate(const CodeSpace& space, u64 address) {
  if (const SpecialModule* const special = special_of(space.mode, address))
    return {special_module(*special), address};
  const symbols::Mapping* const mapping = mapping_at(space.id, address);
  if (mapping == nullptr) return {special_module(unknown), address};
  const u32 module = module_of_file(mapping->file);
  return {module, modules_[module].content.address_of(address - mapping->start + mapping->file_offset)};
}

/// Stacks reach from one mode into another; a 32-bit kernel is in the lower half, and maps no file there.
Location Resolver::locate_branch(const CodeSpace& space, u64 address) {
  const bool is_upper = is_kernel_address(address);
  switch (space.mode) {
    case CpuMode::hypervisor:
      return locate(space, address);
    case CpuMode::guest_kernel:
    case CpuMode::guest_user:
      return locate({space.id, is_upper ? CpuMode::guest_kernel : space.mode}, address);
    case CpuMode::kernel:
      if (mapping_at(space.id, address) == nullptr) return locate(space, address);
      [[fallthrough]];
    default:
      return locate({space.id, CpuMode::unknown}, address);
  }
}

u32 Resolver::special_module(const SpecialModule& special) {
  const auto [at, is_new] =
      special_modules_.try_emplace(std::string(special.name), static_cast<u32>(modules_.size()));
  const bool is_named = &special == &kernel && !options_.kallsyms.empty();
  if (is_new)
    modules_.push_back({at->first, is_named ? symbols::Module::from_kallsyms(options_.kallsyms)
                                            : symbols::Module::nameless(std::string(special.problem))});
  return at->second;
}

symbols::Module Resolver::open(const symbols::FileIdentity& file) const {
  if (is_jit_map(file.path) && std::filesystem::path(file.path).parent_path() == options_.jit_directory)
    return symbols::Module::from_jit_map(file.path);
  if (!file.path.starts_with('/')) return symbols::Module::nameless("is no file: its code is not shown");
  return symbols::Module::open(file, options_.debug_directory);
}

u32 Resolver::module_of_file(u32 file) {
  const auto [at, is_new] = module_of_file_.try_emplace(file, static_cast<u32>(modules_.size()));
  const symbols::FileIdentity& identity = spaces_.files()[file];
  if (is_new) modules_.push_back({identity.path, open(identity)});
  return at->second;
}

u32 Resolver::symbol_at(const Location& location) {
  const symbols::Symbol* const symbol = modules_[location.module].content.find(location.address);
  // No symbol starts at the highest address.
  const std::pair key(location.module, symbol != nullptr ? symbol->start : ~u64{0});
  const auto [at, is_new] = symbol_index_.try_emplace(key, static_cast<u32>(symbols_.size()));
  if (is_new && symbol != nullptr)
    symbols_.push_back({location.module, symbol->start, symbol->end, demangled(symbol->name), symbol->name});
  else if (is_new)
    symbols_.push_back({location.module, 0, 0, "[unknown]", ""});
  return at->second;
}

std::string Resolver::name_of(u32 module, u64 address) const {
  const symbols::Symbol* const symbol = modules_[module].content.find(address);
  if (symbol == nullptr) return {};
  const std::string name = demangled(symbol->name);
  return address == symbol->start ? name : fmt::format("{}+{:#x}", name, address - symbol->start);
}

std::string without_parameters(const std::string& name) {
  const std::size_t last = name.rfind(')');
  if (last == std::string::npos) return name;
  int depth = 0;
  for (std::size_t at = last + 1; at-- > 0;) {
    if (name[at] == ')') ++depth;
    if (name[at] == '(' && --depth == 0) return at == 0 ? name : name.substr(0, at);
  }
  return name;
}

bool has_name(const std::string& name, const std::string& linkage_name, const std::string& wanted) {
  const bool is_bracketed = name.starts_with('[') && name.ends_with(']');
  return linkage_name == wanted || name == wanted || without_parameters(name) == wanted ||
         (is_bracketed && name.substr(1, name.size() - 2) == wanted);
}

}  // namespace pmusim::annotate
