// SPDX-License-Identifier: MIT
#include "symbols/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/build_id.h"
#include "debug_information.h"
#include "elf_file.h"

namespace pmusim::symbols {

class Module::State {
 public:
  void open(const FileIdentity& identity, const std::filesystem::path& debug_directory);
  void take(std::optional<ElfFile> file, const std::string& name);
  void read_jit_map(const std::filesystem::path& path);
  void read_kallsyms(const std::filesystem::path& path);

  std::optional<ElfFile> elf, debug_elf;
  /// nullptr if there is none. Read when first asked for.
  DebugInformation* debug();
  bool has_debug() const { return debug_file() != nullptr; }

  std::vector<Symbol> symbols;
  std::vector<GElf_Phdr> segments;
  std::string problem;

 private:
  void miss(const std::string& sentence) { problem += (problem.empty() ? "" : "; ") + sentence; }
  void read_all(const std::string& name);
  void read_symbols(const std::string& name);
  const ElfFile* debug_file() const;

  std::unique_ptr<DebugInformation> debug_;  // goes before its file does
  bool debug_was_read_ = false;
};

void Module::State::open(const FileIdentity& identity, const std::filesystem::path& debug_directory) {
  elf = ElfFile::open(identity.path);
  std::error_code error;
  if (!elf)
    miss(std::filesystem::exists(identity.path, error) ? "is no x86-64 ELF file: its code is not shown"
                                                       : "does not exist here: its code is not shown");
  if (elf && !identity.build_id.empty() && !is_same_build(identity.build_id, elf->build_id())) {
    miss(fmt::format("is another build ({}) than the one recorded ({}): its code is not shown",
                     elf->build_id().empty() ? "without a build id" : hexadecimal(elf->build_id()),
                     hexadecimal(identity.build_id)));
    elf.reset();
  }
  debug_elf = find_debug_file(elf ? &*elf : nullptr, identity, debug_directory);
  read_all(std::filesystem::path(identity.path).filename().string());
}

void Module::State::take(std::optional<ElfFile> file, const std::string& name) {
  elf = std::move(file);
  if (!elf) return miss(name + " is no x86-64 ELF file");
  read_all(name);
}

void Module::State::read_all(const std::string& name) {
  if (elf) segments = elf->load_segments();
  if (segments.empty() && debug_elf) segments = debug_elf->load_segments();
  if (!elf && !debug_elf) return;
  read_symbols(name);
  if (!has_debug()) miss("has no debug information (DWARF): no source lines and no inlined functions");
}

void Module::State::read_symbols(const std::string& name) {
  if (elf) symbols = function_symbols(*elf, SHT_SYMTAB);
  if (symbols.empty() && debug_elf) symbols = function_symbols(*debug_elf, SHT_SYMTAB);
  const bool is_stripped = symbols.empty();
  if (is_stripped && elf) symbols = function_symbols(*elf, SHT_DYNSYM);
  if (is_stripped)
    miss(symbols.empty() ? "has no symbols: its functions are named by their addresses"
                         : "is stripped: only its dynamic symbols are known, other functions are named by "
                           "their addresses");
  if (elf) symbols = merged(plt_symbols(*elf), std::move(symbols));
  if (is_stripped && elf) {
    std::vector<Symbol> nameless = nameless_functions(*elf, symbols, name);
    symbols = merged(std::move(symbols), std::move(nameless));
  }
}

const ElfFile* Module::State::debug_file() const {
  if (elf && DebugInformation::is_in(*elf)) return &*elf;
  return debug_elf && DebugInformation::is_in(*debug_elf) ? &*debug_elf : nullptr;
}

DebugInformation* Module::State::debug() {
  if (std::exchange(debug_was_read_, true) || debug_file() == nullptr) return debug_.get();
  auto opened = DebugInformation::open(*debug_file());
  if (opened.ok())
    debug_ = *std::move(opened);
  else
    miss(opened.error().message + ": no source lines and no inlined functions");
  return debug_.get();
}

namespace {

/// Takes a hexadecimal number and the blank behind it from a line.
bool take_number(std::string_view& line, u64& value) {
  if (line.starts_with("0x")) line.remove_prefix(2);
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value, 16);
  if (error != std::errc() || end == line.data() + line.size() || *end != ' ') return false;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()) + 1);
  return true;
}

std::optional<Symbol> parse_jit_line(std::string_view line) {
  Symbol symbol;
  u64 bytes = 0;
  if (!take_number(line, symbol.start) || !take_number(line, bytes) || line.empty()) return std::nullopt;
  if (bytes == 0 || bytes > ~symbol.start) return std::nullopt;
  symbol.end = symbol.start + bytes;
  symbol.name = line;
  return symbol;
}

/// Nothing of data. Behind the name may stand its module.
std::optional<Symbol> parse_kallsyms_line(std::string_view line) {
  constexpr std::string_view code = "tTwW";
  Symbol symbol;
  if (!take_number(line, symbol.start) || line.size() < 3 || line[1] != ' ') return std::nullopt;
  if (code.find(line[0]) == code.npos) return std::nullopt;
  line.remove_prefix(2);
  symbol.name = line.substr(0, line.find_first_of(" \t\r"));
  return symbol;
}

/// What stands in the lines that `parse` can read.
std::vector<Symbol> symbols_in(const std::vector<std::byte>& text,
                               std::optional<Symbol> (*parse)(std::string_view)) {
  std::vector<Symbol> symbols;
  std::string_view rest(reinterpret_cast<const char*>(text.data()), text.size());
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    if (auto symbol = parse(rest.substr(0, end))) symbols.push_back(*std::move(symbol));
    rest.remove_prefix(std::min(end, rest.size() - 1) + 1);
  }
  return symbols;
}

}  // namespace

