// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "annotate/resolver.h"
#include "base/base_name.h"
#include "base/printable.h"
#include "why/memory.h"

namespace pmusim::why {

namespace {

using MemoryJson = nlohmann::ordered_json;
using Row = MemoryReport::Row;

constexpr std::size_t most_memory_rows = 20;

/// "asked for in parse (reader.c:12)".
std::string asked_for_in(const Row& row) {
  return row.line == 0 ? fmt::format("asked for in {} ({})", row.name, base_name(row.module))
                       : fmt::format("asked for in {} ({}:{})", row.name, base_name(row.file), row.line);
}

class MemoryReporter {
 public:
  MemoryReporter(const MemoryCollection& collection, const annotate::Options& options)
      : collection_(collection), resolver_(collection.spaces, options) {}

  MemoryReport report() {
    for (const AccessingInstruction& each : collection_.instructions) add(each);
    for (std::size_t n = 0; n < collection_.objects.size(); ++n) add_object(n);
    for (const SharedLine& line : collection_.shared) add(line);
    for (std::vector<Row>* const rows : {&report_.functions, &report_.lines, &report_.objects})
      std::ranges::stable_sort(*rows, [](const Row& a, const Row& b) {
        return std::tuple(b.counts.load_cycles, b.counts.stores) <
               std::tuple(a.counts.load_cycles, a.counts.stores);
      });
    if (!collection_.addresses)
      report_.notes.emplace_back(
          "the trace holds no data addresses: every load is taken for a hit, and objects are not known");
    if (!collection_.shared.empty())
      report_.notes.emplace_back(
          "threads take turns on one CPU here: what it would cost to hand lines from one CPU to another is "
          "in no "
          "figure");
    return std::move(report_);
  }

 private:
  annotate::Location locate(symbols::AddressSpaces::Id space, u64 ip) {
    return resolver_.locate({space, perf::CpuMode::user}, ip);
  }

  Row at(const annotate::Location& place, bool with_line) {
    Row row;
    row.name = resolver_.symbols()[resolver_.symbol_at(place)].name;
    row.module = resolver_.modules()[place.module].path;
    if (const auto position = resolver_.modules()[place.module].content.position(place.address);
        position && with_line) {
      row.file = position->file;
      row.line = position->line;
    }
    return row;
  }

  void add(const AccessingInstruction& each) {
    const annotate::Location place = locate(each.space, each.ip);
    add(report_.functions, functions_, at(place, false), each);
    add(report_.lines, lines_, at(place, true), each);
  }

  using Index = std::map<std::tuple<std::string, std::string, std::string, u32>, std::size_t>;
  static void add(std::vector<Row>& rows, Index& index, Row row, const AccessingInstruction& each) {
    const auto [known, is_new] = index.try_emplace({row.module, row.name, row.file, row.line}, rows.size());
    if (is_new) rows.push_back(std::move(row));
    Row& sum = rows[known->second];
    sum.counts += each.counts;
    if (each.stride.accesses > sum.stride.accesses) sum.stride = each.stride;
  }

  void add_object(std::size_t number) {
    const AccessCounts& counts = collection_.object_counts[number];
    if (counts.loads() + counts.stores == 0) return;
    const DataObject& object = collection_.objects[number];
    Row row{.name = object.name, .module = object.module, .file = {}, .counts = {}, .stride = {}};
    if (object.blocks != 0) row = at(locate(object.space, object.site - 1), true);
    row.kind = object.kind;
    row.bytes = object.bytes;
    row.blocks = object.blocks;
    row.counts = counts;
    report_.objects.push_back(std::move(row));
  }

  void add(const SharedLine& line) {
    const DataObject& object = collection_.objects[line.object];
    MemoryReport::Sharing sharing{.address = line.address,
                                  .object = name_of_shared(object),
                                  .falsely = line.is_shared_falsely(),
                                  .users = line.users,
                                  .places = {},
                                  .sentence = {}};
    for (const SharedLine::User& user : line.users) {
      const Row place = at(locate(line.space, user.ip), true);
      sharing.places.push_back(place.line == 0 ? place.name
                                               : fmt::format("{}:{}", base_name(place.file), place.line));
    }
    sharing.sentence = fmt::format(
        "{} threads use the line of memory at {:x} ({}) with {} accesses, most at {}, {}", line.users.size(),
        line.address, sharing.object, line.accesses(),
        sharing.places[static_cast<std::size_t>(
            std::ranges::max_element(line.users, {}, &SharedLine::User::accesses) - line.users.begin())],
        sharing.falsely ? "and one writes bytes that another does not use: false sharing between CPUs"
                        : "and one writes bytes that the others use");
    report_.sharing.push_back(std::move(sharing));
  }

