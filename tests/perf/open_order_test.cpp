// SPDX-License-Identifier: MIT
#include <functional>
#include <set>

#include "tests/perf/core_fixture.h"

/// Every stage of docs/perf-abi-notes.md, "Order of the checks", refuses what it should, and earlier stages
/// win over later ones.
namespace pmusim::perf {
namespace {

struct Request {
  Attr attr;
  i32 pid = 100, cpu = -1;
  u64 flags = 0;
  enum class Leader : u8 { none, plain, inherited, backward, foreign } leader = Leader::none;
  // A release that knows all fields.
  Limits limits{.paranoid = 2, .perfmon_capable = false, .kernel = Kernel::v7_1_simd};
  PmuCapabilities pmu;
};

/// One way to fail. Two of them can be combined when they touch nothing in common.
struct Violation {
  const char* stage;
  int error_number;
  std::string message;  ///< how the refusal starts
  std::set<std::string> touches;
  std::function<void(Request&)> apply;
};

using Leader = Request::Leader;

std::vector<Violation> attribute_stages() {
  return {
      {"B1", EINVAL, "flags: unknown", {"flags"}, [](Request& r) { r.flags = 0x10; }},
      {"A2", EINVAL, "attr: reserved", {}, [](Request& r) { r.attr.reserved_1 = 1; }},
      {"A3", EINVAL, "sample_type: unknown", {}, [](Request& r) { r.attr.sample_type |= bit(25); }},
      {"A4", EINVAL, "read_format: unknown", {}, [](Request& r) { r.attr.read_format |= bit(5); }},
      {"A5",
       EINVAL,
       "branch_sample_type: unknown",
       {"branch"},
       [](Request& r) {
         r.attr.sample_type |= sample::BRANCH_STACK;
         r.attr.branch_sample_type = bit(20);
       }},
      {"A6",
       EINVAL,
       "branch_sample_type: names privilege",
       {"branch"},
       [](Request& r) {
         r.attr.sample_type |= sample::BRANCH_STACK;
         r.attr.branch_sample_type = branch::USER;
       }},
      {"A8",
       EACCES,
       "branch_sample_type: kernel",
       {"branch", "rights"},
       [](Request& r) {
         r.attr.sample_type |= sample::BRANCH_STACK;
         r.attr.branch_sample_type = branch::KERNEL | branch::ANY;
       }},
      {"A9",
       EINVAL,
       "sample_regs_user: empty",
       {"registers"},
       [](Request& r) { r.attr.sample_type |= sample::REGS_USER; }},
      {"A10",
       EINVAL,
       "sample_stack_user",
       {},
       [](Request& r) {
         r.attr.sample_type |= sample::STACK_USER;
         r.attr.sample_stack_user = 12;
       }},
      {"A12",
       EINVAL,
       "sample_regs_intr: no registers",
       {"registers"},
       [](Request& r) {
         r.attr.sample_type |= sample::REGS_INTR;
         r.attr.sample_regs_intr = bit(12);
       }},
      {"A13",
       EINVAL,
       "sample_type: CGROUP",
       {},
       [](Request& r) {
         r.attr.sample_type |= sample::CGROUP;
         r.limits.cgroups = false;
       }},
      {"A14",
       EINVAL,
       "sample_type: WEIGHT",
       {},
       [](Request& r) { r.attr.sample_type |= sample::WEIGHT | sample::WEIGHT_STRUCT; }},
      {"A15", EINVAL, "inherit_thread", {"inherit"}, [](Request& r) { r.attr.inherit_thread = 1; }},
      {"A16",
       EINVAL,
       "remove_on_exec: excludes",
       {"exec"},
       [](Request& r) { r.attr.remove_on_exec = r.attr.enable_on_exec = 1; }},
      {"A17", EINVAL, "sigtrap: needs remove_on_exec", {"exec"}, [](Request& r) { r.attr.sigtrap = 1; }},
  };
}

std::vector<Violation> system_call_stages() {
  return {
      {"B5", EACCES, "exclude_kernel is 0", {"rights"}, [](Request& r) { r.attr.exclude_kernel = 0; }},
      {"B6", EACCES, "namespaces", {"rights"}, [](Request& r) { r.attr.namespaces = 1; }},
      {"B7", EINVAL, "sample_period: bit 63", {}, [](Request& r) { r.attr.sample_period = bit(63); }},
      {"B8",
       EACCES,
       "sample_type: PHYS_ADDR",
       {"rights"},
       [](Request& r) { r.attr.sample_type |= sample::PHYS_ADDR; }},
      {"B10", EINVAL, "PID_CGROUP", {"flags", "cpu"}, [](Request& r) { r.flags = open_flag::PID_CGROUP; }},
      {"B12",
       EBADF,
       "group_fd: is no perf event",
       {"leader"},
       [](Request& r) { r.leader = Leader::foreign; }},
      {"B13", ESRCH, "pid: there is no task", {"pid"}, [](Request& r) { r.pid = 999; }},
      {"B14",
       EINVAL,
       "inherit: differs",
       {"leader", "inherit", "pid"},
       [](Request& r) { r.leader = Leader::inherited; }},
  };
}

std::vector<Violation> allocation_stages() {
  return {
      {"C1", EINVAL, "cpu:", {"cpu"}, [](Request& r) { r.cpu = 9999; }},
      {"C2",
       EINVAL,
       "sigtrap: needs a task",
       {"pid", "cpu", "exec"},
       [](Request& r) {
         r.attr.sigtrap = r.attr.remove_on_exec = 1;
         r.pid = -1;
         r.cpu = 0;
       }},
      {"C3",
       EINVAL,
       "sample_type: READ of an inherited",
       {"inherit"},
       [](Request& r) {
         r.attr.inherit = 1;
         r.attr.sample_type |= sample::READ;
       }},
      {"C4", ENOENT, "type: no PMU", {}, [](Request& r) { r.attr.type = 9; }},
      {"C5", EINVAL, "config: bad", {}, [](Request& r) { r.attr.config = 0xbad; }},
      {"C6",
       EOPNOTSUPP,
       "sample_simd_regs_enabled",
       {"registers"},
       [](Request& r) {
         r.attr.sample_type |= sample::REGS_INTR;
         r.attr.sample_simd_regs_enabled = 1;
       }},
      {"C7",
       EOPNOTSUPP,
       "sample_regs: PMU",
       {"registers"},
       [](Request& r) { r.attr.sample_regs_intr = bit(40); }},
      {"C10", EOPNOTSUPP, "aux_output", {"aux"}, [](Request& r) { r.attr.aux_output = 1; }},
      {"C11", EINVAL, "aux_action: pause", {"aux"}, [](Request& r) { r.attr.aux_action = 6; }},
      {"C12", EOPNOTSUPP, "aux_action: PMU", {"aux"}, [](Request& r) { r.attr.aux_action = 1; }},
      {"C13",
       EBADF,
       "PID_CGROUP: there is no cgroup",
       {"pid", "cpu", "flags"},
       [](Request& r) {
         r.pid = 999;
         r.cpu = 0;
         r.flags |= open_flag::PID_CGROUP;
       }},
      {"C14",
       EOVERFLOW,
       "sample_max_stack",
       {},
       [](Request& r) {
         r.attr.sample_type |= sample::CALLCHAIN;
         r.attr.exclude_callchain_kernel = 1;
         r.attr.sample_max_stack = 128;
       }},
      {"B16", EOPNOTSUPP, "sample_period: PMU", {}, [](Request& r) { r.pmu.interrupts = false; }},
      {"B17",
       EINVAL,
       "clockid",
       {},
       [](Request& r) {
         r.attr.use_clockid = 1;
         r.attr.clockid = 7;
       }},
      {"B19",
       EACCES,
       "pid -1",
       {"pid", "cpu"},
       [](Request& r) {
         r.pid = -1;
         r.cpu = 0;
       }},
      {"B20",
       ENODEV,
       "cpu: 2 is offline",
       {"pid", "cpu", "rights"},
       [](Request& r) {
         r.pid = -1;
         r.cpu = 2;
         r.limits.paranoid = 0;
       }},
      {"B21",
       EINVAL,
       "exclusive, pinned",
       {"leader", "inherit"},
       [](Request& r) {
         r.leader = Leader::plain;
         r.attr.pinned = 1;
       }},
      {"B22",
       EINVAL,
       "SET_OUTPUT: to an event that writes",
       {"leader", "flags"},
       [](Request& r) {
         r.leader = Leader::backward;
         r.flags = open_flag::OUTPUT | open_flag::NO_GROUP;
       }},
      {"B24", EINVAL, "aux_output, aux_action", {"aux"}, [](Request& r) { r.attr.aux_sample_size = 8; }},
  };
}

std::vector<Violation> all_stages() {
  auto all = attribute_stages();
  for (auto* more : {&system_call_stages, &allocation_stages})
    for (auto& violation : more()) all.push_back(violation);
  return all;
}

Request legal_request() {
  Request request;
  request.attr.type = static_cast<u32>(EventType::raw);
  request.attr.sample_period = 1000;
  request.attr.sample_type = sample::IP;
  request.attr.exclude_kernel = request.attr.exclude_hv = 1;
  return request;
}

/// Opens on a system of its own; the leaders there are legal.
Result<Done, KernelError> try_open(const Request& request) {
  FakeDriver driver;
  CoreOptions options;
  options.cpus = 4;
  options.limits = request.limits;
  const auto made = PerfCore::create(driver, options);
  PerfCore& core = *made;
  core.task_started(100, 100, "task");
  core.cpu(options.cpu).switch_to(100);
  Event foreign;
  Event* leader = nullptr;
  Attr leader_attr = legal_request().attr;
  leader_attr.inherit = request.leader == Leader::inherited;
  leader_attr.write_backward = request.leader == Leader::backward;
  if (request.leader == Leader::foreign)
    leader = &foreign;
  else if (request.leader != Leader::none)
    leader = *core.open(leader_attr, 100, -1);
  driver.capable = request.pmu;
  const auto event = core.open(request.attr, request.pid, request.cpu, leader, request.flags);
  if (!event) return Failure(event.error());
  return Done{};
}

TEST(OpenOrder, ALegalRequestIsAccepted) { EXPECT_TRUE(try_open(legal_request())); }

TEST(OpenOrder, EachStageRefusesWithItsErrno) {
  for (const Violation& violation : all_stages()) {
    Request request = legal_request();
    violation.apply(request);
    const auto outcome = try_open(request);
    ASSERT_FALSE(outcome) << violation.stage;
    EXPECT_EQ(outcome.error().error_number, violation.error_number) << violation.stage;
    EXPECT_TRUE(outcome.error().message.starts_with(violation.message))
        << violation.stage << ": " << outcome.error().message;
  }
}

bool combine(const Violation& a, const Violation& b) {
  return std::ranges::none_of(a.touches, [&](const auto& slot) { return b.touches.contains(slot); });
}

TEST(OpenOrder, OfTwoViolationsTheEarlierStageAnswers) {
  const auto stages = all_stages();
  int pairs = 0;
  for (std::size_t i = 0; i < stages.size(); ++i)
    for (std::size_t j = i + 1; j < stages.size(); ++j) {
      if (!combine(stages[i], stages[j])) continue;
      Request request = legal_request();
      stages[j].apply(request);
      stages[i].apply(request);
      const auto outcome = try_open(request);
      ASSERT_FALSE(outcome);
      EXPECT_TRUE(outcome.error().message.starts_with(stages[i].message))
          << stages[i].stage << " and " << stages[j].stage << ": " << outcome.error().message;
      ++pairs;
    }
  EXPECT_GT(pairs, 600);
}

class OpenOrderOfBytes : public CoreTest {
 protected:
  /// The errno for an attribute in memory, with reserved bits set (A2).
  int open_bytes(u32 size, u64 flags) {
    Attr attr = counting();
    attr.size = size;
    attr.reserved_2 = 1;
    const auto event = core.open(std::as_writable_bytes(std::span(&attr, 1)), 100, -1, nullptr, flags);
    return event ? 0 : event.error().error_number;
  }
};

TEST_F(OpenOrderOfBytes, FlagsThenSizeThenReservedBits) {  // B1, A1, A2
  EXPECT_EQ(open_bytes(5000, 0x10), EINVAL);
  EXPECT_EQ(open_bytes(5000, 0), E2BIG);
  EXPECT_EQ(open_bytes(200, 0), EFAULT);
  EXPECT_EQ(open_bytes(sizeof(Attr), 0), EINVAL);
}

class OpenOrderOfGroups : public CoreTest {};

TEST_F(OpenOrderOfGroups, AnExitedLeaderThenAMissingTask) {  // B12, B13
  core.fork(100, 200, 200);
  Event& leader = open(counting(), nullptr, 200);
  core.exit(200);
  EXPECT_EQ(core.open(counting(), 999, -1, &leader).error().error_number, ENODEV);
}

TEST_F(OpenOrderOfGroups, MembersCountTheTaskAndTheCpuOfTheirLeader) {  // B21
  core.fork(100, 200, 200);
  Event& leader = open(counting());
  const auto error_of = [&](i32 pid, i32 number) {
    return core.open(counting(), pid, number, &leader).error().message;
  };
  EXPECT_EQ(error_of(200, -1), "group_fd: counts another task or CPU");
  EXPECT_EQ(error_of(100, 0), "group_fd: counts another task or CPU");
  EXPECT_EQ(error_of(-1, 0), "group_fd: counts another task or CPU");
}

TEST_F(OpenOrderOfGroups, OnlyALeaderIsPinnedOrExclusive) {  // B21
  Event& leader = open(counting());
  Attr pinned = counting(), exclusive = counting();
  pinned.pinned = 1;
  exclusive.exclusive = 1;
  for (const Attr& attr : {pinned, exclusive}) {
    EXPECT_EQ(core.open(attr, 100, -1, &leader).error().message,
              "exclusive, pinned: only a group leader can be");
    EXPECT_TRUE(core.open(attr, 100, -1).ok());
  }
}

TEST_F(OpenOrderOfGroups, GroupRulesThenReadSizeThenAux) {  // B21, B23, B24
  Attr attr = counting();
  attr.read_format = read_format::ALL;
  Event& leader = open(attr);
  for (int i = 0; i < 680; ++i) open(attr, &leader);
  Attr last = attr;
  last.aux_sample_size = 8;
  EXPECT_EQ(core.open(last, 100, -1, &leader).error().error_number, E2BIG);
  last.pinned = 1;
  EXPECT_EQ(core.open(last, 100, -1, &leader).error().error_number, EINVAL);
}

// Linux, perf_event_open: members of a group have the clock of their leader.
TEST_F(OpenOrderOfGroups, MembersHaveTheClockOfTheirLeader) {
  constexpr i32 monotonic = 1, monotonic_raw = 4;
  Attr attr = counting();
  attr.use_clockid = 1;
  attr.clockid = monotonic;
  Event& leader = open(attr);
  EXPECT_TRUE(core.open(attr, 100, -1, &leader).ok());
  attr.clockid = monotonic_raw;
  EXPECT_EQ(core.open(attr, 100, -1, &leader).error().error_number, EINVAL);
  attr.use_clockid = 0;
  EXPECT_EQ(core.open(attr, 100, -1, &leader).error().error_number, EINVAL);
  // Without a clock of its own nobody looks at the number.
  Attr plain = counting();
  Event& plain_leader = open(plain);
  plain.clockid = 0;
  EXPECT_TRUE(core.open(plain, 100, -1, &plain_leader).ok());
}

}  // namespace
}  // namespace pmusim::perf
