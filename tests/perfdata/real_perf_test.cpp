// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <iostream>
#include <sstream>

#include "pmusim/perfdata/reader.h"
#include "tests/perfdata/file_fixture.h"
#include "tests/perfdata/raw_records.h"

/// Files that the perf installed here makes, and each of their samples beside what `perf script` says of it.
namespace pmusim::perfdata {
namespace {

struct Output {
  int status = -1;
  std::string text;
};

/// What a command of the shell prints, on both of its outputs.
Output shell(const std::string& command) {
  Output output;
  FILE* const pipe = ::popen(("{ " + command + "; } 2>&1 </dev/null").c_str(), "r");
  if (pipe == nullptr) return output;
  std::array<char, 4096> piece;
  for (std::size_t got; (got = std::fread(piece.data(), 1, piece.size(), pipe)) != 0;)
    output.text.append(piece.data(), got);
  output.status = ::pclose(pipe);
  return output;
}

/// Words parted by single spaces, line by line.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string joined;
    for (std::string word; words >> word;) joined += (joined.empty() ? "" : " ") + word;
    if (!joined.empty()) lines.push_back(joined);
  }
  return lines;
}

/// What all events of the file sample of what is compared.
u64 common_fields(const Reader& file) {
  u64 common = ~u64{0};
  for (const EventDescription& event : file.events()) {
    const bool is_dummy = event.attr.type == static_cast<u32>(perf::EventType::software) &&
                          event.attr.config == static_cast<u64>(perf::SoftwareId::dummy);
    if (!is_dummy) common &= event.attr.sample_type;
  }
  return common;
}

/// As perf script has the fields.
std::string field_list(u64 fields) {
  std::string list = "tid,event,period,ip";
  if ((fields & perf::sample::TIME) != 0) list += ",time";
  if ((fields & perf::sample::ADDR) != 0) list += ",addr";
  if ((fields & perf::sample::BRANCH_STACK) != 0) list += ",brstack";
  if ((fields & perf::sample::WEIGHT_STRUCT) != 0) list += ",weight,ins_lat";
  if ((fields & perf::sample::PHYS_ADDR) != 0) list += ",phys_addr";
  return list;
}

std::string branch_text(const perf::BranchEntry& branch) {
  constexpr std::array<const char*, 9> types = {"",         "COND", "UNCOND",  "IND",   "CALL",
                                                "IND_CALL", "RET",  "SYSCALL", "SYSRET"};
  const char prediction = branch.mispred != 0 ? 'M' : branch.predicted != 0 ? 'P' : '-';
  std::ostringstream text;
  text << " 0x" << std::hex << branch.from << "/0x" << branch.to << '/' << prediction << '/'
       << (branch.in_tx != 0 ? 'X' : '-') << '/' << (branch.abort != 0 ? 'A' : '-') << '/' << std::dec
       << branch.cycles << '/' << types.at(branch.type);
  return text.str();
}