  std::string name_of_shared(const DataObject& object) {
    if (object.blocks != 0) return "heap, " + asked_for_in(at(locate(object.space, object.site - 1), true));
    return object.name.empty() ? std::string(name_of(object.kind)) : object.name;
  }

  const MemoryCollection& collection_;
  annotate::Resolver resolver_;
  MemoryReport report_;
  Index functions_, lines_;
};

double share_of(u64 part, u64 whole) { return 100 * ratio(part, whole); }

/// Accesses that a cache of so many lines hits.
u64 hits_of(const Reuse& reuse, u64 lines) {
  u64 hits = 0;
  for (const Distribution::Bucket& bucket : reuse.distances().buckets())
    if (bucket.last < lines) hits += bucket.count;
  return hits;
}

/// Sizes of caches in lines: powers of two up to one that holds everything.
std::vector<u64> cache_sizes(const Reuse& reuse) {
  std::vector<u64> sizes;
  for (u64 lines = 16; reuse.lines() != 0 && lines < 2 * std::bit_ceil(reuse.lines()); lines *= 2)
    sizes.push_back(lines);
  return sizes;
}

std::string size_of(u64 bytes) {
  const char* unit = "BkMGT";
  for (; bytes >= 1024 && bytes % 1024 == 0; bytes /= 1024) ++unit;
  return *unit == 'B' ? fmt::format("{} B", bytes)
                      : fmt::format("{} {}iB", bytes, *unit == 'k' ? 'K' : *unit);
}

std::string name_of_object(const Row& row) {
  switch (row.kind) {
    case DataKind::global:
      return fmt::format("{} ({}, {} bytes)", row.name, base_name(row.module), row.bytes);
    case DataKind::file:
      return fmt::format("rest of the data of {}", base_name(row.name));
    case DataKind::heap:
      return row.blocks == 0 ? "heap"
                             : fmt::format("heap: {} block{} of {} bytes in all, {}", row.blocks,
                                           row.blocks == 1 ? "" : "s", row.bytes, asked_for_in(row));
    case DataKind::stack:
    case DataKind::other:
      break;
  }
  return row.kind == DataKind::other ? "other memory" : std::string(name_of(row.kind));
}

std::string spoken_stride(const Stride& stride) {
  if (stride.accesses == 0 || 2 * stride.same < stride.accesses) return "-";
  return fmt::format("{} ({:.0f}%)", stride.bytes, share_of(stride.same, stride.accesses));
}

class MemoryPrinter {
 public:
  MemoryPrinter(const MemoryCollection& collection, const MemoryReport& report)
      : collection_(collection), report_(report) {}

  std::string print() {
    const AccessCounts& total = collection_.total;
    text_ = fmt::format("{} on {}: {} loads, {} stores, {} cycles from dispatch of loads to their data\n",
                        printable(report_.title), report_.setting.text(), total.loads(), total.stores,
                        total.load_cycles);
    print_sources();
    print_rows("Functions", "Function", report_.functions,
               [](const Row& row) { return fmt::format("{} ({})", row.name, base_name(row.module)); });
    print_rows("Lines", "Line", report_.lines, [](const Row& row) {
      if (row.line == 0) return row.name;
      return fmt::format("{}:{} in {}", base_name(row.file), row.line, row.name);
    });
    print_rows("Data", "Object", report_.objects, name_of_object);
    print_sharing();
    print_reuse();
    return std::move(text_);
  }

 private:
  void print_sources() {
    text_ += fmt::format(
        "\nWhere loads had their data from, and cycles to it\n {:>6} {:>12} {:>6} {:>6} {:>6} {:>6}  "
        "Source\n",
        "Share", "Loads", "Mean", "Median", "p90", "Max");
    for (std::size_t n = 0; n < data_sources; ++n) {
      const Distribution& latency = collection_.latency[n];
      if (latency.count() == 0) continue;
      text_ += fmt::format(" {:>5.1f}% {:>12} {:>6.1f} {:>6} {:>6} {:>6}  {}\n",
                           share_of(latency.count(), collection_.total.loads()), latency.count(),
                           ratio(latency.sum(), latency.count()), latency.percentile(50),
                           latency.percentile(90), latency.max(), name_of(static_cast<CacheLevel>(n)));
    }
    print_histogram();
  }

