#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "pmusim/perf/records.h"
#include "pmusim/perfdata/writer.h"
#include "tests/end_to_end/command.h"

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

std::string trace() { return recorded("branches", {}, "gpr"); }

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

/// Words that no sample of the recording above has.
TEST(Script, SaysDataSourcesInPerfsWords) {
  const ScratchDirectory scratch;
  const std::string file = scratch.file("perf.data");
  std::vector<u64> sources = {0, 0x1e05080021, 0x68100142, 0x83600000040, 0x6000001c0};
  for (unsigned n = 0; n < 45; ++n) sources.push_back(bit(n));
  for (u64 number = 0; number < 32; ++number) sources.push_back(number << 33 | 0x40);
  for (u64 bits = 0; bits < 128; ++bits) sources.push_back(bits << 26 | (bits & 31) << 19 | (bits & 7) << 40);
  perf::Event event;
  event.attr.type = static_cast<u32>(perf::EventType::raw);
  event.attr.sample_type = perf::sample::IP | perf::sample::DATA_SRC;
  event.layout = perf::make_sample_layout(event.attr);
  auto writer = perfdata::Writer::create(file, {});
  ASSERT_TRUE(writer && writer->add_event(event.attr, "loads", {}));
  for (const u64 source : sources) {
    perf::SampleData data;
    data.data_source = source;
    const perf::Sample sample{event, data, {}, {}};
    std::vector<std::byte> bytes(perf::sample_size(sample).bytes);
    perf::write_sample(bytes.data(), sample, perf::sample_size(sample));
    ASSERT_TRUE(writer->write(bytes));
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
  EXPECT_EQ(absent.err, "pmusim: -F brstack: the samples of event 'cycles:upp' do not have it\n");
  const Output unknown = run({pmusim(), "script", "-i", file, "-F", "iresg"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("iregs"));
  const Output none = run({pmusim(), "script", "-i", scratch.file("nothing")});
  EXPECT_EQ(none.status, 2);
}

TEST(Script, JsonHasAllThatEachSampleHas) {
  const ScratchDirectory scratch;
  const std::string file = scratch.file("perf.data");
  record({"--model", "goldencove", "-e", "cycles:upp", "-c", "9001", "-b", "-I", "ax,ip"}, file, trace());
  const auto samples = nlohmann::json::parse(script({"--json"}, file));
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

}  // namespace
}  // namespace pmusim::test
