// SPDX-License-Identifier: MIT
#include "host/difference.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "glue/interface.h"

namespace pmusim::linux_driver {

namespace {

bool matches(const std::string& pattern, const std::string& name) {
  return fnmatch(pattern.c_str(), name.c_str(), FNM_EXTMATCH) == 0;
}

bool names_bits(const KnownDifference& known) { return known.kind == "write" || known.kind == "sample"; }

/// "MODELS SETUPS KIND [ADDRESS BITS]: REASON"
std::optional<KnownDifference> parse(const std::string& line) {
  const std::size_t colon = line.find(": ");
  if (colon == std::string::npos) return std::nullopt;
  std::istringstream words(line.substr(0, colon));
  KnownDifference known{.reason = line.substr(colon + 2)};
  if (!(words >> known.models >> known.setups >> known.kind)) return std::nullopt;
  if (names_bits(known) && !(words >> std::hex >> known.address >> known.bits)) return std::nullopt;
  std::string more;
  return words >> more ? std::nullopt : std::optional(known);
}

u64 compared(const Write& write, const std::vector<KnownDifference>& known) {
  u64 value = write.value;
  for (const KnownDifference& k : known)
    if (k.kind == "write" && k.address == write.address) value &= ~k.bits;
  return value;
}

/// A register of which no bit matters is not compared at all.
std::vector<Write> compared(const std::vector<Write>& writes, const std::vector<KnownDifference>& known) {
  std::vector<Write> kept;
  for (const Write& write : writes)
    if (std::none_of(known.begin(), known.end(), [&](const KnownDifference& k) {
          return k.kind == "write" && k.address == write.address && k.bits == ~u64{0};
        }))
      kept.push_back(write);
  return kept;
}

std::string event_text(const std::vector<Write>& writes, std::size_t n) {
  if (n >= writes.size()) return "nothing more";
  const Write& write = writes[n];
  const std::string where = write.cpu != 0 ? fmt::format(" of CPU {}", write.cpu) : "";
  return fmt::format("wrmsr {:x} = {:x} in cycle {}{}", write.address, write.value, write.cycle, where);
}

/// The first write that differs, if one does.
std::optional<std::size_t> first_difference(const std::vector<Write>& theirs, const std::vector<Write>& ours,
                                            const std::vector<KnownDifference>& known) {
  const std::size_t most = std::max(theirs.size(), ours.size());
  for (std::size_t n = 0; n < most; ++n) {
    const bool both = n < theirs.size() && n < ours.size();
    if (both && theirs[n].address == ours[n].address && theirs[n].cycle == ours[n].cycle &&
        theirs[n].cpu == ours[n].cpu && compared(theirs[n], known) == compared(ours[n], known))
      continue;
    return n;
  }
  return std::nullopt;
}

std::optional<std::string> difference_of_writes(const Outcome& kernel, const Outcome& session,
                                                const std::vector<KnownDifference>& known) {
  const std::vector<Write> theirs = compared(kernel.writes, known), ours = compared(session.writes, known);
  const auto n = first_difference(theirs, ours, known);
  if (!n) return std::nullopt;
  return fmt::format("write {}: the kernel {}, pmusim {}", *n, event_text(theirs, *n), event_text(ours, *n));
}

std::optional<std::string> difference_of_counts(const Outcome& kernel, const Outcome& session) {
  for (std::size_t n = 0; n < std::min(kernel.counts.size(), session.counts.size()); ++n) {
    const KernelCount &theirs = kernel.counts[n], &ours = session.counts[n];
    if (theirs == ours) continue;
    return fmt::format("event {}: the kernel {} in {} of {} ns, pmusim {} in {} of {} ns", n, theirs.counted,
                       theirs.running_ns, theirs.enabled_ns, ours.counted, ours.running_ns, ours.enabled_ns);
  }
  return std::nullopt;
}

struct RecordAt {
  perf::RecordHeader header{};
  std::span<const std::byte> bytes;
};

RecordAt record_at(std::span<const std::byte> all, std::size_t at) {
  RecordAt record;
  if (at + sizeof record.header > all.size()) return record;
  std::memcpy(&record.header, &all[at], sizeof record.header);
  record.bytes = all.subspan(at, std::min<std::size_t>(record.header.size, all.size() - at));
  return record;
}

std::string event_text(const RecordAt& record, std::size_t word) {
  if (record.bytes.empty()) return "none";
  u64 value = 0;
  if (word * 8 + 8 <= record.bytes.size()) std::memcpy(&value, &record.bytes[word * 8], 8);
  return fmt::format("type {} of {} bytes with {:#x}", static_cast<u32>(record.header.type),
                     record.bytes.size(), value);
}

u64 word_of(const RecordAt& record, std::size_t n) {
  u64 value = 0;
  std::memcpy(&value, &record.bytes[n * 8], 8);
  return value;
}

bool is_sample(const RecordAt& record) {
  return !record.bytes.empty() &&
         static_cast<perf::RecordType>(record.header.type) == perf::RecordType::sample;
}

/// "record 9 word 1", or "record 9 (sample 2) word 1" where both have a sample there.
std::string place_of(unsigned record, unsigned samples, bool of_sample, std::size_t word) {
  return of_sample ? fmt::format("record {} (sample {}) word {}", record, samples, word)
                   : fmt::format("record {} word {}", record, word);
}

/// Bits of a sample's word that do not matter.
u64 ignored(const RecordAt& record, std::size_t n, const std::vector<KnownDifference>& known) {
  if (!is_sample(record)) return 0;
  u64 bits = 0;
  for (const KnownDifference& k : known)
    if (k.kind == "sample" && k.address == n) bits |= k.bits;
  return bits;
}

/// Where records differ.
struct RecordDifference {
  unsigned number = 0, samples = 0;
  bool sampled = false;
  std::size_t word = 0;
  RecordAt theirs, ours;
};

std::optional<RecordDifference> different_record(const Outcome& kernel, const Outcome& session,
                                                 const std::vector<KnownDifference>& known) {
  std::size_t at = 0;
  unsigned samples = 0;
  for (unsigned number = 0;; ++number) {
    const RecordAt theirs = record_at(kernel.records, at), ours = record_at(session.records, at);
    if (theirs.bytes.empty() && ours.bytes.empty()) return std::nullopt;
    const bool sampled = is_sample(theirs) && is_sample(ours);
    if (sampled) ++samples;
    const std::size_t both = std::min(theirs.bytes.size(), ours.bytes.size()) / 8;
    std::size_t same = 0;
    while (same < both &&
           ((word_of(theirs, same) ^ word_of(ours, same)) & ~ignored(theirs, same, known)) == 0)
      ++same;
    if (same < both || theirs.bytes.size() != ours.bytes.size())
      return RecordDifference{number, samples, sampled, same, theirs, ours};
    at += theirs.bytes.size();
  }
}

std::optional<std::string> difference_of_records(const Outcome& kernel, const Outcome& session,
                                                 const std::vector<KnownDifference>& known) {
  const auto d = different_record(kernel, session, known);
  if (!d) return std::nullopt;
  return fmt::format("{}: the kernel {}, pmusim {}", place_of(d->number, d->samples, d->sampled, d->word),
                     event_text(d->theirs, d->word), event_text(d->ours, d->word));
}

std::optional<std::string> difference_of_refusals(const Outcome& kernel, const Outcome& session) {
  if (kernel.refusal.has_value() == session.refusal.has_value()) return std::nullopt;
  return fmt::format("the kernel says {}; pmusim: {}", kernel.refusal.value_or("yes"),
                     session.refusal.value_or("yes"));
}

std::string reason_of(const std::string& kind, const std::vector<KnownDifference>& known) {
  const auto found = std::find_if(known.begin(), known.end(), [&](const auto& k) { return k.kind == kind; });
  return found == known.end() ? std::string() : found->reason;
}

}  // namespace

std::string list_of_known_differences() {
  unsigned release = linux_release();
  std::string path;
  do path = fmt::format("{}-{}.{}.txt", PMUSIM_LINUX_KNOWN_DIFFERENCES, release >> 8, release & 0xFF);
  while (!std::filesystem::exists(path) && (--release & 0xFF) != 0);
  return path;
}

Result<std::vector<KnownDifference>, Error> read_known_differences(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Failure(Error(fmt::format("{}: cannot be read", path)));
  std::vector<KnownDifference> all;
  unsigned number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    auto known = parse(line);
    if (!known)
      return Failure(
          Error(fmt::format("{}:{}: no known difference; expected 'MODELS SETUPS KIND: REASON', 'MODELS "
                            "SETUPS write ADDRESS BITS: REASON' or '... sample WORD BITS: REASON'",
                            path, number)));
    all.push_back(std::move(*known));
  }
  return all;
}

