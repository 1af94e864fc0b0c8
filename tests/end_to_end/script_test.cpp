// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "perf/records.h"
#include "perf/simd_abi.h"
#include "perfdata/writer.h"
#include "tests/end_to_end/command.h"
#include "tests/support/json.h"

/// `pmusim script` beside the real perf, and what only it shows.
namespace pmusim::test {
namespace {

using ::testing::HasSubstr;

std::string script(std::vector<std::string> arguments, const std::string& file) {
  arguments.insert(arguments.begin(), {pmusim(), "script", "-i", file});
  const Output out = run(arguments);
  EXPECT_EQ(out.status, 0) << out.err;
  EXPECT_EQ(out.err, "");
  return out.out;
}

void record(const std::vector<std::string>& options, const std::string& file, const std::string& trace) {
  std::vector<std::string> command = {pmusim(), "record", "-q", "-o", file};
  command.insert(command.end(), options.begin(), options.end());
  command.push_back(trace);
  const Output out = run(command);
  ASSERT_EQ(out.status, 0) << out.err;
}

std::string trace() { return recorded("branches", {"400"}, "gpr"); }

TEST(Script, PrintsEveryFieldAsPerfDoes) {
  const ScratchDirectory scratch;
  const std::string file = scratch.file("perf.data");
  record({"--model", "goldencove", "-e", "cycles:upp", "-c", "2003", "-j", "any,u,save_type", "-I",
          "ax,ip,flags,r15", "--user-regs", "sp,ip", "-d", "-W", "--phys-data", "--data-page-size",
          "--code-page-size"},
         file, trace());
  for (const char* fields : {"comm,pid,tid,cpu,time,period,event,addr,data_src,weight,ins_lat,ip,dso,iregs,"
                             "uregs,brstack,phys_addr,"
                             "data_page_size,code_page_size",
                             "ip", "comm,tid,time", "pid,event,ip,dso", "tid,ip,brstack", "time,iregs"}) {
    const std::string ours = script({"-F", fields}, file);
    EXPECT_EQ(ours, perf_output({"script", "-F", fields}, file)) << fields;
    EXPECT_GT(lines(ours).size(), 10u);
  }
  EXPECT_EQ(script({}, file), perf_output({"script", "-F", "comm,tid,cpu,time,period,event,ip,dso"}, file));
}

TEST(Script, PadsTheNamesOfSeveralEventsAsPerfDoes) {
  const ScratchDirectory scratch;
  const std::string file = scratch.file("perf.data");
  record({"-e", "cycles:u,branch-misses:upp", "-c", "5003"}, file, trace());
  const char* const fields = "comm,tid,time,event,ip,dso";
  EXPECT_EQ(script({"-F", fields}, file), perf_output({"script", "-F", fields}, file));
}

std::vector<std::byte> sample_record(const perf::Event& event, const perf::SampleData& data,
                                     const InterruptFrame& frame = {},
                                     const perf::SampleEnvironment& environment = {}) {
  const perf::Sample sample{event, data, frame, environment};
  const perf::SampleSize size = perf::sample_size(sample);
  std::vector<std::byte> bytes(size.bytes);
  perf::write_sample(bytes.data(), sample, size);
  return bytes;
}

/// perf makes a sample of each member, of what it has counted since the sample before.
TEST(Script, ShowsTheMembersOfAGroupWhoseLeaderSamples) {
  const ScratchDirectory scratch;
  const std::string file = scratch.file("perf.data");
  for (const char* events :
       {"{cycles:u,instructions:u,branch-misses:u}:S", "{branches:upp,instructions:u}:S"}) {
    record({"-e", events, "-c", "2003"}, file, trace());
    const char* const fields = "comm,tid,time,period,event,ip,dso";
    const std::string ours = script({"-F", fields}, file);
    EXPECT_EQ(ours, perf_output({"script", "-F", fields}, file)) << events;
    EXPECT_THAT(ours, HasSubstr("instructions:u"));
    EXPECT_EQ(script({}, file), perf_output({"script", "-F", "comm,tid,cpu,time,period,event,ip,dso"}, file));
  }
}

/// Words that no sample of the recording above has.
TEST(Script, SaysDataSourcesInPerfsWords) {
  const ScratchDirectory scratch;
  const std::string file = scratch.file("perf.data");
  std::vector<u64> sources = {0, 0x1e05080021, 0x68100142, 0x83600000040, 0x6000001c0};
  for (unsigned n = 0; n < 45; ++n) sources.push_back(bit(n));
  for (u64 number = 0; number < 32; ++number) sources.push_back(number << 33 | 0x40);
  // A field at a time: perf cuts what takes more than 99 characters.
  for (u64 bits = 0; bits < 64; ++bits) sources.push_back(bits << 26);
  for (u64 bits = 0; bits < 32; ++bits) sources.push_back(bits << 19 | (bits & 7) << 40);
  perf::Event event;
  event.attr.type = static_cast<u32>(perf::EventType::raw);
  event.attr.sample_type = perf::sample::IP | perf::sample::DATA_SRC;
  event.layout = perf::make_sample_layout(event.attr);
  auto writer = perfdata::Writer::create(file, {});
  ASSERT_TRUE(writer && writer->add_event(event.attr, "loads", {}));
  for (const u64 source : sources) {
    perf::SampleData data;
    data.data_source = source;
    ASSERT_TRUE(writer->write(sample_record(event, data)));
  }
  ASSERT_TRUE(writer->finish());
  EXPECT_EQ(script({"-F", "data_src"}, file), perf_output({"script", "-F", "data_src"}, file));
}

TEST(Script, ChangesTheUsualFields) {
  const ScratchDirectory scratch;
  const std::string file = scratch.file("perf.data");
  record({"-e", "cycles:upp", "-c", "9001"}, file, trace());
  EXPECT_EQ(script({"-F", "-time,-cpu,-comm,-tid,-period,-event,-dso"}, file), script({"-F", "ip"}, file));
  EXPECT_EQ(script({"-F", "+pid,-dso"}, file), script({"-F", "comm,pid,tid,cpu,time,period,event,ip"}, file));
}

TEST(Script, RefusesFieldsThatAreNotThere) {
  const ScratchDirectory scratch;
  const std::string file = scratch.file("perf.data");
  record({"-e", "cycles:upp", "-c", "9001"}, file, trace());
  const Output absent = run({pmusim(), "script", "-i", file, "-F", "ip,brstack"});
  EXPECT_EQ(absent.status, 2);
  EXPECT_EQ(absent.err, "pmusim: " + file + ": -F brstack: no event of the file samples it\n");
  const Output unknown = run({pmusim(), "script", "-i", file, "-F", "ireg"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("iregs"));
  const Output none = run({pmusim(), "script", "-i", scratch.file("nothing")});
  EXPECT_EQ(none.status, 2);
}

perf::Event sampled(u64 id, u64 fields) {
  perf::Event event;
  event.id = id;
  event.attr.type = static_cast<u32>(perf::EventType::raw);
  event.attr.sample_type = perf::sample::IDENTIFIER | perf::sample::IP | fields;
  event.layout = perf::make_sample_layout(event.attr);
  return event;
}

TEST(Script, LeavesOutTheFieldsThatAnEventLacks) {
  const ScratchDirectory scratch;
  const std::string file = scratch.file("perf.data");
  const perf::Event with = sampled(1, perf::sample::BRANCH_STACK), without = sampled(2, 0);
  const std::array branch{perf::BranchEntry{.from = 0x401020, .to = 0x401000, .predicted = 1}};
  const perf::BranchStack branches{.entries = branch};
  InterruptFrame frame;
  frame.registers.rip = 0x401000;
  perf::SampleData data;
  data.branches = &branches;
  auto writer = perfdata::Writer::create(file, {});
  ASSERT_TRUE(writer);
  for (const perf::Event* event : {&with, &without})
    ASSERT_TRUE(writer->add_event(event->attr, event == &with ? "loads" : "dummy", {&event->id, 1}));
  for (const perf::Event* event : {&with, &without, &with})
    ASSERT_TRUE(writer->write(sample_record(*event, data, frame)));
  ASSERT_TRUE(writer->finish());
  const std::string text = script({"-F", "event,ip,brstack"}, file);
  EXPECT_EQ(text, perf_output({"script", "-F", "event,ip,brstack"}, file));
  const auto printed = lines(text);
  ASSERT_EQ(printed.size(), 3u);
  EXPECT_THAT(printed[0], HasSubstr("loads:            401000 0x401020/0x401000/P"));
  EXPECT_EQ(printed[1], "dummy:            401000");
  EXPECT_EQ(printed[2], printed[0]);
}

TEST(Script, JsonHasAllThatEachSampleHas) {
  const ScratchDirectory scratch;
  const std::string file = scratch.file("perf.data");
  record({"--model", "goldencove", "-e", "cycles:upp", "-c", "9001", "-b", "-I", "ax,ip"}, file, trace());
  const auto samples = parse_json(script({"--json"}, file));
  const auto text = lines(script({"-F", "ip"}, file));
  ASSERT_EQ(samples.size(), text.size());
  for (std::size_t n = 0; n < samples.size(); ++n) {
    const auto& sample = samples[n];
    EXPECT_EQ(sample.at("iregs").at("IP"), sample.at("ip"));
    EXPECT_EQ("0x" + text[n].substr(text[n].find_first_not_of(' ')), sample.at("ip"));
    EXPECT_EQ(sample.at("event"), "cycles:upp");
    EXPECT_TRUE(sample.at("brstack").is_array());
  }
}

/// Registers of which each word says where it belongs.
class Numbered {
 public:
  Numbered() {
    std::size_t at = 0;
    for (u64& word : words_) word = 0x1111'0000'0000'0000 + at++;
    auto take = [&, first = std::size_t{0}](std::size_t words) mutable {
      const auto piece = std::as_bytes(std::span(words_).subspan(first, words));
      first += words;
      return piece;
    };
    registers_ = {.xmm = take(32),
                  .ymm_high = take(32),
                  .zmm_high = take(64),
                  .hi16_zmm = take(128),
                  .opmask = take(8),
                  .egpr = take(16),
                  .shadow_stack_pointer = 0x7fff'0000};
  }
  Numbered(const Numbered&) = delete;
  Numbered& operator=(const Numbered&) = delete;
  const perf::ExtendedRegisters& registers() const { return registers_; }

 private:
  std::array<u64, 280> words_{};
  perf::ExtendedRegisters registers_;
};

/// A file with one sample of `attr`, in the form of `simd`.
void write_registers(const std::string& path, perf::Attr attr, perf::SimdAbi simd) {
  const Numbered numbered;
  perf::Event event;
  attr.type = static_cast<u32>(perf::EventType::raw);
  attr.sample_type |= perf::sample::IP;
  event.attr = simd == perf::SimdAbi::series_v7 ? perf::with_shared_field(attr) : attr;
  event.layout = perf::make_sample_layout(event.attr, perf::kernel_with(simd));
  InterruptFrame frame;
  frame.registers.rip = 0x401000;
  frame.registers[Gpr::rax] = 0xa;
  perf::SampleData data;
  data.extended = &numbered.registers();
  perf::SampleEnvironment environment;
  environment.user_registers = &frame.registers;
  environment.user_extended = data.extended;
  const u32 attr_bytes = attr.sample_simd_regs_enabled != 0 ? 176 : 128;
  auto writer = perfdata::Writer::create(path, {.attr_bytes = attr_bytes, .simd = simd});
  ASSERT_TRUE(writer && writer->add_event(event.attr, "cycles:u", {}));
  ASSERT_TRUE(writer->write(sample_record(event, data, frame, environment)) && writer->finish());
}

TEST(Script, XmmRegistersByTheirOldNumbersAreReadByPerfToo) {
  const ScratchDirectory scratch;
  const std::string file = scratch.file("perf.data");
  perf::Attr attr;
  attr.sample_type = perf::sample::REGS_INTR | perf::sample::REGS_USER;
  attr.sample_regs_intr = 0x101 | bits(35, 32);
  attr.sample_regs_user = 0x100 | bits(63, 62);
  write_registers(file, attr, perf::SimdAbi::series_v7);
  const std::string text = perf_output({"script", "-F", "ip,iregs,uregs"}, file);
  EXPECT_THAT(text, HasSubstr("XMM0:0x1111000000000000  XMM0:0x1111000000000001  XMM1:0x1111000000000002"));
  EXPECT_THAT(text, HasSubstr("XMM15:0x111100000000001e XMM15:0x111100000000001f"));
  EXPECT_EQ(script({"-F", "ip,iregs,uregs"}, file), text);
}

TEST(Script, ShowsTheRegistersOfSimdSamplingInBothForms) {
  const ScratchDirectory scratch;
  const std::string file = scratch.file("perf.data");
  perf::Attr attr;
  attr.sample_type = perf::sample::REGS_INTR | perf::sample::REGS_USER;
  attr.sample_simd_regs_enabled = attr.sample_simd_pred_reg_qwords = 1;
  attr.sample_simd_vec_reg_qwords = 8;
  attr.sample_regs_intr = 1 | bit(24) | bit(40);
  attr.sample_simd_vec_reg_intr = 1;
  attr.sample_simd_vec_reg_user = bit(31);
  attr.sample_simd_pred_reg_user = 2;
  const std::string expected =
      "           401000 ABI:6    AX:0xa   R16:0x1111000000000108   SSP:0x7fff0000   ZMM0:0x"
      "1111000000000043111100000000004211110000000000411111000000000040"
      "1111000000000021111100000000002011110000000000011111000000000000 ABI:6  ZMM31:0x"
      "11110000000000ff11110000000000fe11110000000000fd11110000000000fc"
      "11110000000000fb11110000000000fa11110000000000f911110000000000f8    K1:0x1111000000000101\n";
  for (const perf::SimdAbi simd : {perf::SimdAbi::series_v7, perf::SimdAbi::merged}) {
    write_registers(file, attr, simd);
    EXPECT_EQ(script({"-F", "ip,iregs,isimd,uregs,usimd"}, file), expected);
    const auto json = parse_json(script({"--json"}, file)).at(0);
    EXPECT_EQ(json.at("iregs").at("SSP"), "0x7fff0000");
    EXPECT_EQ(json.at("usimd").at("K1"), "0x1111000000000101");
    EXPECT_EQ(json.at("isimd").size(), 1u);
  }
}

TEST(RecordCommand, ListsTheRegistersThatACpuHas) {
  const Output out = run({pmusim(), "record", "--intr-simd=?", "--model", "haswell"});
  EXPECT_EQ(out.status, 0) << out.err;
  EXPECT_THAT(out.out, HasSubstr("On Haswell"));
  EXPECT_THAT(out.out, HasSubstr("ZMM0 to ZMM31"));
  EXPECT_THAT(out.out, HasSubstr("no: "));
}

TEST(RecordCommand, RefusesRegisterClassesThatItDoesNotKnow) {
  const Output out = run({pmusim(), "record", "--intr-simd", "zmm:0", trace()});
  EXPECT_EQ(out.status, 2);
  EXPECT_EQ(out.err, "pmusim: 'zmm:0': the mask has to name some of ZMM0 to ZMM31, within 0xffffffff\n");
}

}  // namespace
}  // namespace pmusim::test
