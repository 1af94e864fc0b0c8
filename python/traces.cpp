// SPDX-License-Identifier: MIT
#include <pybind11/stl.h>

#include <string>

#include "module.h"
#include "pmusim/session/sample.h"
#include "pmusim/session/stat.h"
#include "pmusim/trace/reader.h"

namespace pmusim::python {

namespace {

template <class T>
T take(Result<T, Error> result) {
  if (!result.ok()) throw Misuse(result.error().message);
  return std::move(result).value();
}

Session open(const std::string& path, const std::string& model) {
  return take(Session::open(path, {.model = take(find_cpu_model(model))}));
}

py::dict trace(const std::string& path) {
  using namespace py::literals;
  const trace::Reader reader = take(trace::Reader::open(path));
  const trace::Contents& contents = reader.contents();
  return py::dict("instructions"_a = reader.instruction_count(), "bytes"_a = reader.file_bytes(),
                  "addresses"_a = contents.addresses, "registers"_a = contents.registers,
                  "extended"_a = contents.extended);
}

py::dict count(const std::string& path, const std::string& events, const std::string& model) {
  using namespace py::literals;
  Session session = open(path, model);
  const auto list = take(events::parse_events(events, session.model()));
  const StatReport report = take(stat(session, {.events = list}));
  std::vector<std::string> names;
  std::vector<u64> counts;
  for (const EventTotal& total : report.events) {
    names.push_back(total.name);
    counts.push_back(total.value());
  }
  return py::dict("event"_a = names, "count"_a = column(counts), "instructions"_a = report.instructions,
                  "elapsed_ns"_a = report.elapsed_ns);
}

/// Samples, and the branches of all of them with the number of their sample.
struct Columns {
  std::vector<std::string> event;
  std::vector<u64> ip, time, address, period, weight, data_source;
  std::vector<u32> pid, tid, branch_sample, branch_cycles;
  std::vector<u64> branch_from, branch_to;
  std::vector<u8> branch_mispredicted;

  void add(const Sample& sample) {
    const perfdata::SampleRecord& record = sample.sample;
    for (const perf::BranchEntry& branch : record.branches) {
      branch_sample.push_back(static_cast<u32>(ip.size()));
      branch_from.push_back(branch.from);
      branch_to.push_back(branch.to);
      branch_cycles.push_back(static_cast<u32>(branch.cycles));
      branch_mispredicted.push_back(static_cast<u8>(branch.mispred));
    }
    event.push_back(sample.event.name);
    ip.push_back(record.ip);
    time.push_back(record.who.time);
    address.push_back(record.address);
    period.push_back(record.period);
    weight.push_back(record.weight);
    data_source.push_back(record.data_source);
    pid.push_back(record.who.pid);
    tid.push_back(record.who.tid);
  }

  py::dict table() const {
    using namespace py::literals;
    return py::dict("event"_a = event, "ip"_a = column(ip), "time"_a = column(time),
                    "address"_a = column(address), "period"_a = column(period), "weight"_a = column(weight),
                    "data_source"_a = column(data_source), "pid"_a = column(pid), "tid"_a = column(tid),
                    "branch_sample"_a = column(branch_sample), "branch_from"_a = column(branch_from),
                    "branch_to"_a = column(branch_to), "branch_cycles"_a = column(branch_cycles),
                    "branch_mispredicted"_a = column(branch_mispredicted));
  }
};

py::dict samples(const std::string& path, const std::string& events, const std::string& model, u64 period,
                 const std::string& branches, bool addresses) {
  Session session = open(path, model);
  RecordOptions options{.events = take(events::parse_events(events, session.model())), .period = period};
  if (branches == "any")
    options.branch_sample_type = perf::branch::ANY;
  else if (!branches.empty())
    throw Misuse("no branch filter '" + branches + "': expected 'any' or ''");
  options.addresses = addresses;
  const Samples all = take(sample(session, options));
  Columns columns;
  for (const Sample& one : all) columns.add(one);
  return columns.table();
}

}  // namespace

void add_traces(py::module_& module) {
  using namespace py::literals;
  module.def("trace", &trace, "path"_a, "What a recorded program holds.");
  module.def("stat", &count, "path"_a, "events"_a, "model"_a = "skylake",
             "What `pmusim stat` counts, as columns: event, count.");
  module.def("sample", &samples, "path"_a, "events"_a, "model"_a = "skylake", "period"_a = 10007,
             "branches"_a = "", "addresses"_a = false,
             "What `pmusim record` samples, as columns: event, ip, time, ...");
}

}  // namespace pmusim::python