/// The line that perf script prints of it, but for the spaces.
std::string line_of(const EventSample& of, u64 fields) {
  const SampleRecord& s = of.sample;
  std::ostringstream line;
  line << static_cast<i32>(s.who.tid);
  if ((fields & perf::sample::TIME) != 0) {
    std::string ns = std::to_string(s.who.time % 1'000'000'000);
    ns.insert(0, 9 - ns.size(), '0');
    line << ' ' << s.who.time / 1'000'000'000 << '.' << ns << ':';
  }
  line << ' ' << s.period << ' ' << of.event.name << ": " << std::hex;
  if ((fields & perf::sample::ADDR) != 0) line << s.address << ' ';
  if ((fields & perf::sample::WEIGHT_STRUCT) != 0)
    line << std::dec << field(s.weight, 31, 0) << ' ' << field(s.weight, 47, 32) << ' ' << std::hex;
  line << s.ip;
  if ((fields & perf::sample::BRANCH_STACK) != 0)
    for (const perf::BranchEntry& branch : s.branches) line << branch_text(branch);
  if ((fields & perf::sample::PHYS_ADDR) != 0) line << ' ' << std::hex << s.physical_address;
  return line.str();
}

/// A kind of file and the commands that make one: F is its name, W a program that runs for a while.
struct Kind {
  const char* name;
  const char* commands;
  bool needs_root = false;
};

constexpr Kind kinds[] = {
    {"all features", "perf record -e cpu-clock -o F -- W"},
    {"several events", "perf record -e cpu-clock,page-faults,context-switches -o F -- W"},
    {"data addresses", "perf record -d -c 1 -e page-faults -o F -- W"},
    {"stream", "perf record -e cpu-clock -o - -- W > F"},
    {"stream of several events", "perf record -e cpu-clock,page-faults -o - -- W > F"},
    {"compressed", "perf record -z -e cpu-clock -o F -- W"},
    {"compressed stream", "perf record -z -e cpu-clock -o - -- W > F"},
    {"threads", "perf record --threads -e cpu-clock -o F -- W"},
    {"threads of all CPUs, compressed", "perf record --threads -z -a -e cpu-clock -o F -- W", true},
    {"kcore", "perf record --kcore -e cpu-clock -o F -- W", true},
    {"tracepoints", "perf record -e sched:sched_switch -e raw_syscalls:sys_enter -o F -- W", true},
    {"events that sample different fields",
     "perf record -e sched:sched_switch -e cpu-clock -c 200000 -o F -- W", true},
    {"events that sample different fields, the shorter first",
     "perf record -e cpu-clock -e sched:sched_switch -c 200000 -o F -- W", true},
    {"stream of events that sample different fields",
     "perf record -z -e sched:sched_switch -e cpu-clock -c 200000 -o - -- W > F", true},
    {"a dummy event beside", "perf record -e dummy,cpu-clock -o F -- W"},
    {"overwritten buffers", "perf record --overwrite --tail-synthesize -e cpu-clock -o F -- W"},
    {"stream with tracing data", "perf record -e sched:sched_switch -e raw_syscalls:sys_enter -o - -- W > F",
     true},
    {"dwarf stacks", "perf record --call-graph dwarf -e cpu-clock -o F -- W"},
    {"frame-pointer stacks", "perf record -g -e cpu-clock -o F -- W"},
    {"registers", "perf record --user-regs=ax,ip,sp --intr-regs=bx -e cpu-clock -o F -- W"},
    {"side-band records", "perf record --switch-events --namespaces -e cpu-clock -o F -- W", true},
    {"build ids of mappings", "perf record --buildid-mmap -e cpu-clock -o F -- W"},
    {"clock", "perf record -k mono -e cpu-clock -o F -- W"},
    {"group of counts", "perf record -e '{cpu-clock,page-faults,context-switches}:S' -o F -- W"},
    {"count of one event", "perf record -e cpu-clock:S -o F -- W"},
    {"one thread", "perf record --per-thread -e cpu-clock -o F -- W"},
    {"all CPUs", "perf record -a -e cpu-clock -o F -- W", true},
    {"injected build ids", "perf record -e cpu-clock -o F.in -- W && perf inject -b -i F.in -o F"},
    {"injected stream", "perf record -e cpu-clock -o - -- W | perf inject -b > F"},
};

class RealPerf : public FileTest {
 protected:
  std::string file() const { return (directory() / "F").string(); }

  Output make(const Kind& kind) const {
    std::string commands = kind.commands;
    for (std::size_t at = 0; (at = commands.find("-- W", at)) != std::string::npos; ++at)
      commands.replace(at + 3, 1, "sh -c 'i=0; while [ $i -lt 1500 ]; do i=$((i+1)); done'");
    std::filesystem::remove_all(file());
    return shell("cd " + directory().string() + " && " + commands);
  }

  /// All samples of the file, ours beside perf's; how many there were.
  std::size_t compare() const {
    auto samples = SampleReader::open(file());
    EXPECT_TRUE(samples) << samples.error().message;
    if (!samples) return 0;
    std::vector<std::string> ours;
    u64 fields = 0;
    while (true) {
      const auto sample = samples->next();
      EXPECT_TRUE(sample) << sample.error().message;
      if (!sample || !*sample) break;
      if (ours.empty()) fields = common_fields(samples->file());
      ours.push_back(line_of(**sample, fields));
    }
    EXPECT_THAT(samples->file().warnings(), testing::IsEmpty());
    const Output perf =
        shell("perf script --ns -G -i " + file() + " -F " + field_list(fields) + " 2>/dev/null");
    EXPECT_EQ(perf.status, 0);
    std::vector<std::string> theirs = lines_of(perf.text);
    if (std::filesystem::is_directory(file())) {  // what has the same time stands in no order
      std::ranges::sort(ours);
      std::ranges::sort(theirs);
    }
    EXPECT_EQ(ours, theirs);
    return ours.size();
  }
};

bool perf_is_installed() { return shell("perf --version").status == 0; }

/// Whether programs may count anything: not where seccomp or a container forbids the system call.
bool perf_events_are_permitted() {
  perf::Attr attr;
  attr.type = static_cast<u32>(perf::EventType::software);
  attr.config = static_cast<u64>(perf::SoftwareId::task_clock);
  attr.size = 64;
  attr.exclude_kernel = attr.exclude_hv = 1;
  const long descriptor = ::syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
  if (descriptor >= 0) ::close(static_cast<int>(descriptor));
  return descriptor >= 0;
}

TEST_F(RealPerf, SaysTheSameOfEverySampleOfEveryKindOfFile) {
  if (!perf_is_installed()) GTEST_SKIP() << "perf is not installed";
  if (!perf_events_are_permitted()) GTEST_SKIP() << "perf_event_open is forbidden here";
  std::size_t made = 0;
  for (const Kind& kind : kinds) {
    SCOPED_TRACE(kind.name);
    if (kind.needs_root && ::geteuid() != 0) {
      std::cout << kind.name << ": not made: only root may record it\n";
      continue;
    }
    const Output output = make(kind);
    if (output.status != 0) {
      std::cout << kind.name << ": perf cannot make it here: " << output.text << '\n';
      continue;
    }
    ++made;
    EXPECT_GT(compare(), 0u);
  }
  EXPECT_GE(made, 10u) << "of " << std::size(kinds) << " kinds";
}

/// perf 6.16 and later write COMPRESSED2: a stream of the perf here, changed to it, beside the one it was.
TEST_F(RealPerf, SaysOfOneFormOfCompressionWhatTheOtherHas) {
  if (!perf_is_installed()) GTEST_SKIP() << "perf is not installed";
  if (!perf_events_are_permitted()) GTEST_SKIP() << "perf_event_open is forbidden here";
  ASSERT_EQ(make({"", "perf record -z -e cpu-clock -o - -- W > F"}).status, 0);
  EXPECT_GT(compare(), 0u);
  const auto all = [](Reader reader) {
    std::vector<std::string> lines;
    SampleReader samples(std::move(reader));
    while (true) {
      const auto next = samples.next();
      if (!next || !*next) return lines;
      lines.push_back(line_of(**next, perf::sample::TIME));
    }
  };
  std::ifstream in(file(), std::ios::binary);
  const std::string characters{std::istreambuf_iterator<char>(in), {}};
  const auto bytes = std::as_bytes(std::span(characters));
  auto second = Reader::from_memory("second", with_second_form_of_compression({bytes.begin(), bytes.end()}));
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(all(*std::move(second)), all(*Reader::open(file())));
}

/// Files that this writer made, passed through perf.
TEST_F(RealPerf, SaysTheSameOfOurFilesThatItInjectsInto) {
  if (!perf_is_installed()) GTEST_SKIP() << "perf is not installed";
  for (const auto& [form, inject] : {std::pair(Form::file, "perf inject -f -i ours -o F"),
                                     std::pair(Form::pipe, "perf inject -f < ours > F")})
    for (const Compression compression : {Compression::none, Compression::zstd}) {
      write_file(directory() / "ours", {.form = form, .compression = compression, .metadata = everything()},
                 50);
      const Output output = shell("cd " + directory().string() + " && " + inject);
      ASSERT_EQ(output.status, 0) << output.text;
      EXPECT_EQ(compare(), 50u);
    }
}

/// An IBS event of an AMD machine, and branch records with speculation.
TEST_F(RealPerf, SaysTheSameOfSamplesOfAmdMachines) {
  if (!perf_is_installed()) GTEST_SKIP() << "perf is not installed";
  namespace sample = perf::sample;
  Metadata machine = everything();
  machine.cpuid = "AuthenticAMD,25,1,1";
  machine.pmu_mappings = {{4, "cpu"}, {10, "ibs_fetch"}, {11, "ibs_op"}};
  auto writer = Writer::create(file(), {.metadata = machine});
  ASSERT_TRUE(writer);
  perf::Event ibs;
  ibs.id = 5;
  ibs.attr.type = 11;
  ibs.attr.config = bit(19);
  ibs.attr.sample_period = 100'000;
  ibs.attr.sample_id_all = 1;
  ibs.attr.sample_type = sample::IDENTIFIER | sample::IP | sample::TID | sample::TIME | sample::ADDR |
                         sample::RAW | sample::WEIGHT_STRUCT | sample::DATA_SRC | sample::PHYS_ADDR;
  ASSERT_TRUE(writer->add_event(ibs.attr, "ibs_op//", {&ibs.id, 1}));
  for (u64 n = 1; n <= 20; ++n) {
    Payload payload;
    for (const u64 word : {ibs.id, 0x401000 + n, u64{100} | u64{101} << 32, 1000 * n, 0x7f00'0000 + n})
      payload.put(word);
    payload.put(u32{8 * 8 + 4});  // the capabilities and eight registers, padded
    for (u32 word = 0; word < 17; ++word) payload.put(u32{0xA5A5} + word);
    payload.put(u64{40 + n} | u64{7} << 32);
    payload.put(u64{0x68100142});
    payload.put(0x1'0000'0000 + n);
    const perf::RecordHeader header{static_cast<u32>(perf::RecordType::sample), perf::misc::USER,
                                    static_cast<u16>(sizeof header + payload.size())};
    ASSERT_TRUE(writer->write(std::as_bytes(std::span(&header, 1))) && writer->write(payload.bytes()));
  }
  ASSERT_TRUE(writer->finish());
  EXPECT_EQ(compare(), 20u);

  perf::Event branches = sampled_event();
  branches.attr.branch_sample_type |= perf::branch::TYPE_SAVE;
  auto with_branches = Writer::create(file(), {.metadata = machine});
  ASSERT_TRUE(with_branches && with_branches->add_event(branches.attr, "branches", {&branches.id, 1}));
  for (u8 speculation = 0; speculation < 4; ++speculation) {
    Payload payload;
    for (const u64 word : {branches.id, u64{0x401000}, u64{100} | u64{101} << 32, u64{speculation}, u64{1}})
      payload.put(word);
    perf::BranchEntry entry;
    entry.from = 0x401010;
    entry.to = 0x401000;
    entry.predicted = 1;
    entry.type = perf::branch_type::COND;
    entry.spec = speculation & 3;
    payload.put(entry);
    const perf::RecordHeader header{static_cast<u32>(perf::RecordType::sample), perf::misc::USER,
                                    static_cast<u16>(sizeof header + payload.size())};
    ASSERT_TRUE(with_branches->write(std::as_bytes(std::span(&header, 1))) &&
                with_branches->write(payload.bytes()));
  }
  ASSERT_TRUE(with_branches->finish());
  EXPECT_EQ(compare(), 4u);
  auto samples = SampleReader::open(file());
  for (u64 speculation = 0; speculation < 4; ++speculation)
    EXPECT_EQ((*samples->next())->sample.branches.at(0).spec, speculation);
}

}  // namespace
}  // namespace pmusim::perfdata
