// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/end_to_end/command.h"

/// The real perf reads memory samples of a recorded program, from records of every format.
namespace pmusim::test {
namespace {

using testing::HasSubstr;
using testing::Not;

struct MemoryProfile {
  std::string format, model;
  std::string events;  ///< as `perf mem record` asks for them on such a CPU
};

void PrintTo(const MemoryProfile& profile, std::ostream* out) { *out << profile.format; }

class MemorySamples : public testing::TestWithParam<MemoryProfile> {
 protected:
  MemorySamples() {
    const std::string trace = recorded("mispredict", {"1024", "2"}, "gpr");
    const Output output = run({pmusim(), "record", "--model", GetParam().model, "-e", GetParam().events, "-d",
                               "-W", "-c", "211", "-o", file_, trace});
    EXPECT_EQ(output.status, 0) << output.err;
  }

  std::string perf(std::vector<std::string> arguments) const {
    const Output output = run_perf(std::move(arguments), file_);
    EXPECT_EQ(output.status, 0) << output.err;
    return output.out;
  }

 private:
  ScratchDirectory scratch_;
  std::string file_ = scratch_.file("perf.data");
};

/// Samples of loads in `perf script` output of event, addr, data_src and weight.
unsigned loads_with_everything(const std::string& script) {
  unsigned found = 0;
  for (const std::string& line : lines(script)) {
    std::istringstream words(line);
    std::string event;
    unsigned long long address = 0, source = 0;
    words >> event >> std::hex >> address >> source;
    const std::size_t last_bar = line.rfind('|');
    if (!words || last_bar == line.npos || line.find("|OP LOAD|") == line.npos) continue;
    std::istringstream after(line.substr(last_bar + 1));
    std::string blocked, of_block;
    unsigned long long weight = 0;
    after >> blocked >> of_block >> weight;
    found += address != 0 && source != 0 && weight != 0;
  }
  return found;
}

TEST_P(MemorySamples, ArriveInPerfScriptWithAddressSourceAndWeight) {
  const std::string script = perf({"script", "-F", "event,addr,data_src,weight"});
  if (GetParam().format == "format0") {  // its records have no memory fields
    EXPECT_THAT(script, HasSubstr("|LVL N/A"));
    return;
  }
  EXPECT_GT(loads_with_everything(script), 50u) << script.substr(0, 1000);
}

TEST_P(MemorySamples, ArriveInPerfMemReportWithTheLevelThatAnswered) {
  const std::string report = perf({"mem", "report", "--stdio"});
  if (GetParam().format == "format0") {
    EXPECT_THAT(report, HasSubstr("N/A"));
    return;
  }
  EXPECT_THAT(report, HasSubstr("L1 or L1 hit"));
  EXPECT_THAT(report, HasSubstr("rnd_state"));
}

constexpr const char* loads_and_stores = "cpu/mem-loads,ldlat=3/P,cpu/mem-stores/P";

INSTANTIATE_TEST_SUITE_P(
    Formats, MemorySamples,
    testing::Values(MemoryProfile{"format0", "penryn", "instructions:p"},
                    MemoryProfile{"format1", "nehalem", "cpu/mem-loads,ldlat=3/P"},
                    MemoryProfile{"format1store", "sandybridge", loads_and_stores},
                    MemoryProfile{"format2", "haswell", loads_and_stores},
                    MemoryProfile{"format3", "skylake", loads_and_stores},
                    MemoryProfile{"format4", "icelake", loads_and_stores},
                    MemoryProfile{"format4aux", "sapphirerapids",
                                  "{cpu/mem-loads-aux/,cpu/mem-loads,ldlat=3/}:P,cpu/mem-stores/P"},
                    MemoryProfile{"format5", "graniterapids", loads_and_stores},
                    MemoryProfile{"format5atom", "crestmont", loads_and_stores},
                    MemoryProfile{"format6", "lioncove", loads_and_stores},
                    MemoryProfile{"arch", "cougarcove", loads_and_stores}),
    [](const auto& profile) { return profile.param.format; });

TEST(MemoryRecording, OfGoldenCoveNeedsTheCompanionToKnowTheSource) {
  const ScratchDirectory scratch;
  const std::string trace = recorded("mispredict", {"1024", "2"}, "gpr");
  const Output output = run({pmusim(), "record", "--model", "sapphirerapids", "-e", "mem-loads:pp", "-d",
                             "-o", scratch.file("perf.data"), trace});
  EXPECT_EQ(output.status, 2);
  EXPECT_THAT(output.err, HasSubstr("mem-loads-aux"));
}

TEST(FrontEndLatency, IsCountedAndSampledByItsThreshold) {
  const ScratchDirectory scratch;
  const std::string trace = recorded("mispredict", {"1024", "2"}, "gpr"), file = scratch.file("perf.data");
  const Output counts =
      run({pmusim(), "stat", "--model", "skylake", "-e", "cpu/event=0xc6,umask=1,frontend=0x400106/", trace});
  EXPECT_EQ(counts.status, 0) << counts.err;
  const Output samples = run({pmusim(), "record", "--model", "icelake", "-e",
                              "frontend_retired.latency_ge_8:pp", "-c", "10", "-o", file, trace});
  EXPECT_EQ(samples.status, 0) << samples.err;
  EXPECT_THAT(samples.err, Not(HasSubstr("(0 samples)")));
}

}  // namespace
}  // namespace pmusim::test