  /// By powers of two.
  void print_histogram() {
    std::map<unsigned, u64> counts;
    for (const Distribution& latency : collection_.latency)
      for (const auto& bucket : latency.buckets())
        counts[static_cast<unsigned>(std::bit_width(bucket.first))] += bucket.count;
    if (counts.empty()) return;
    text_ += "\nCycles of loads\n";
    for (const auto& [width, loads] : counts) {
      const double share = share_of(loads, collection_.total.loads());
      text_ += fmt::format(" {:>5} to {:>5} {:>6.2f}% {}\n", width == 0 ? 0 : u64{1} << (width - 1),
                           (u64{1} << width) - 1, share,
                           std::string(static_cast<std::size_t>(share / 2 + 0.5), '#'));
    }
  }

  template <class Name>
  void print_rows(const char* title, const char* name, const std::vector<Row>& rows, Name name_of_row) {
    text_ += fmt::format("\n{}\n {:>6} {:>11} {:>11} {:>7} {:>10} {:>10} {:>10} {:>9}  {:<14}  {}\n", title,
                         "Share", "Loads", "Stores", "Cyc/ld", "L1miss", "L2miss", "L3miss", "Walks",
                         "Stride", name);
    for (const Row& row : std::span(rows).first(std::min(rows.size(), most_memory_rows))) {
      const AccessCounts& c = row.counts;
      const auto& from = c.loads_from;
      text_ += fmt::format(" {:>5.1f}% {:>11} {:>11} {:>7.1f} {:>10} {:>10} {:>10} {:>9}  {:<14}  {}\n",
                           share_of(c.load_cycles, collection_.total.load_cycles), c.loads(), c.stores,
                           ratio(c.load_cycles, c.loads()), from[1] + from[2] + from[3] + from[4],
                           from[3] + from[4], from[4], c.walks, spoken_stride(row.stride),
                           printable(name_of_row(row)));
    }
    if (rows.size() > most_memory_rows)
      text_ += fmt::format(" and {} more, all of them with --json\n", rows.size() - most_memory_rows);
  }

  void print_sharing() {
    if (report_.sharing.empty()) return;
    text_ += "\nLines of memory that threads share\n";
    for (std::size_t n = 0; n < std::min(report_.sharing.size(), most_memory_rows); ++n)
      text_ += fmt::format("{:3}. {}\n", n + 1, printable(report_.sharing[n].sentence));
    if (report_.sharing.size() > most_memory_rows)
      text_ +=
          fmt::format(" and {} more, all of them with --json\n", report_.sharing.size() - most_memory_rows);
  }

  void print_reuse() {
    const Reuse& reuse = collection_.reuse;
    text_ += fmt::format("\nWorking set: {} lines of {} bytes ({:.1f} KiB)", reuse.lines(), line_bytes,
                         static_cast<double>(reuse.lines() * line_bytes) / 1024);
    text_ += fmt::format("; in a million instructions {} at the median, {} at most\n",
                         reuse.stretches().percentile(50), reuse.stretches().max());
    text_ += "Accesses that a cache of a size would hit (fully associative, least recently used first)\n";
    for (const u64 lines : cache_sizes(reuse))
      text_ += fmt::format(" {:>8} {:>6.2f}%\n", size_of(lines * line_bytes),
                           share_of(hits_of(reuse, lines), reuse.accesses()));
  }

