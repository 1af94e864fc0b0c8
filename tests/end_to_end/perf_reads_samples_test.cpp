// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "perf/records.h"
#include "perfdata/writer.h"
#include "tests/end_to_end/command.h"

/// The real perf reads what the sample and record writers wrote.
namespace pmusim::test::perf_reads_samples_test {

using namespace perf;

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr u64 basic = sample::IP | sample::TID | sample::TIME;

/// A COMM, a MMAP2, a CGROUP and one sample in which every field has a value of its own.
class SampledFile {
 public:
  explicit SampledFile(u64 sample_type, u64 branch_type = branch::USER | branch::ANY | branch::TYPE_SAVE) {
    Attr& attr = event_.attr;
    attr.type = static_cast<u32>(EventType::raw);
    attr.sample_period = 1000;
    attr.exclude_kernel = attr.exclude_hv = attr.sample_id_all = attr.comm = attr.mmap = attr.mmap2 = 1;
    attr.sample_type = sample_type;
    attr.read_format = read_format::ID;
    if (sample_type & sample::BRANCH_STACK) attr.branch_sample_type = branch_type;
    attr.sample_regs_user = attr.sample_regs_intr = 0xff0fff;
    attr.sample_stack_user = 64;
    event_.id = 11;
    event_.layout = make_sample_layout(attr);
  }

  /// Writes the file and returns its path.
  std::string write(const ScratchDirectory& scratch, perfdata::Options options = {}) {
    const std::string path = scratch.file("perf.data");
    auto writer = perfdata::Writer::create(path, std::move(options));
    EXPECT_TRUE(writer.ok() && writer->add_event(event_.attr, "cycles:u", {&event_.id, 1}));
    const Moment moment{100, 101, 0, 1};
    Mmap2Record mapping{100, 101, 0x401000, 0x5000, 0x1000};
    mapping.protection = 5;
    mapping.flags = 2;
    mapping.name = "/nonexistent/program";
    EXPECT_TRUE(
        writer->write(encode_record(CommRecord{100, 101, "program", misc::COMM_EXEC}, event_, moment)));
    EXPECT_TRUE(writer->write(encode_record(mapping, event_, moment)));
    EXPECT_TRUE(writer->write(encode_record(CgroupRecord{77, "/group"}, event_, moment)));
    EXPECT_TRUE(writer->write(sample()));
    EXPECT_TRUE(writer->finish());
    return path;
  }

