// SPDX-License-Identifier: MIT
#include "pmu/guest_memory.h"

#include <algorithm>
#include <cstring>

#include "interface.h"
#include "pmusim/arch/debug_store.h"
#include "pmusim/arch/msr.h"

namespace pmusim::machine {
namespace {

constexpr u64 page_bytes = 4096;
constexpr u64 largest_buffer = u64{16}
                               << 20;  // what is longer is no buffer, but memory that is not set up yet

std::byte* page_at(unsigned cpu, u64 linear) {
  return reinterpret_cast<std::byte*>(cpu_linear_page(cpu, linear));
}

}  // namespace

GuestMemory::GuestMemory(unsigned cpu, Pmu& pmu) : cpu_(cpu), pmu_(pmu) {
  u64 address = 0, bytes = 0;
  for (unsigned n = 0;; ++n) {
    auto* const piece = reinterpret_cast<std::byte*>(cpu_physical_memory_piece(n, &address, &bytes));
    if (piece == nullptr) break;
    static_cast<void>(pmu.map_memory(address, std::span(piece, bytes), AddressSpace::physical));
  }
}

std::optional<u64> GuestMemory::word(u64 linear) const {
  const u64 offset = linear % page_bytes;
  const std::byte* const page = page_at(cpu_, linear);
  if (page == nullptr || offset > page_bytes - sizeof(u64)) return std::nullopt;
  u64 value = 0;
  std::memcpy(&value, page + offset, sizeof value);
  return value;
}

void GuestMemory::add_pieces(std::vector<Piece>& pieces, u64 from, u64 to) const {
  for (u64 page = from & ~(page_bytes - 1); page < to; page += page_bytes) {
    std::byte* const bytes = page_at(cpu_, page);
    const auto holds = [&](const Piece& piece) { return page - piece.linear < piece.bytes.size(); };
    if (bytes == nullptr || std::any_of(pieces.begin(), pieces.end(), holds)) continue;
    if (!pieces.empty() && pieces.back().linear + pieces.back().bytes.size() == page &&
        pieces.back().bytes.data() + pieces.back().bytes.size() == bytes)
      pieces.back().bytes = std::span(pieces.back().bytes.data(), pieces.back().bytes.size() + page_bytes);
    else
      pieces.push_back({page, std::span(bytes, page_bytes)});
  }
}

void GuestMemory::refresh() {
  stale_ = false;
  std::vector<Piece> pieces;
  const u64 area = pmu_.rdmsr(msr::DS_AREA).value_or(0);
  if (area != 0) {
    add_pieces(pieces, area, area + ds_area_bytes(5));
    for (const u64 fields : {offsetof(DsArea64, bts_base), offsetof(DsArea64, pebs_base)}) {
      const u64 first = word(area + fields).value_or(0), behind = word(area + fields + 16).value_or(0);
      if (first != 0 && behind > first && behind - first <= largest_buffer) add_pieces(pieces, first, behind);
    }
  }
  const bool same = std::equal(
      pieces.begin(), pieces.end(), pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) {
        return a.linear == b.linear && a.bytes.data() == b.bytes.data() && a.bytes.size() == b.bytes.size();
      });
  if (same) return;
  for (const Piece& piece : pieces_) pmu_.unmap_memory(piece.linear, AddressSpace::linear);
  for (const Piece& piece : pieces)
    static_cast<void>(pmu_.map_memory(piece.linear, piece.bytes, AddressSpace::linear));
  pieces_ = std::move(pieces);
}

}  // namespace pmusim::machine