std::vector<KnownDifference> known_for(const std::vector<KnownDifference>& all, const std::string& model,
                                       const std::string& setup) {
  std::vector<KnownDifference> here;
  for (const KnownDifference& known : all)
    if (matches(known.models, model) && matches(known.setups, setup)) here.push_back(known);
  return here;
}

std::vector<Difference> differences(const Outcome& kernel, const Outcome& session,
                                    const std::vector<KnownDifference>& known) {
  std::vector<Difference> found;
  const auto add = [&](const char* kind, const std::optional<std::string>& text) {
    if (text) found.push_back({.kind = kind, .text = *text, .reason = reason_of(kind, known)});
  };
  if (!kernel.warnings.empty()) add("warning", kernel.warnings.front());
  add("refusal", difference_of_refusals(kernel, session));
  if (kernel.refusal || session.refusal) return found;
  add("counts", difference_of_counts(kernel, session));
  add("records", difference_of_records(kernel, session, known));
  add("writes", difference_of_writes(kernel, session, known));
  return found;
}

std::string records_at_difference(const Outcome& kernel, const Outcome& session,
                                  const std::vector<KnownDifference>& known) {
  const auto d = different_record(kernel, session, known);
  if (!d) return {};
  const auto word = [](const RecordAt& record, std::size_t n) {
    return n * 8 + 8 <= record.bytes.size() ? fmt::format("{:016x}", word_of(record, n)) : std::string();
  };
  std::string lines;
  for (std::size_t n = 0; n * 8 < std::max(d->theirs.bytes.size(), d->ours.bytes.size()); ++n)
    lines += fmt::format("{:>6}  {:<20}{}\n", n, word(d->theirs, n), word(d->ours, n));
  return lines;
}

std::string writes_around_difference(const Outcome& kernel, const Outcome& session,
                                     const std::vector<KnownDifference>& known, std::size_t context) {
  const std::vector<Write> theirs = compared(kernel.writes, known), ours = compared(session.writes, known);
  const auto first = first_difference(theirs, ours, known);
  if (!first) return {};
  std::string lines;
  for (std::size_t n = *first - std::min(*first, context); n <= *first + context; ++n)
    lines += fmt::format("{:>6}  {:<60}{}\n", n, event_text(theirs, n), event_text(ours, n));
  return lines;
}

}  // namespace pmusim::linux_driver