  const MemoryCollection& collection_;
  const MemoryReport& report_;
  std::string text_;
};

MemoryJson json_of_accesses(const AccessCounts& c) {
  MemoryJson from;
  for (std::size_t n = 0; n < data_sources; ++n)
    from[std::string(name_of(static_cast<CacheLevel>(n)))] = c.loads_from[n];
  return {{"loads", c.loads()}, {"loads_from", std::move(from)}, {"load_cycles", c.load_cycles},
          {"stores", c.stores}, {"tlb_misses", c.tlb_misses},    {"page_walks", c.walks}};
}

/// A block of the heap has the place that asked for it.
MemoryJson json_of_object(const Row& row) {
  MemoryJson json{{"kind", name_of(row.kind)},
                  {"name", row.blocks == 0 ? row.name : ""},
                  {"module", row.module},
                  {"bytes", row.bytes},
                  {"accesses", json_of_accesses(row.counts)}};
  if (row.blocks != 0) {
    json["blocks"] = row.blocks;
    json["asked_for_in"] = {{"function", row.name},
                            {"file", row.line == 0 ? MemoryJson(nullptr) : MemoryJson(row.file)},
                            {"line", row.line}};
  }
  return json;
}

MemoryJson json_of_stride(const Stride& stride) {
  return {{"bytes", stride.bytes}, {"same", stride.same}, {"accesses", stride.accesses}};
}

MemoryJson json_of_buckets(const Distribution& distribution) {
  MemoryJson all = MemoryJson::array();
  for (const auto& bucket : distribution.buckets())
    all.push_back({{"from", bucket.first}, {"to", bucket.last}, {"count", bucket.count}});
  return all;
}

MemoryJson json_of_sharing(const MemoryReport::Sharing& sharing) {
  MemoryJson users = MemoryJson::array();
  for (std::size_t n = 0; n < sharing.users.size(); ++n) {
    const SharedLine::User& user = sharing.users[n];
    users.push_back({{"tid", user.tid},
                     {"accesses", user.accesses},
                     {"read_bytes", fmt::format("{:016x}", user.read_bytes)},
                     {"written_bytes", fmt::format("{:016x}", user.written_bytes)},
                     {"place", sharing.places[n]}});
  }
  return {{"address", sharing.address},
          {"object", sharing.object},
          {"false_sharing", sharing.falsely},
          {"users", std::move(users)},
          {"sentence", sharing.sentence}};
}

MemoryJson json_of_working_set(const Reuse& reuse) {
  MemoryJson hits = MemoryJson::array();
  for (const u64 lines : cache_sizes(reuse))
    hits.push_back({{"bytes", lines * line_bytes}, {"hits", hits_of(reuse, lines)}});
  return {{"line_bytes", line_bytes},
          {"lines", reuse.lines()},
          {"accesses", reuse.accesses()},
          {"stretch_instructions", stretch_instructions},
          {"lines_of_stretches", json_of_buckets(reuse.stretches())},
          {"reuse_distances", json_of_buckets(reuse.distances())},
          {"hits_by_cache_size", std::move(hits)}};
}

}  // namespace

MemoryReport make_memory_report(const MemoryCollection& collection, const annotate::Options& options) {
  return MemoryReporter(collection, options).report();
}

std::string memory_text_of(const MemoryCollection& collection, const MemoryReport& report) {
  return MemoryPrinter(collection, report).print();
}

std::string memory_json_of(const MemoryCollection& collection, const MemoryReport& report) {
  MemoryJson json{{"trace", report.title},
                  {"model", report.setting.model},
                  {"notes", report.notes},
                  {"instructions", collection.instructions_retired},
                  {"total", json_of_accesses(collection.total)},
                  {"latency", MemoryJson::object()},
                  {"functions", MemoryJson::array()},
                  {"lines", MemoryJson::array()},
                  {"objects", MemoryJson::array()},
                  {"sharing", MemoryJson::array()},
                  {"working_set", json_of_working_set(collection.reuse)}};
  report.setting.add_to(json);
  for (std::size_t n = 0; n < data_sources; ++n)
    json["latency"][std::string(name_of(static_cast<CacheLevel>(n)))] =
        json_of_buckets(collection.latency[n]);
  for (const Row& row : report.functions)
    json["functions"].push_back({{"function", row.name},
                                 {"module", row.module},
                                 {"accesses", json_of_accesses(row.counts)},
                                 {"stride", json_of_stride(row.stride)}});
  for (const Row& row : report.lines)
    json["lines"].push_back({{"file", row.line == 0 ? MemoryJson(nullptr) : MemoryJson(row.file)},
                             {"line", row.line},
                             {"function", row.name},
                             {"accesses", json_of_accesses(row.counts)},
                             {"stride", json_of_stride(row.stride)}});
  for (const Row& row : report.objects) json["objects"].push_back(json_of_object(row));
  for (const MemoryReport::Sharing& sharing : report.sharing)
    json["sharing"].push_back(json_of_sharing(sharing));
  return json.dump(1, ' ', false, MemoryJson::error_handler_t::replace);
}

}  // namespace pmusim::why
