// SPDX-License-Identifier: MIT
#include "qemu/guest_maps.h"

#include <gelf.h>
#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <set>

#include "base/input_file.h"
#include "trace/build_id.h"
#include "trace/process_maps.h"

namespace pmusim::qemu {
namespace {

using trace::Mapping;
using trace::SideBandRecord;

constexpr u64 page = 4096;
constexpr u64 page_down(u64 address) { return address / page * page; }
constexpr u64 page_up(u64 address) { return page_down(address + page - 1); }

std::vector<GElf_Phdr> loaded_segments(const std::string& path) {
  elf_version(EV_CURRENT);
  std::vector<GElf_Phdr> segments;
  const auto file = InputFile::open(path);
  if (!file.ok()) return segments;
  std::size_t count = 0;
  if (Elf* const elf = elf_begin(file->descriptor(), ELF_C_READ, nullptr)) {
    if (elf_getphdrnum(elf, &count) != 0) count = 0;
    GElf_Phdr segment{};
    for (std::size_t n = 0; n < count; ++n) {
      const bool read = gelf_getphdr(elf, static_cast<int>(n), &segment) != nullptr;
      if (read && segment.p_type == PT_LOAD) segments.push_back(segment);
    }
    elf_end(elf);
  }
  return segments;
}

u32 protection_of(const GElf_Phdr& segment) {
  u32 protection = 0;
  if ((segment.p_flags & PF_R) != 0) protection |= PROT_READ;
  if ((segment.p_flags & PF_W) != 0) protection |= PROT_WRITE;
  if ((segment.p_flags & PF_X) != 0) protection |= PROT_EXEC;
  return protection;
}

/// The segments of the file of which `lowest` is the first piece in memory.
std::vector<Mapping> pieces_of(const Mapping& lowest) {
  const auto segments = loaded_segments(lowest.path);
  const auto first = std::ranges::find(segments, lowest.file_offset,
                                       [](const GElf_Phdr& s) { return page_down(s.p_offset); });
  if (first == segments.end()) return {lowest};
  const u64 bias = lowest.start - page_down(first->p_vaddr);
  std::vector<Mapping> pieces;
  for (const GElf_Phdr& segment : segments) {
    Mapping piece = lowest;
    piece.start = bias + page_down(segment.p_vaddr);
    piece.bytes = bias + page_up(segment.p_vaddr + segment.p_filesz) - piece.start;
    piece.file_offset = page_down(segment.p_offset);
    piece.protection = protection_of(segment);
    if (piece.bytes != 0) pieces.push_back(std::move(piece));
  }
  return pieces;
}

/// The part of a mapping from `start`, `bytes` long.
Mapping part_of(const Mapping& mapping, u64 start, u64 bytes) {
  Mapping part = mapping;
  if (part.path.starts_with('/') && part.path != "//anon") part.file_offset += start - mapping.start;
  part.start = start;
  part.bytes = bytes;
  return part;
}

}  // namespace

std::vector<SideBandRecord> GuestMaps::start(u32 pid, std::string_view host_maps) {
  maps_.clear();
  std::vector<SideBandRecord> records;
  std::set<std::string> seen;
  for (const Mapping& lowest : trace::parse_maps(host_maps)) {
    if (!seen.insert(lowest.path).second) continue;
    for (const Mapping& piece : pieces_of(lowest)) add(pid, piece, records);
  }
  return records;
}

std::vector<SideBandRecord> GuestMaps::map(u32 pid, Mapping mapping) {
  std::vector<SideBandRecord> records;
  mapping.bytes = page_up(mapping.bytes);
  cut_out(pid, mapping.start, mapping.bytes, records);
  if (mapping.path.empty() && (mapping.protection & PROT_EXEC) != 0) mapping.path = "//anon";
  if (!mapping.path.empty()) add(pid, mapping, records);
  return records;
}

std::vector<SideBandRecord> GuestMaps::unmap(u32 pid, u64 start, u64 bytes) {
  std::vector<SideBandRecord> records;
  cut_out(pid, start, page_up(bytes), records);
  return records;
}

std::vector<SideBandRecord> GuestMaps::protect(u32 pid, u64 start, u64 bytes, u32 protection) {
  bytes = page_up(bytes);
  const bool known = std::ranges::any_of(maps_, [&](const Mapping& m) {
    return m.start < start + bytes && start < m.start + m.bytes && m.protection != protection;
  });
  std::vector<SideBandRecord> records;
  if (!known) {
    const bool fresh_code =
        (protection & PROT_EXEC) != 0 && std::ranges::none_of(maps_, [&](const Mapping& m) {
          return m.start < start + bytes && start < m.start + m.bytes;
        });
    if (fresh_code) add(pid, {start, bytes, 0, protection, MAP_PRIVATE, "//anon", {}}, records);
    return records;
  }
  for (Mapping& piece : cut_out(pid, start, bytes, records)) {
    piece.protection = protection;
    add(pid, piece, records);
  }
  return records;
}

// Takes a range out of the mappings; what was there.
std::vector<Mapping> GuestMaps::cut_out(u32 pid, u64 start, u64 bytes, std::vector<SideBandRecord>& records) {
  const u64 end = start + bytes;
  std::vector<Mapping> kept, out;
  for (const Mapping& m : maps_) {
    const u64 m_end = m.start + m.bytes, from = std::max(start, m.start), to = std::min(end, m_end);
    if (from >= to) {
      kept.push_back(m);
      continue;
    }
    out.push_back(part_of(m, from, to - from));
    if (m.start < from) kept.push_back(part_of(m, m.start, from - m.start));
    if (to < m_end) kept.push_back(part_of(m, to, m_end - to));
  }
  for (const Mapping& m : out) records.emplace_back(trace::Unmap{pid, m.start, m.bytes});
  maps_ = std::move(kept);
  return out;
}

void GuestMaps::add(u32 pid, const Mapping& mapping, std::vector<SideBandRecord>& records) {
  Mapping added = mapping;
  if (added.build_id.empty() && added.path.starts_with('/') && added.path != "//anon")
    added.build_id = trace::build_id_of_file(added.path);
  records.emplace_back(trace::Map{pid, added});
  maps_.push_back(std::move(added));
}

}  // namespace pmusim::qemu
