// SPDX-License-Identifier: MIT
#include <array>
#include <span>

#include "script_text.h"

/// PERF_SAMPLE_DATA_SRC in words, as perf script 6.1 puts it; the bits are those of perf_mem_data_src.
namespace pmusim::tools {

namespace {

using Names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 12> levels = {"L1",
                                                     "LFB/MAB",
                                                     "L2",
                                                     "L3",
                                                     "Local RAM",
                                                     "Remote RAM (1 hop)",
                                                     "Remote RAM (2 hops)",
                                                     "Remote Cache (1 hop)",
                                                     "Remote Cache (2 hops)",
                                                     "I/O",
                                                     "Uncached",
                                                     ""};
constexpr std::array<std::string_view, 16> level_numbers = {
    "",   "L1",  "L2",  "L3",        "L4",      "L5",  "L6",   "L7",
    "L8", "CXL", "I/O", "Any cache", "LFB/MAB", "RAM", "PMEM", "N/A"};
constexpr std::array<std::string_view, 8> hops = {
    "",       "core, same node ", "node, same socket ", "socket, same board ",
    "board ", "reserved ",        "reserved ",          "reserved "};
constexpr std::array<std::string_view, 7> snoops = {"N/A", "None", "Hit", "Miss", "HitM", "Fwd", "Peer"};
constexpr std::array<std::string_view, 4> tlbs = {"L1", "L2", "Walker", "Fault"};

void add(std::string& list, std::string_view name) {
  if (!list.empty()) list += " or ";
  list += name;
}

std::string names_of(u64 mask, Names names) {
  std::string list;
  for (const unsigned n : set_bits(mask & low_bits(static_cast<unsigned>(names.size())))) add(list, names[n]);
  return list;
}

/// Behind what it is about: what a field with "hit" and "miss" bits says.
std::string with_outcome(std::string text, u64 hit_and_miss) {
  if (text.empty()) text = "N/A";
  if ((hit_and_miss & 1) != 0) text += " hit";
  if ((hit_and_miss & 2) != 0) text += " miss";
  return text;
}

std::string_view operation(u64 source) {
  constexpr std::array<std::string_view, 5> names = {"N/A", "LOAD", "STORE", "PFETCH", "EXEC"};
  for (unsigned n = 0; n < names.size(); ++n)
    if ((source & bit(n)) != 0) return names[n];
  return "No";
}

std::string level(u64 source) {
  std::string place = (source & bit(37)) != 0 ? "Remote " : "";
  const u64 hop = field(source, 45, 43);
  place += hops[hop];
  std::string list;
  if (hop == 0) {
    if ((source & bit(5)) != 0) add(list, "N/A");
    const std::string by_bit = names_of(field(source, 18, 8), levels);
    if (!by_bit.empty()) add(list, by_bit);
  }
  if (const u64 number = field(source, 36, 33); number != 0) add(list, level_numbers[number]);
  return with_outcome(place + list, field(source, 7, 6));
}

std::string tlb(u64 source) {
  std::string list = names_of(field(source, 32, 29), tlbs);
  if ((source & bit(26)) != 0) list = list.empty() ? "N/A" : "N/A or " + list;
  return with_outcome(std::move(list), field(source, 28, 27));
}

std::string snoop(u64 source) {
  const std::string list = names_of(field(source, 23, 19) | field(source, 39, 38) << 5, snoops);
  return list.empty() ? "N/A" : list;
}

std::string_view lock(u64 source) {
  if ((source & bit(24)) != 0) return "N/A";
  return (source & bit(25)) != 0 ? "Yes" : "No";
}

std::string block(u64 source) {
  if ((source & bit(40)) != 0 || (source & (bit(41) | bit(42))) == 0) return " N/A";
  return std::string((source & bit(41)) != 0 ? " Data" : "") + ((source & bit(42)) != 0 ? " Addr" : "");
}

}  // namespace

std::string data_source_text(u64 source) {
  return fmt::format("|OP {}|LVL {}|SNP {}|TLB {}|LCK {}|BLK {}", operation(source), level(source),
                     snoop(source), tlb(source), lock(source), block(source));
}

}  // namespace pmusim::tools
