#include "function_range.h"

#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include <memory>

namespace pmusim {

namespace {

/// An ELF file for the time that somebody looks at it.
class ElfFile {
 public:
  explicit ElfFile(const std::string& path) : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    elf_version(EV_CURRENT);
    if (descriptor_ >= 0) elf_ = elf_begin(descriptor_, ELF_C_READ, nullptr);
  }
  ~ElfFile() {
    if (elf_ != nullptr) elf_end(elf_);
    if (descriptor_ >= 0) close(descriptor_);
  }
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  bool is_elf() const { return elf_ != nullptr && elf_kind(elf_) == ELF_K_ELF; }
  Elf* get() const { return elf_; }

 private:
  int descriptor_;
  Elf* elf_ = nullptr;
};

std::optional<GElf_Sym> find_function(Elf* elf, const std::string& name) {
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_SYMTAB || header.sh_entsize == 0)
      continue;
    Elf_Data* const data = elf_getdata(section, nullptr);
    const auto count = static_cast<int>(header.sh_size / header.sh_entsize);
    for (int i = 0; i < count; ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, i, &symbol) == nullptr || GELF_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
      const char* const text = elf_strptr(elf, header.sh_link, symbol.st_name);
      if (text != nullptr && name == text) return symbol;
    }
  }
  return std::nullopt;
}

/// What is added to the file's addresses in memory: the segment that the mapping shows says it.
u64 load_bias(Elf* elf, const trace::Mapping& mapping) {
  std::size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) return 0;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr || segment.p_type != PT_LOAD) continue;
    if (mapping.file_offset <= segment.p_offset && segment.p_offset < mapping.file_offset + mapping.bytes)
      return mapping.start - mapping.file_offset + segment.p_offset - segment.p_vaddr;
  }
  return 0;
}

}  // namespace

std::optional<AddressRange> function_range(const trace::Mapping& mapping, const std::string& name) {
  const ElfFile file(mapping.path);
  if (!file.is_elf()) return std::nullopt;
  const std::optional<GElf_Sym> symbol = find_function(file.get(), name);
  if (!symbol) return std::nullopt;
  const u64 first = symbol->st_value + load_bias(file.get(), mapping);
  return AddressRange{first, first + symbol->st_size};
}

}  // namespace pmusim