void Module::State::read_kallsyms(const std::filesystem::path& path) {
  const auto file = InputFile::open(path);
  const auto bytes =
      file.ok() ? file->read_all() : Result<std::vector<std::byte>, Error>(Failure(file.error()));
  if (!bytes.ok()) return miss(bytes.error().message);
  symbols = symbols_in(*bytes, parse_kallsyms_line);
  // Of several at an address the last one stays: "_text" and "_stext" stand before the first function.
  std::ranges::stable_sort(symbols, {}, &Symbol::start);
  for (std::size_t n = 0; n < symbols.size(); ++n)
    symbols[n].end = n + 1 < symbols.size() ? symbols[n + 1].start : symbols[n].start + 1;
  std::erase_if(symbols, [](const Symbol& symbol) { return symbol.start == symbol.end; });
  miss("is a kernel: its code is not shown");
}

/// Code may be compiled again at the same place: later lines of the file win.
void Module::State::read_jit_map(const std::filesystem::path& path) {
  constexpr u64 largest_map = 256u << 20;
  const auto file = InputFile::open(path);
  if (!file.ok() || file->size() > largest_map)
    return miss(fmt::format("is no file, and there is no {} to name its functions", path.string()));
  const auto bytes = file->read_all();
  if (!bytes.ok()) return miss(bytes.error().message);
  symbols = symbols_in(*bytes, parse_jit_line);
  std::ranges::reverse(symbols);
  std::ranges::stable_sort(symbols, {}, &Symbol::start);
  symbols = merged(std::move(symbols), {});
  miss("was compiled at run time: its code is not shown");
}

Module Module::open(const FileIdentity& identity, const std::filesystem::path& debug_directory) {
  auto state = std::make_unique<State>();
  state->open(identity, debug_directory);
  return Module(std::move(state));
}

Module Module::from_memory(const std::string& name, std::vector<std::byte> bytes) {
  auto state = std::make_unique<State>();
  state->take(ElfFile::from_memory(std::move(bytes)), name);
  return Module(std::move(state));
}

Module Module::from_jit_map(const std::filesystem::path& path) {
  auto state = std::make_unique<State>();
  state->read_jit_map(path);
  return Module(std::move(state));
}

Module Module::from_kallsyms(const std::filesystem::path& path) {
  auto state = std::make_unique<State>();
  state->read_kallsyms(path);
  return Module(std::move(state));
}

Module Module::nameless(std::string problem) {
  auto state = std::make_unique<State>();
  state->problem = std::move(problem);
  return Module(std::move(state));
}

Module::Module(std::unique_ptr<State> state) : state_(std::move(state)) {}
Module::Module(Module&&) noexcept = default;
Module& Module::operator=(Module&&) noexcept = default;
Module::~Module() = default;

const std::string& Module::problem() const { return state_->problem; }

std::string Module::build_id() const {
  const auto& file = state_->elf ? state_->elf : state_->debug_elf;
  return file ? hexadecimal(file->build_id()) : "";
}

u64 Module::address_of(u64 file_offset) const {
  for (const GElf_Phdr& s : state_->segments)
    if (file_offset >= s.p_offset && file_offset - s.p_offset < s.p_filesz)
      return file_offset - s.p_offset + s.p_vaddr;
  return file_offset;
}

std::span<const Symbol> Module::symbols() const { return state_->symbols; }

const Symbol* Module::find(u64 address) const {
  const auto& symbols = state_->symbols;
  const auto after = std::ranges::upper_bound(symbols, address, {}, &Symbol::start);
  if (after == symbols.begin() || address >= std::prev(after)->end) return nullptr;
  return &*std::prev(after);
}

const Symbol* Module::find(std::string_view linkage_name) const {
  const auto found = std::ranges::find(state_->symbols, linkage_name, &Symbol::name);
  return found == state_->symbols.end() ? nullptr : &*found;
}

std::optional<AddressRange> Module::loaded_range(std::string_view linkage_name,
                                                 const Mapping& mapping) const {
  const Symbol* const symbol = find(linkage_name);
  if (symbol == nullptr) return std::nullopt;
  for (const GElf_Phdr& s : state_->segments) {
    if (symbol->start < s.p_vaddr || symbol->start - s.p_vaddr >= s.p_filesz) continue;
    const u64 offset = symbol->start - s.p_vaddr + s.p_offset;
    if (offset < mapping.file_offset || offset - mapping.file_offset >= mapping.end - mapping.start) continue;
    const u64 first = mapping.start + (offset - mapping.file_offset);
    return AddressRange{first, first + (symbol->end - symbol->start)};
  }
  return std::nullopt;
}

std::vector<std::byte> Module::code(u64 address, u64 bytes) const {
  if (!state_->elf) return {};
  for (const GElf_Phdr& s : state_->segments) {
    if (address < s.p_vaddr || address - s.p_vaddr >= s.p_filesz) continue;
    const u64 within = address - s.p_vaddr;
    return state_->elf->read(s.p_offset + within, std::min(bytes, s.p_filesz - within));
  }
  return {};
}

std::optional<Position> Module::position(u64 address) {
  DebugInformation* const debug = state_->debug();
  return debug != nullptr ? debug->position(address) : std::nullopt;
}

std::vector<InlinedCall> Module::inlined_calls(u64 start, u64 end) {
  DebugInformation* const debug = state_->debug();
  return debug != nullptr ? debug->inlined_calls(start, end) : std::vector<InlinedCall>{};
}

}  // namespace pmusim::symbols
