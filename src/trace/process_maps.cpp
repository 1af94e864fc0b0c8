// SPDX-License-Identifier: MIT
#include "trace/process_maps.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace pmusim::trace {
namespace {

// Takes the characters up to `separator` (and the separator) off the front of `text`.
std::string_view take(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

std::optional<u64> hexadecimal(std::string_view word) {
  u64 value = 0;
  const char* const end = word.data() + word.size();
  const auto [read_to, error] = std::from_chars(word.data(), end, value, 16);
  return error == std::errc() && read_to == end ? std::optional(value) : std::nullopt;
}

u32 protection_of(std::string_view letters) {
  u32 protection = 0;
  if (letters[0] == 'r') protection |= PROT_READ;
  if (letters[1] == 'w') protection |= PROT_WRITE;
  if (letters[2] == 'x') protection |= PROT_EXEC;
  return protection;
}

// start-end perms offset dev inode   path
std::optional<Mapping> parse_line(std::string_view line) {
  const auto start = hexadecimal(take(line, '-')), end = hexadecimal(take(line, ' '));
  const std::string_view permissions = take(line, ' ');
  if (!start || !end || *end <= *start || permissions.size() != 4) return std::nullopt;
  Mapping m;
  m.start = *start;
  m.bytes = *end - *start;
  m.protection = protection_of(permissions);
  m.flags = permissions.ends_with('s') ? MAP_SHARED : MAP_PRIVATE;
  m.file_offset = hexadecimal(take(line, ' ')).value_or(0);
  take(line, ' ');  // device
  take(line, ' ');  // inode
  const std::size_t path = line.find_first_not_of(' ');
  if (path != std::string_view::npos) m.path = line.substr(path);
  return m;
}

std::vector<Mapping> difference(const std::vector<Mapping>& from, const std::vector<Mapping>& without) {
  std::vector<Mapping> result;
  std::ranges::copy_if(from, std::back_inserter(result), [&](const Mapping& m) {
    const auto same_place = std::ranges::lower_bound(without, m.start, {}, &Mapping::start);
    if (same_place == without.end()) return true;
    Mapping other = *same_place;  // build ids are found only for new mappings
    other.build_id = m.build_id;
    return other != m;
  });
  return result;
}

bool has_code(const std::vector<Mapping>& mappings) {
  return std::ranges::any_of(mappings, [](const Mapping& m) { return (m.protection & PROT_EXEC) != 0; });
}

}  // namespace

bool changes_maps(u64 call) {
  switch (call) {
    case SYS_mmap:
    case SYS_mprotect:
    case SYS_munmap:
    case SYS_brk:
    case SYS_mremap:
    case SYS_shmat:
    case SYS_shmdt:
    case SYS_remap_file_pages:
    case SYS_pkey_mprotect:
      return true;
    default:
      return false;
  }
}

std::vector<Mapping> parse_maps(std::string_view text) {
  std::vector<Mapping> result;
  while (!text.empty()) {
    std::optional<Mapping> m = parse_line(take(text, '\n'));
    if (!m) continue;
    const bool executable = (m->protection & PROT_EXEC) != 0;
    if (m->path.empty() && executable) m->path = "//anon";
    if (!m->path.empty()) result.push_back(std::move(*m));
  }
  return result;
}

bool MapChanges::code_changed() const { return has_code(removed) || has_code(added); }

MapChanges compare_maps(const std::vector<Mapping>& before, const std::vector<Mapping>& after) {
  return {difference(before, after), difference(after, before)};
}

}  // namespace pmusim::trace
