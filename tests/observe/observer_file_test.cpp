// SPDX-License-Identifier: MIT
#include "pmusim/observe/observer_file.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "pmusim/pmu/pmu.h"
#include "scenario/scenario.h"

namespace pmusim {
namespace {

using testing::HasSubstr;

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A name for a file that is gone with the object.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / (name + std::to_string(::getpid()))) {}
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() {
    std::error_code gone;
    std::filesystem::remove(path_, gone);
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

std::string log_of(const std::string& scenario, observe::AccessNote note = {}) {
  const ScratchFile file("hardware_log");
  auto log = observe::create_hardware_log(file.path(), std::move(note));
  EXPECT_TRUE(log.ok());
  const auto result = scenario::run(scenario, "x.pmu", log->get());
  EXPECT_TRUE(result.ok() && !result->has_value()) << (result.ok() ? (*result)->found : "");
  EXPECT_TRUE((*log)->finish().ok());
  return contents(file.path());
}

TEST(HardwareLog, ShowsWhatAReaderOfTheScenarioExpects) {
  const std::filesystem::path here = PMUSIM_SOURCE_DIR "/tests/observe";
  EXPECT_EQ(log_of(contents(here / "hardware-log.pmu")), contents(here / "hardware-log.txt"));
}

TEST(HardwareLog, NamesTheAcrReloadThatSetsNoStatusBit) {
  const std::string log = log_of(
      "model skymont\n"
      "policy pmi_skid_cycles 0\n"
      "wrmsr 0x190a 4\n"           // GP2 reloads itself
      "wrmsr 0x190b 0xfffffffe\n"  // to -2
      "wrmsr 0x1908 0xffffffffffff\n"
      "wrmsr 0x1909 0x4300c0\n"
      "wrmsr IA32_PERF_GLOBAL_CTRL 4\n"
      "retire\n"
      "rdmsr IA32_PERF_GLOBAL_STATUS = 0\n");
  EXPECT_THAT(log, HasSubstr("\n1 overflow counter=gp2 status=no pmi=no record=no\n"
                             "1 reload counter=gp2 value=0xfffffffffffe by=acr\n"));
}

TEST(HardwareLog, ShowsRegistersThatNobodyHasByAddress) {
  EXPECT_THAT(
      log_of("model skylake\nrdmsr 0x1900 = #GP\nrdpmc 77 = #GP\n"),
      HasSubstr("0 fault access=rdmsr register=0x1900 fault=#GP why=\"rdmsr IA32_PMC_GP0_CTR "
                "(1900H): #GP: Skylake has no such register\"\n"
                "0 fault access=rdpmc ecx=0x4d fault=#GP why=\"rdpmc ECX 4DH: #GP: Skylake has no such "
                "counter, but 4 general-purpose and 3 fixed ones\"\n"));
}

TEST(HardwareLog, SaysWhichBitsOfWhichFieldsAreReserved) {
  EXPECT_THAT(
      log_of("model skylake\nwrmsr IA32_PERF_GLOBAL_CTRL 0x30 = #GP\nxsetbv 0 5 = #GP\n"),
      HasSubstr("why=\"wrmsr IA32_PERF_GLOBAL_CTRL (38FH) = 0x30: #GP: bits 5:4 are reserved on Skylake "
                "(enable PMCn (bit n): bits 3:0)\"\n"
                "0 fault access=xsetbv ecx=0x0 value=0x5 fault=#GP why=\"xsetbv ECX 0H = 0x5: #GP: AVX "
                "(bit 2) needs SSE (bit 1)\"\n"));
}

TEST(HardwareLog, SaysWhereAStoreOfPebsOrBtsIsNotMapped) {
  const std::string pebs =
      "policy pmi_skid_cycles 0\npolicy pebs_arm_cycles 0\n"
      "wrmsr IA32_PERFEVTSEL0 0x4300c0\nwrmsr IA32_PMC0 -1\nwrmsr IA32_PEBS_ENABLE 1\n"
      "wrmsr IA32_PERF_GLOBAL_CTRL 1\nretire 3\n";
  EXPECT_THAT(log_of("model skylake\n" + pebs), HasSubstr("outcome=no-area\n"));
  EXPECT_THAT(log_of("model skylake\n" + pebs.substr(0, pebs.find("wrmsr")) + "wrmsr IA32_DS_AREA 0x10000\n" +
                     pebs.substr(pebs.find("wrmsr"))),
              HasSubstr("outcome=unmapped address=0x10000\n"));
  EXPECT_THAT(log_of("model skylake\nwrmsr IA32_DS_AREA 0x10000\nwrmsr IA32_DEBUGCTL 0xc0\n"
                     "retire direct-jump to 0x2000\n"),
              HasSubstr("written=no outcome=unmapped address=0x10000\n"));
  EXPECT_THAT(log_of("model skylake\nmemory 0x10000 0x1000\nwrite 0x10000 0x70000 0x70000 0x71000 0x71000\n"
                     "wrmsr IA32_DS_AREA 0x10000\nwrmsr IA32_DEBUGCTL 0xc0\nretire direct-jump to 0x2000\n"),
              HasSubstr("written=no outcome=unmapped address=0x70000\n"));
}

TEST(HardwareLog, HasANoteBehindAccessesAlone) {
  unsigned accesses = 0;
  EXPECT_THAT(log_of("model skylake\nwrmsr IA32_FIXED_CTR_CTRL 2\nwrmsr IA32_FIXED_CTR0 0xffffffffffff\n"
                     "wrmsr IA32_PERF_GLOBAL_CTRL 0x100000000\nretire\nrdpmc 77 = #GP\n",
                     [&] { return ++accesses == 1 ? "" : "nr=" + std::to_string(accesses); }),
              testing::AllOf(HasSubstr("IA32_FIXED_CTR_CTRL value=0x2\n"),
                             HasSubstr("IA32_FIXED_CTR0 value=0xffffffffffff nr=2\n"),
                             HasSubstr("IA32_PERF_GLOBAL_CTRL value=0x100000000 nr=3\n"),
                             HasSubstr("record=no\n"), HasSubstr("fixed ones\" nr=4\n")));
}

TEST(HardwareLog, KnowsTheRegistersAfterAReset) {
  EXPECT_THAT(log_of("model skylake\nreset\nwrmsr IA32_PMC0 5\n"),
              HasSubstr("\n0 write register=IA32_PMC0 value=0x5\n"));
}

TEST(HardwareLog, IsNoFileUntilItIsFinished) {
  const ScratchFile file("unfinished_log");
  { const auto log = observe::create_hardware_log(file.path()); }
  EXPECT_FALSE(std::filesystem::exists(file.path()));
}

TEST(HardwareLog, IsASentenceWhereThereIsNoDirectory) {
  const auto log = observe::create_hardware_log("/nowhere/at/all.log");
  ASSERT_FALSE(log.ok());
  EXPECT_THAT(log.error().message, HasSubstr("/nowhere/at/all.log"));
}

TEST(ObserverGroup, NotifiesEachMember) {
  struct Writes : Observer {
    unsigned count = 0, attached = 0;
    void on_attach(const Pmu&) override { ++attached; }
    void on_register_write(const observed::RegisterWrite&) override { ++count; }
  };
  Writes first, second;
  observe::ObserverGroup both;
  both.add(first);
  both.add(second);
  Pmu pmu(*find_cpu_model("skylake"));
  pmu.set_observer(&both);
  EXPECT_EQ(pmu.wrmsr(msr::PMC0, 1), Fault::none);
  EXPECT_EQ(first.count, 1u);
  EXPECT_EQ(second.count, 1u);
  EXPECT_EQ(first.attached + second.attached, 2u);
}

}  // namespace
}  // namespace pmusim
