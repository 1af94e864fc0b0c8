// SPDX-License-Identifier: MIT
#include <pybind11/stl.h>

#include "cpu.h"

namespace pmusim::python {

namespace {

constexpr std::pair<const char*, int> causes_known[] = {{"overflow", PMUSIM_CAUSE_OVERFLOW},
                                                        {"spurious", PMUSIM_CAUSE_SPURIOUS}};

/// One run, for as long as its scenario runs.
class Run {
 public:
  explicit Run(pmusim_run* run) : run_(run) {}
  Run(Run&&) = default;
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  void open() { check(pmusim_explore_open(handle())); }
  void close() { check(pmusim_explore_close(handle())); }
  void boundary() { check(pmusim_explore_boundary(handle())); }
  void fail(const std::string& sentence) { check(pmusim_explore_fail(handle(), sentence.c_str())); }
  void state(const py::buffer& memory) {
    auto kept = std::make_unique<const Buffer>(memory, Buffer::Access::read);
    check(pmusim_explore_state(handle(), kept->data(), kept->size()));
    state_.push_back(std::move(kept));
  }
  void end() { run_ = nullptr; }

 private:
  pmusim_run* handle() const {
    if (run_ == nullptr) throw Misuse("the run is over");
    return run_;
  }

  pmusim_run* run_;
  std::vector<std::unique_ptr<const Buffer>> state_;
};

/// A function of Python that is run for each placement of PMIs.
class Scenario {
 public:
  Scenario(py::object cpu, py::function function)
      : object_(std::move(cpu)), cpu_(py::cast<Cpu&>(object_)), function_(std::move(function)) {
    cpu_.require_no_arrays();
  }

  template <class Search>
  pmusim_explore_report search(Search search_with) {
    pmusim_explore_report report{};
    const Cpu::Exploration exploration(cpu_);
    const int status = search_with(cpu_.handle(), call, this, &report);
    cpu_.rethrow();
    check(status);
    return report;
  }

 private:
  /// What a scenario raises beside AssertionError ends the search.
  static void call(pmusim_cpu*, pmusim_run* run, void* context) {
    auto& self = *static_cast<Scenario*>(context);
    const py::object made = py::cast(Run(run));
    self.cpu_.enter([&] { self.assert_in(made); });
    if (self.cpu_.has_raised()) pmusim_explore_fail(run, "an exception");
    py::cast<Run&>(made).end();
  }
  void assert_in(const py::object& run) {
    try {
      function_(object_, run);
    } catch (py::error_already_set& error) {
      if (!error.matches(PyExc_AssertionError)) throw;
      const auto sentence = py::cast<std::string>(py::str(error.value()));
      py::cast<Run&>(run).fail(sentence.empty() ? "an assertion does not hold" : sentence);
    }
  }

  py::object object_;
  Cpu& cpu_;
  py::function function_;
};

pmusim_explore_report explore(const py::object& cpu, const py::function& scenario, uint64_t most_runs,
                              uint32_t most_pmis, const std::vector<std::string>& causes,
                              uint32_t greatest_delay) {
  pmusim_explore_options options{.most_runs = most_runs,
                                 .most_pmis = most_pmis,
                                 .causes = 0,
                                 .greatest_delay = greatest_delay,
                                 .reserved = 0};
  for (const std::string& cause : causes)
    options.causes |= static_cast<uint32_t>(number_of(causes_known, cause, "cause"));
  return Scenario(cpu, scenario).search([&](auto... arguments) {
    const auto [handle, call, context, report] = std::tuple(arguments...);
    return pmusim_explore(handle, call, context, &options, report);
  });
}

pmusim_explore_report explore_replay(const py::object& cpu, const py::function& scenario,
                                     const std::string& seed) {
  return Scenario(cpu, scenario).search([&](auto... arguments) {
    const auto [handle, call, context, report] = std::tuple(arguments...);
    return pmusim_explore_replay(handle, call, context, seed.c_str(), report);
  });
}

}  // namespace

void add_explore(py::module_& module) {
  using namespace py::literals;
  using Report = pmusim_explore_report;
  Class<Run>(module, "Run")
      .def("open", &Run::open)
      .def("close", &Run::close)
      .def("boundary", &Run::boundary)
      .def("fail", &Run::fail, "sentence"_a)
      .def("state", &Run::state, "memory"_a)
      .def("__repr__", [](const Run&) { return "<pmusim.Run>"; });
  Class<Report>(module, "Report")
      .get("runs", [](const Report& r) { return r.runs; })
      .get("boundaries", [](const Report& r) { return r.boundaries; })
      .get("merged", [](const Report& r) { return r.merged; })
      .get("complete", [](const Report& r) { return r.complete != 0; })
      .get("found", [](const Report& r) { return r.found != 0; })
      .get("seed", [](const Report& r) { return std::string(r.seed); })
      .get("text", [](const Report& r) { return std::string(r.text); })
      .def("__repr__", [](const Report& r) {
        return "<pmusim.Report: " + std::to_string(r.runs) + " runs, " +
               (r.found != 0 ? "found " + std::string(r.seed) : "nothing found") + ">";
      });
  module.def("explore", &explore, doc("explore"), "cpu"_a, "scenario"_a, py::kw_only(),
             "most_runs"_a = 1000000, "most_pmis"_a = 1, "causes"_a = py::make_tuple("overflow"),
             "greatest_delay"_a = 0);
  module.def("explore_replay", &explore_replay, doc("explore_replay"), "cpu"_a, "scenario"_a, "seed"_a);
}

}  // namespace pmusim::python