 private:
  std::vector<std::byte> sample() const {
    std::vector<BranchEntry> branches(2);
    branches[0].from = 0x401100;
    branches[0].to = 0x401200;
    branches[0].predicted = 1;
    branches[0].type = 4;
    branches[1].from = 0x401110;
    branches[1].to = 0x401050;
    branches[1].mispred = 1;
    branches[1].cycles = 5;
    InterruptFrame frame;
    for (u64 i = 0; i < 16; ++i) frame.registers.gpr[i] = 0x100 + i;
    frame.registers.rip = 0x401003;
    const std::vector<std::byte> stack(64, std::byte{0x41}), raw(20, std::byte{0x42});
    const std::vector<u64> chain{static_cast<u64>(-512), 0x401003, 0x402000};
    const std::vector<u64> read_values{4000, 11};
    const perf::BranchStack branch_stack{branches, 7, {}};
    SampleData data;
    data.period = 1000;
    data.branches = &branch_stack;
    data.address = 0x7000;
    data.physical_address = 0x9000;
    data.weight = 0x0003'0002'0000'0001;
    data.data_source = 0x68100142;
    data.transaction = u64{5} << 32 | 2;
    data.raw = raw;
    data.callchain = chain;
    SampleEnvironment environment;
    environment.moment = {100, 101, 0, 1'000'002'000};
    environment.user_registers = &frame.registers;
    environment.user_stack = stack;
    environment.cgroup = 77;
    environment.data_page_size = 4096;
    environment.code_page_size = 2 << 20;
    environment.read_values = read_values;
    const perf::Sample sample{event_, data, frame, environment};
    const SampleSize size = sample_size(sample);
    std::vector<std::byte> bytes(size.bytes);
    write_sample(bytes.data(), sample, size);
    return bytes;
  }

  Event event_;
};

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

/// What `perf script -F fields` prints for the sample, in words.
std::vector<std::string> script(u64 sample_type, const std::string& fields) {
  const ScratchDirectory scratch;
  const std::string path = SampledFile(sample_type).write(scratch);
  const Output out = run({"perf", "script", "-i", path, "-F", fields});
  EXPECT_EQ(out.status, 0) << out.err;
  EXPECT_EQ(out.err, "");
  return words(out.out);
}

std::string dump(SampledFile file) {
  const ScratchDirectory scratch;
  return run({"perf", "report", "-D", "-i", file.write(scratch)}).out;
}

void expect_quiet(const std::vector<std::string>& command) {
  const Output out = run(command);
  EXPECT_EQ(out.status, 0) << command[1] << ": " << out.err;
  EXPECT_EQ(out.err, "") << command[1];
}

/// What perf script can print of a sample bit; of the others only a dump shows anything.
std::string script_fields(u64 sample_bit) {
  switch (sample_bit) {
    case sample::ADDR:
      return "ip,addr";
    case sample::CALLCHAIN:
      return "ip,sym";
    case sample::CPU:
      return "ip,cpu";
    case sample::PERIOD:
      return "ip,period";
    case sample::BRANCH_STACK:
      return "ip,brstack";
    case sample::REGS_USER:
      return "ip,uregs";
    case sample::REGS_INTR:
      return "ip,iregs";
    case sample::WEIGHT:
      return "ip,weight";
    case sample::WEIGHT_STRUCT:
      return "ip,weight,ins_lat";
    case sample::DATA_SRC:
      return "ip,data_src";
    case sample::PHYS_ADDR:
      return "ip,phys_addr";
    case sample::DATA_PAGE_SIZE:
      return "ip,addr,data_page_size";
    case sample::CODE_PAGE_SIZE:
      return "ip,code_page_size";
    default:
      return "comm,pid,tid,time,event,ip";
  }
}

TEST(PerfReadsSamples, EachBitWithoutAWarning) {
  for (const unsigned i : set_bits(sample::ALL)) {
    SCOPED_TRACE(i);
    const ScratchDirectory scratch;
    const u64 needed = bit(i) == sample::DATA_PAGE_SIZE ? u64{sample::ADDR} : 0;
    const std::string path = SampledFile(basic | needed | bit(i)).write(scratch);
    expect_quiet({"perf", "script", "-i", path});
    expect_quiet({"perf", "script", "-i", path, "-F", script_fields(bit(i))});
    expect_quiet({"perf", "report", "--stdio", "-i", path});
    expect_quiet({"perf", "report", "-D", "-i", path});
  }
}

TEST(PerfReadsSamples, IdsAndTimes) {
  EXPECT_THAT(
      script(basic | sample::CPU | sample::PERIOD | sample::IDENTIFIER | sample::ID | sample::STREAM_ID,
             "comm,pid,tid,time,cpu,event,period,ip"),
      ElementsAre("program", "100/101", "[000]", "1.000002:", "1000", "cycles:u:", "401003"));
}

TEST(PerfReadsSamples, Addresses) {
  EXPECT_THAT(script(basic | sample::ADDR | sample::PHYS_ADDR, "addr,ip,phys_addr"),
              ElementsAre("7000", "401003", "9000"));
  EXPECT_THAT(script(basic | sample::ADDR | sample::DATA_PAGE_SIZE | sample::CODE_PAGE_SIZE,
                     "ip,data_page_size,code_page_size"),
              ElementsAre("401003", "4K", "2M"));
}

TEST(PerfReadsSamples, CallChains) {  // perf prints offsets into the mapped file
  EXPECT_THAT(script(basic | sample::CALLCHAIN, "ip,sym"),
              ElementsAre("1003", "[unknown]", "2000", "[unknown]"));
}

TEST(PerfReadsSamples, BranchStacks) {
  EXPECT_THAT(script(basic | sample::BRANCH_STACK, "ip,brstack"),
              ElementsAre("401003", "0x401100/0x401200/P/-/-/0/CALL", "0x401110/0x401050/M/-/-/5/"));
}

TEST(PerfReadsSamples, TheIndexOfABranchStackMovesNothing) {
  EXPECT_THAT(dump(SampledFile(basic | sample::BRANCH_STACK | sample::TRANSACTION,
                               branch::USER | branch::ANY | branch::HW_INDEX)),
              HasSubstr("... transaction: 500000002"));
}

TEST(PerfReadsSamples, Registers) {
  const auto expected =
      ElementsAre("ABI:2", "AX:0x100", "BX:0x103", "CX:0x101", "DX:0x102", "SI:0x106", "DI:0x107", "BP:0x105",
                  "SP:0x104", "IP:0x401003", "FLAGS:0x202", "CS:0x33", "SS:0x2b", "R8:0x108", "R9:0x109",
                  "R10:0x10a", "R11:0x10b", "R12:0x10c", "R13:0x10d", "R14:0x10e", "R15:0x10f");
  EXPECT_THAT(script(basic | sample::REGS_USER, "uregs"), expected);
  EXPECT_THAT(script(basic | sample::REGS_INTR, "iregs"), expected);
}

TEST(PerfReadsSamples, MemoryAccesses) {
  EXPECT_THAT(script(basic | sample::WEIGHT_STRUCT, "weight,ins_lat"), ElementsAre("1", "2"));
  EXPECT_THAT(script(basic | sample::WEIGHT, "weight"), ElementsAre("844433520066561"));
  const auto source = script(basic | sample::DATA_SRC, "data_src");
  EXPECT_THAT(source.at(0), "68100142");
  EXPECT_THAT(dump(SampledFile(basic | sample::DATA_SRC)), HasSubstr("data_src: 0x68100142"));
}

TEST(PerfReadsSamples, UserStacksRawDataTransactionsAndCounts) {
  EXPECT_THAT(dump(SampledFile(basic | sample::STACK_USER | sample::REGS_USER)),
              HasSubstr("... ustack: size 64"));
  EXPECT_THAT(dump(SampledFile(basic | sample::RAW | sample::TRANSACTION)),
              HasSubstr("... transaction: 500000002"));
  EXPECT_THAT(dump(SampledFile(basic | sample::READ | sample::ID)),
              HasSubstr("..... id 000000000000000b, value 0000000000000fa0"));
}

TEST(PerfReadsSamples, Cgroups) {
  const ScratchDirectory scratch;
  const std::string path = SampledFile(basic | sample::CGROUP).write(scratch);
  EXPECT_THAT(run({"perf", "report", "--stdio", "--sort", "cgroup", "-i", path}).out,
              ::testing::ContainsRegex("100.00% +/group"));
}

TEST(PerfReadsSamples, EveryFieldAtOnce) {
  const u64 all = sample::ALL & ~sample::WEIGHT;
  const std::string text = dump(SampledFile(all));
  EXPECT_THAT(text, HasSubstr("... transaction: 500000002"));
  EXPECT_THAT(text, HasSubstr("phys_addr: 0x9000"));
  EXPECT_THAT(script(all, "data_page_size,code_page_size,ip"), ::testing::Contains("4K"));
}

TEST(PerfReadsFiles, InEveryFormAndCompressedTheSame) {
  std::vector<std::string> texts;
  for (const auto form : {perfdata::Form::file, perfdata::Form::pipe})
    for (const auto compression : {perfdata::Compression::none, perfdata::Compression::zstd}) {
      const ScratchDirectory scratch;
      SampledFile file(basic | sample::BRANCH_STACK | sample::IDENTIFIER);
      const std::string path = file.write(scratch, {.form = form, .compression = compression});
      const Output out = run({"perf", "script", "-i", path, "-F", "comm,tid,time,event,ip,sym,brstack"});
      EXPECT_EQ(out.err, "");
      texts.push_back(out.out);
    }
  EXPECT_THAT(texts, ::testing::Each(texts.front()));
  EXPECT_THAT(texts.front(), HasSubstr("0x401100/0x401200/P"));
}

TEST(PerfReadsFiles, WithEveryAttributeSizeItKnows) {
  for (const u32 bytes : {96u, 104u, 112u, 120u, 128u}) {  // REGS_USER needs VER3
    const ScratchDirectory scratch;
    Attr attr;
    attr.sample_period = 1;
    attr.sample_type = sample::IP;
    auto writer = perfdata::Writer::create(scratch.file("perf.data"), {.attr_bytes = bytes});
    ASSERT_TRUE(writer && writer->add_event(attr, "x", {}));
    Event event;
    event.attr = attr;
    ASSERT_TRUE(writer->write(encode_record(CommRecord{1, 1, "x"}, event, {})) && writer->finish());
    const Output out = run({"perf", "script", "--show-task-events", "-i", scratch.file("perf.data")});
    EXPECT_EQ(out.status, 0) << bytes << out.err;
    EXPECT_THAT(out.out, HasSubstr("PERF_RECORD_COMM: x:1/1")) << bytes;
  }
}

TEST(PerfReadsFiles, HeaderSaysWhatTheSessionSaid) {
  perfdata::Options options;
  options.metadata.host_name = "emulated";
  options.metadata.os_release = "6.12.0";
  options.metadata.version = "0.1";
  options.metadata.cpu_description = "Sapphire Rapids";
  options.metadata.cpuid = "GenuineIntel,6,143,8";
  options.metadata.cpus = 2;
  options.metadata.total_memory_kib = 1024;
  options.metadata.command_line = {"pmusim", "record"};
  options.metadata.pmu_mappings = {{4, "cpu"}};
  options.metadata.cpu_pmu_caps = {{"branches", "32"}};
  const ScratchDirectory scratch;
  const std::string path = SampledFile(basic | sample::BRANCH_STACK).write(scratch, options);
  const std::string text = run({"perf", "report", "--header-only", "-I", "-i", path}).out;
  for (const char* line :
       {"# hostname : emulated\n", "# os release : 6.12.0\n", "# perf version : 0.1\n", "# arch : x86_64\n",
        "# nrcpus online : 2\n", "# cpudesc : Sapphire Rapids\n", "# cpuid : GenuineIntel,6,143,8\n",
        "# total memory : 1024 kB\n", "# cmdline : pmusim record \n", "# event : name = cycles:u,",
        "# contains samples with branch stack\n", "# pmu mappings: cpu = 4\n",
        "# time of first sample : 1.000002\n", "# cpu pmu capabilities: branches=32\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(PerfReadsFiles, HeaderSaysWhatMachineItWas) {
  perfdata::Options options;
  options.metadata.cpus = 2;
  options.metadata.cpu_places = {{0, 0, 0}, {0, 0, 5}};
  options.metadata.numa_nodes = {{0, 4096, 1024, "0-1"}};
  options.metadata.caches = {{1, 64, 64, 12, "Data", "48K", "0"}};
  options.metadata.sample_clock = perfdata::SampleClock{1, 1, 60'000'000'000, 3'000'000'000};
  options.metadata.pmus = {{"cpu_core", "0", {{"branches", "32"}, {"branch_counter_nr", "4"}}},
                           {"cpu_atom", "1", {{"branches", "16"}}}};
  const ScratchDirectory scratch;
  for (const auto form : {perfdata::Form::file, perfdata::Form::pipe}) {
    options.form = form;
    const std::string path = SampledFile(basic).write(scratch, options);
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"perf", "report", "--header-only", "-I", "-i", path},
          {"perf", "script", "--header", "-I", "-i", path}}) {
      const Output out = run(command);
      EXPECT_EQ(out.err, "");
      for (const char* line :
           {"# sibling sockets : 0-1\n", "# sibling dies    : 0-1\n", "# sibling threads : 0\n",
            "# sibling threads : 1\n", "# CPU 1: Core ID 5, Die ID 0, Socket ID 0\n",
            "# node0 meminfo  : total = 4096 kB, free = 1024 kB\n", "# node0 cpu list : 0-1\n",
            "#  L1 Data                 48K [0]\n", "# clockid frequency: 1000 MHz\n",
            "# clockid: monotonic (1)\n", "# cpu_core cpu list : 0\n",
            "# cpu_core pmu capabilities: branches=32, branch_counter_nr=4\n",
            "# cpu_atom pmu capabilities: branches=16\n"})
        EXPECT_THAT(out.out, HasSubstr(line));
    }
  }
}

}  // namespace
}  // namespace pmusim::test::perf_reads_samples_test
