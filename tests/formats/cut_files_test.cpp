// SPDX-License-Identifier: MIT
// Small files of every format, and of what its recorders and their options make of it, cut at each byte.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <utility>

#include "tests/formats/imported.h"

namespace pmusim::formats {
namespace {

struct Sample {
  std::string name;
  Format format = Format::champsim;
  std::string content;
};

std::vector<Sample> samples_of_exports(const SmallTrace& trace) {
  std::vector<Sample> samples;
  for (const FormatInfo& info : all_formats())
    samples.push_back({std::string(info.name), info.format, trace.exported(info.format)});
  return samples;
}

/// Lines as valgrind and perf write them, with what their options add or leave out.
std::vector<Sample> samples_of_text() {
  return {
      {"lackey_and_its_log", Format::lackey,
       "==7== Lackey, an example Valgrind tool\n==7== \n--7-- warning\n\nI  00401000,3\n L 7ffe7010,4\n"
       "SB 00401003\nI  00401003,3\r\nhello\n S 7018,8\nI  00401006,2\n M 7018,8\n==7== Counted 1 call\n"},
      {"insn_trace_and_mappings", Format::insn_trace,
       "# captured on: Mon\n\n"
       "ls 7/7 [001] 5.000: PERF_RECORD_MMAP2 7/7: [0x401000(0x1000) @ 0 08:01 5 0]: r-xp /bin/ls\n"
       "              ls     7/7     [001]     5.001:           401000 main+0x0 (/bin/ls) insn: 48 89 e5 \n"
       "              ls     7/7     [001]     5.002:           401003 main+0x3 (/bin/ls) insn: c3 \n"
       " instruction trace error type 1 time 5.003 cpu 1 pid 7 tid 7 ip 0 code 5: Failed\n"
       "              ls     7/8     [001]     5.004:           401000 main+0x0 (/bin/ls) insn: 48 89 e5 \n"},
      {"insn_trace_of_addresses", Format::insn_trace,
       "          401000 insn: 48 89 e5\n          401003 insn: c3\n    7ffff7fe0000 insn: 90\n"},
      {"insn_trace_of_threads", Format::insn_trace,
       "    7     401000 insn: 48 89 e5\n    7     401003 insn: c3\n    8     401000 insn: 90\n"},
      {"insn_trace_of_events", Format::insn_trace,
       "ls  7/7  [001] 5.001:  1  instructions:uH:  401000 main (/bin/ls) insn: 48 89 e5\n"
       "ls  7/7  [001] 5.002:  1  instructions:uH:  401003 main (/bin/ls) ilen: 1 insn: c3\n"},
  };
}

Imported part_of(const Sample& sample, std::size_t begin, std::size_t end, const SmallTrace& trace) {
  return Imported(sample.format, sample.content.substr(begin, end - begin), 0, trace.path());
}

bool says(const std::vector<std::string>& remarks, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(remarks, [&](const std::string& remark) {
    return std::ranges::any_of(words,
                               [&](std::string_view word) { return remark.find(word) != remark.npos; });
  });
}

bool is_text(const Sample& sample) { return sample.content.find('\0') == std::string::npos; }

/// Where the lines or the records begin and end that this part of a file has something of. Of Intel PT, all.
std::pair<std::size_t, std::size_t> whole_units(const Sample& sample, std::size_t begin, std::size_t end) {
  constexpr std::size_t instructions = 8;
  const std::string& content = sample.content;
  if (is_text(sample)) {
    const std::size_t before = begin == 0 ? content.npos : content.rfind('\n', begin - 1);
    return {before + 1, content.find('\n', end - 1) + 1};
  }
  const std::size_t unit = sample.format == Format::pt ? content.size() : content.size() / instructions;
  return {begin / unit * unit, (end + unit - 1) / unit * unit};
}

/// What is left of a line does not show that there was something.
bool is_blank(std::string_view rest) { return rest.find_first_not_of(" \r") == rest.npos; }

/// Of a file that is cut at one end.
bool can_be_seen(const Sample& sample, std::size_t begin, std::size_t end) {
  const std::string_view part = std::string_view(sample.content).substr(begin, end - begin);
  return !is_text(sample) ||
         !is_blank(begin != 0 ? part.substr(0, part.find('\n')) : part.substr(part.rfind('\n') + 1));
}

class Cuts {
 public:
  Cuts(const SmallTrace& trace, const Sample& sample) : trace_(trace), sample_(sample) {}

  /// A part is imported with a remark that counts what is missing of its lines or records, or is an error
  /// that names the file and the place, or says that there is no instruction.
  void expect_honest(std::size_t begin, std::size_t end) {
    const Imported part = part_of(sample_, begin, end, trace_);
    const std::string where = fmt::format("{} from {} to {}: {}", sample_.name, begin, end, part.error);
    if (!part.error.empty()) {
      EXPECT_TRUE(says({part.error}, {"/in: "})) << where;
      EXPECT_TRUE(
          says({part.error}, {"offset ", "no instruction in it", "does not begin with", "no Intel PT"}))
          << where;
      return;
    }
    const u64 cut = instructions_of(whole_units(sample_, begin, end));
    EXPECT_LE(part.instructions, cut) << where;
    if (part.instructions < cut && can_be_seen(sample_, begin, end)) {
      EXPECT_TRUE(says(part.remarks, {"left out", "is cut", "missing bytes"})) << where;
    }
  }

 private:
  u64 instructions_of(std::pair<std::size_t, std::size_t> range) {
    const auto [known, is_new] = instructions_.emplace(range, 0);
    if (is_new) known->second = part_of(sample_, range.first, range.second, trace_).instructions;
    return known->second;
  }

  const SmallTrace& trace_;
  const Sample& sample_;
  std::map<std::pair<std::size_t, std::size_t>, u64> instructions_;
};

TEST(CutFiles, AreReadAsFarAsTheyGoOrSayWhereTheyAreBroken) {
  const SmallTrace trace;
  auto samples = samples_of_exports(trace);
  std::ranges::move(samples_of_text(), std::back_inserter(samples));
  for (const Sample& sample : samples) {
    const std::size_t bytes = sample.content.size();
    ASSERT_EQ(part_of(sample, 0, bytes, trace).error, "") << sample.name;
    Cuts cuts(trace, sample);
    constexpr std::size_t small = 600, step = 7;  // which no size of records divides
    for (std::size_t cut = 1; cut < bytes; cut += bytes <= small ? 1 : step) {
      cuts.expect_honest(0, cut);
      cuts.expect_honest(cut, bytes);
    }
  }
}

}  // namespace
}  // namespace pmusim::formats
