// SPDX-License-Identifier: MIT
#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>

#include "elf_file.h"

namespace pmusim::symbols {

namespace {

constexpr u64 plt_entry_bytes = 16;

struct Candidate {
  Symbol symbol;
  u8 binding = STB_LOCAL;

  bool is_sized() const { return symbol.end > symbol.start; }
  std::size_t underscores() const { return std::min(symbol.name.find_first_not_of('_'), symbol.name.size()); }
  /// Of names for one address the one that people know comes first.
  auto rank() const {
    return std::tuple(!is_sized(), binding == STB_WEAK, binding != STB_GLOBAL, underscores(),
                      ~symbol.name.size(), symbol.name);
  }
};

bool is_function(const GElf_Sym& symbol) {
  const auto type = GELF_ST_TYPE(symbol.st_info);
  return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF && symbol.st_name != 0;
}

bool is_variable(const GElf_Sym& symbol) {
  return GELF_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_shndx != SHN_UNDEF &&
         symbol.st_shndx != SHN_ABS && symbol.st_size != 0 && symbol.st_name != 0;
}

std::vector<Symbol> without_aliases(std::vector<Candidate> candidates) {
  std::ranges::sort(candidates, [](const Candidate& a, const Candidate& b) {
    return std::tuple(a.symbol.start, a.rank()) < std::tuple(b.symbol.start, b.rank());
  });
  std::vector<Symbol> symbols;
  for (Candidate& candidate : candidates)
    if (symbols.empty() || symbols.back().start != candidate.symbol.start)
      symbols.push_back(std::move(candidate.symbol));
  return symbols;
}

/// Symbols without a size (assembly) reach to the next one.
void settle_ends(std::vector<Symbol>& symbols) {
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const bool is_last = i + 1 == symbols.size();
    const u64 next = is_last ? std::max(symbols[i].end, symbols[i].start + 1) : symbols[i + 1].start;
    const bool is_sized = symbols[i].end > symbols[i].start;
    symbols[i].end = is_sized ? std::min(symbols[i].end, next) : next;
  }
}

/// A section with rows of a fixed size.
struct Table {
  Elf_Data* rows = nullptr;
  GElf_Shdr header{};
  int count() const { return static_cast<int>(std::min<u64>(header.sh_size / header.sh_entsize, 1u << 30)); }
};

std::optional<Table> open_table(Elf_Scn* section) {
  Table table;
  if (section == nullptr || gelf_getshdr(section, &table.header) == nullptr) return std::nullopt;
  table.rows = elf_getdata(section, nullptr);
  if (table.rows == nullptr || table.header.sh_entsize == 0) return std::nullopt;
  table.header.sh_size = std::min<u64>(table.header.sh_size, table.rows->d_size);
  return table;
}

std::optional<Table> find_table(const ElfFile& file, u32 type) {
  GElf_Shdr header;
  for (Elf_Scn* at = nullptr; (at = elf_nextscn(file.get(), at)) != nullptr;)
    if (gelf_getshdr(at, &header) != nullptr && header.sh_type == type) return open_table(at);
  return std::nullopt;
}

/// The name of row `row` of the dynamic symbols.
std::string dynamic_name(const ElfFile& file, const Table& dynamic, u64 row) {
  GElf_Sym symbol;
  if (gelf_getsym(dynamic.rows, static_cast<int>(row), &symbol) == nullptr) return {};
  const char* const text = elf_strptr(file.get(), dynamic.header.sh_link, symbol.st_name);
  return text == nullptr ? "" : text;
}

/// With -fcf-protection programs may call .plt.sec; otherwise .plt, which begins with the resolver's entry.
/// Linkers differ in its size.
std::optional<u64> first_stub(const ElfFile& file, int stubs) {
  GElf_Shdr header;
  if (Elf_Scn* const second = file.section(".plt.sec"); second && gelf_getshdr(second, &header))
    return header.sh_addr;
  Elf_Scn* const plt = file.section(".plt");
  if (plt == nullptr || gelf_getshdr(plt, &header) == nullptr) return std::nullopt;
  const u64 bytes = static_cast<u64>(stubs) * plt_entry_bytes;
  if (bytes > header.sh_size) return std::nullopt;
  return header.sh_addr + header.sh_size - bytes;
}

}  // namespace

namespace {

std::vector<Symbol> chosen_symbols(const ElfFile& file, u32 type, bool (*is_chosen)(const GElf_Sym&)) {
  const auto table = find_table(file, type);
  if (!table) return {};
  std::vector<Candidate> found;
  GElf_Sym symbol;
  for (int i = 0; i < table->count(); ++i) {
    if (gelf_getsym(table->rows, i, &symbol) == nullptr || !is_chosen(symbol)) continue;
    const char* const name = elf_strptr(file.get(), table->header.sh_link, symbol.st_name);
    if (name == nullptr || *name == 0 || symbol.st_size > ~symbol.st_value) continue;
    found.push_back({{symbol.st_value, symbol.st_value + symbol.st_size, name},
                     static_cast<u8>(GELF_ST_BIND(symbol.st_info))});
  }
  std::vector<Symbol> symbols = without_aliases(std::move(found));
  settle_ends(symbols);
  return symbols;
}

}  // namespace

std::vector<Symbol> function_symbols(const ElfFile& file, u32 type) {
  return chosen_symbols(file, type, is_function);
}
std::vector<Symbol> object_symbols(const ElfFile& file, u32 type) {
  return chosen_symbols(file, type, is_variable);
}

std::vector<Symbol> plt_symbols(const ElfFile& file) {
  const auto relocations = open_table(file.section(".rela.plt"));
  const auto dynamic = find_table(file, SHT_DYNSYM);
  if (!relocations || !dynamic) return {};
  const auto first = first_stub(file, relocations->count());
  if (!first) return {};
  std::vector<Symbol> symbols;
  GElf_Rela relocation;
  for (int i = 0; i < relocations->count(); ++i) {
    if (gelf_getrela(relocations->rows, i, &relocation) == nullptr) break;
    const std::string name = dynamic_name(file, *dynamic, GELF_R_SYM(relocation.r_info));
    const u64 start = *first + static_cast<u64>(i) * plt_entry_bytes;
    if (!name.empty()) symbols.push_back({start, start + plt_entry_bytes, name + "@plt"});
  }
  return symbols;
}

std::vector<Symbol> merged(std::vector<Symbol> symbols, std::vector<Symbol> more) {
  std::vector<Symbol> all;
  std::ranges::merge(symbols, more, std::back_inserter(all), {}, &Symbol::start, &Symbol::start);
  const auto same = [](const Symbol& a, const Symbol& b) { return a.start == b.start; };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  settle_ends(all);
  return all;
}

}  // namespace pmusim::symbols
