// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_PERF_SAMPLE_PARSER_H
#define PMUSIM_TESTS_PERF_SAMPLE_PARSER_H

#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pmusim/perf/abi.h"

namespace pmusim::perf {

/// A sample read back the way a tool does it, written from <linux/perf_event.h>, PERF_RECORD_SAMPLE, alone:
/// field name to words (RAW and stack bytes as words too). Shares no code with the writer.
class SampleParser {
 public:
  using Fields = std::map<std::string, std::vector<u64>>;

  /// `counters`: some event of the group has branch counters. Nothing if the record is malformed.
  static std::optional<Fields> parse(const std::vector<std::byte>& record, const Attr& attr, bool counters) {
    SampleParser parser(record);
    parser.run(attr, counters);
    if (parser.broken_ || parser.at_ != record.size()) return std::nullopt;
    return parser.fields_;
  }

 private:
  explicit SampleParser(const std::vector<std::byte>& record) : record_(record) {}

  void run(const Attr& attr, bool counters) {
    const u64 header = word();
    if ((header & 0xffffffff) != 9 || header >> 48 != record_.size()) broken_ = true;
    fields_["misc"] = {header >> 32 & 0xffff};
    const auto has = [&](unsigned n) { return (attr.sample_type >> n & 1) != 0; };
    const auto one = [&](unsigned n, const char* name) {
      if (has(n)) fields_[name] = {word()};
    };
    one(16, "identifier");
    one(0, "ip");
    one(1, "tid");
    one(2, "time");
    one(3, "addr");
    one(6, "id");
    one(9, "stream_id");
    one(7, "cpu");
    one(8, "period");
    if (has(4)) read(attr.read_format);
    if (has(5)) fields_["callchain"] = words(word());
    if (has(10)) raw();
    if (has(11)) branches((attr.branch_sample_type >> 17 & 1) != 0, counters);
    if (has(12)) registers("regs_user", attr.sample_regs_user);
    if (has(13)) stack();
    if (has(14) || has(24)) fields_["weight"] = {word()};
    one(15, "data_src");
    one(17, "transaction");
    if (has(18)) registers("regs_intr", attr.sample_regs_intr);
    one(19, "phys_addr");
    one(21, "cgroup");
    one(22, "data_page_size");
    one(23, "code_page_size");
    if (has(20)) fields_["aux"] = words(word() / 8);
  }

  void read(u64 format) {
    u64 times = (format & 1) + (format >> 1 & 1), entry = 1 + (format >> 2 & 1) + (format >> 4 & 1);
    if (format & 8) {
      const u64 members = word();
      fields_["read"] = {members};
      append("read", words(times + members * entry));
    } else {
      fields_["read"] = words(times + entry);
    }
  }

  void raw() {
    u32 size = 0;
    if (at_ + 4 > record_.size()) {
      broken_ = true;
      return;
    }
    std::memcpy(&size, record_.data() + at_, 4);
    at_ += 4;
    if ((size + 4) % 8 != 0 || at_ + size > record_.size()) {
      broken_ = true;
      return;
    }
    fields_["raw"] = {size};
    for (u32 i = 0; i < size; ++i) fields_["raw"].push_back(static_cast<u64>(record_[at_ + i]));
    at_ += size;
  }

  void branches(bool hw_index, bool counters) {
    const u64 n = word();
    fields_["branches"] = {n};
    if (hw_index) fields_["hw_index"] = {word()};
    append("branches", words(3 * n));
    if (counters && n != 0) fields_["branch_counters"] = words(n);
  }

  void registers(const char* name, u64 mask) {
    const u64 abi = word();
    fields_[name] = {abi};
    u64 n = 0;
    for (unsigned i = 0; i < 64; ++i) n += mask >> i & 1;
    if (abi != 0) append(name, words(n));
  }

  void stack() {
    const u64 bytes = word();
    fields_["stack"] = {bytes};
    if (bytes == 0) return;
    append("stack", words(bytes / 8));
    fields_["dyn_size"] = {word()};
  }

  u64 word() {
    const auto one = words(1);
    return one.empty() ? 0 : one[0];
  }
  std::vector<u64> words(u64 n) {
    if (n > (record_.size() - at_) / 8) {
      broken_ = true;
      return {};
    }
    std::vector<u64> out(n);
    if (n != 0) std::memcpy(out.data(), record_.data() + at_, n * 8);
    at_ += n * 8;
    return out;
  }
  void append(const char* name, const std::vector<u64>& more) {
    fields_[name].insert(fields_[name].end(), more.begin(), more.end());
  }

  const std::vector<std::byte>& record_;
  std::size_t at_ = 0;
  bool broken_ = false;
  Fields fields_;
};

}  // namespace pmusim::perf

#endif
