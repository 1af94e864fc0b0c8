// SPDX-License-Identifier: MIT
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <cstring>
#include <filesystem>
#include <span>

#include "module.h"
#include "pmusim/perfdata/reader.h"
#include "pmusim/session/record.h"
#include "pmusim/session/session.h"
#include "pmusim/session/stat.h"
#include "pmusim/trace/trace.h"

namespace pmusim::python {

namespace {

using perfdata::SampleRecord;

template <class T>
T take(Result<T, Error> result) {
  if (!result.ok()) throw Misuse(result.error().message);
  return std::move(result).value();
}

// --- columns

/// A field of samples, a column where an event samples any bit of sample_type.
template <class T>
struct Field {
  const char* name;
  u64 sample_type;
  T (*value)(const SampleRecord& sample);
};
constexpr u64 always = ~u64{0};

template <class T>
std::span<const Field<T>> fields_of();
template <>
std::span<const Field<u64>> fields_of() {
  static constexpr Field<u64> fields[] = {
      {"ip", perf::sample::IP, [](const SampleRecord& s) { return s.ip; }},
      {"time", perf::sample::TIME, [](const SampleRecord& s) { return s.who.time; }},
      {"period", always, [](const SampleRecord& s) { return s.period; }},
      {"address", perf::sample::ADDR, [](const SampleRecord& s) { return s.address; }},
      {"weight", perf::sample::WEIGHT | perf::sample::WEIGHT_STRUCT,
       [](const SampleRecord& s) { return s.weight; }},
      {"data_source", perf::sample::DATA_SRC, [](const SampleRecord& s) { return s.data_source; }},
      {"transaction", perf::sample::TRANSACTION, [](const SampleRecord& s) { return s.transaction; }},
      {"physical_address", perf::sample::PHYS_ADDR, [](const SampleRecord& s) { return s.physical_address; }},
      {"data_page_size", perf::sample::DATA_PAGE_SIZE,
       [](const SampleRecord& s) { return s.data_page_size; }},
      {"code_page_size", perf::sample::CODE_PAGE_SIZE,
       [](const SampleRecord& s) { return s.code_page_size; }},
      {"cgroup", perf::sample::CGROUP, [](const SampleRecord& s) { return s.cgroup; }}};
  return fields;
}
template <>
std::span<const Field<u32>> fields_of() {
  static constexpr Field<u32> fields[] = {
      {"pid", perf::sample::TID, [](const SampleRecord& s) { return s.who.pid; }},
      {"tid", perf::sample::TID, [](const SampleRecord& s) { return s.who.tid; }},
      {"cpu", perf::sample::CPU, [](const SampleRecord& s) { return s.who.cpu; }}};
  return fields;
}

/// The fields of one type.
template <class T>
class Fields {
 public:
  void add(const SampleRecord& sample) {
    for (std::size_t n = 0; n < columns_.size(); ++n) columns_[n].push_back(fields_of<T>()[n].value(sample));
  }
  void put(py::dict& columns, u64 sample_type) {
    for (std::size_t n = 0; n < columns_.size(); ++n) {
      const Field<T>& field = fields_of<T>()[n];
      if ((field.sample_type & sample_type) != 0) columns[field.name] = column(std::move(columns_[n]));
    }
  }

 private:
  std::vector<std::vector<T>> columns_ = std::vector<std::vector<T>>(fields_of<T>().size());
};

/// The branches of samples, by the number of the sample.
struct Branches {
  std::vector<u32> sample;
  std::vector<u64> from, to, counters;
  std::vector<u16> cycles;
  std::vector<u8> type, mispredicted, predicted, in_transaction, abort;

  void add(u32 number, const SampleRecord& record) {
    for (std::size_t n = 0; n < record.branches.size(); ++n) {
      const perf::BranchEntry& branch = record.branches[n];
      sample.push_back(number);
      from.push_back(branch.from);
      to.push_back(branch.to);
      cycles.push_back(branch.cycles);
      type.push_back(branch.type);
      mispredicted.push_back(branch.mispred);
      predicted.push_back(branch.predicted);
      in_transaction.push_back(branch.in_tx);
      abort.push_back(branch.abort);
      if (!record.branch_counters.empty()) counters.push_back(record.branch_counters[n]);
    }
  }
  py::object take() {
    using namespace py::literals;
    const bool counted = !counters.empty() && counters.size() == from.size();
    py::dict columns("sample"_a = column(std::move(sample)), "from"_a = column(std::move(from)),
                     "to"_a = column(std::move(to)), "mispredicted"_a = flags(std::move(mispredicted)),
                     "predicted"_a = flags(std::move(predicted)), "cycles"_a = column(std::move(cycles)),
                     "in_transaction"_a = flags(std::move(in_transaction)),
                     "abort"_a = flags(std::move(abort)), "type"_a = column(std::move(type)));
    if (counted) columns["counters"] = column(std::move(counters));
    return table(columns);
  }
};

/// Words that samples have many of, by the number of the sample.
struct Words {
  std::vector<u32> sample;
  std::vector<u64> value;
  void add(u32 number, u64 word) {
    sample.push_back(number);
    value.push_back(word);
  }
};

/// Registers of samples, a row for each word.
struct Registers {
  Names side, name;
  std::vector<u32> word;
  Words values;

  void add(u32 number, const perfdata::RegisterBlock& block, const perf::Attr& attr,
           perf::RegisterSide which) {
    const char* const side_name = which == perf::RegisterSide::user ? "user" : "interrupt";
    for (const auto& registers :
         {perfdata::general_registers(block, attr, which), perfdata::simd_registers(block, attr, which)})
      for (const perfdata::NamedRegister& one : registers)
        for (std::size_t n = 0; n < one.words.size(); ++n) {
          side.add(side_name);
          name.add(one.name);
          word.push_back(static_cast<u32>(n));
          values.add(number, one.words[n]);
        }
  }
  py::object take() {
    using namespace py::literals;
    return table(py::dict("sample"_a = column(std::move(values.sample)), "side"_a = side.column(),
                          "register"_a = name.column(), "word"_a = column(std::move(word)),
                          "value"_a = column(std::move(values.value))));
  }
};

/// Samples on their way to pmusim.Samples.
class Columns {
 public:
  void add(const perfdata::EventDescription& of, const SampleRecord& record) {
    const u32 number = count_++;
    sample_type_ |= of.attr.sample_type;
    event_.add(of.name);
    wide_.add(record);
    narrow_.add(record);
    branches_.add(number, record);
    registers_.add(number, record.user_registers, of.attr, perf::RegisterSide::user);
    registers_.add(number, record.interrupt_registers, of.attr, perf::RegisterSide::interrupt);
    for (const u64 ip : record.callchain) callchains_.add(number, ip);
    for (const perfdata::ReadValue& value : record.read) {
      reads_.add(number, value.value);
      read_ids_.push_back(value.id);
    }
  }
  void add_place(std::string_view command, std::string_view mapping) {
    command_.add(command);
    mapping_.add(mapping);
    placed_ = true;
  }

  py::object take(u64 lost, const std::vector<std::string>& warnings, const py::dict& metadata) {
    using namespace py::literals;
    py::dict columns("event"_a = event_.column());
    wide_.put(columns, sample_type_);
    narrow_.put(columns, sample_type_);
    if (placed_) {
      columns["command"] = command_.column();
      columns["mapping"] = mapping_.column();
    }
    return py::module_::import("pmusim.table")
        .attr("Samples")(columns, "branches"_a = branches_.take(),
                         "callchains"_a = table(py::dict("sample"_a = column(std::move(callchains_.sample)),
                                                         "ip"_a = column(std::move(callchains_.value)))),
                         "registers"_a = registers_.take(),
                         "reads"_a = table(py::dict("sample"_a = column(std::move(reads_.sample)),
                                                    "id"_a = column(std::move(read_ids_)),
                                                    "value"_a = column(std::move(reads_.value)))),
                         "lost"_a = lost, "warnings"_a = warnings, "metadata"_a = metadata);
  }

 private:
  u32 count_ = 0;
  u64 sample_type_ = 0;
  bool placed_ = false;
  Names event_, command_, mapping_;
  Fields<u64> wide_;
  Fields<u32> narrow_;
  Branches branches_;
  Registers registers_;
  Words callchains_, reads_;
  std::vector<u64> read_ids_;
};

// --- perf.data

/// Records between two looks at signals.
constexpr std::size_t hear_every = 4096;

/// The word of a record behind its header, or 0.
u64 word_of(const perfdata::RecordView& record, std::size_t number) {
  u64 word = 0;
  const std::size_t offset = sizeof(perf::RecordHeader) + number * sizeof word;
  if (record.bytes.size() >= offset + sizeof word) std::memcpy(&word, &record.bytes[offset], sizeof word);
  return word;
}

/// What LOST (id, number) and LOST_SAMPLES (number) records count.
u64 lost_in(perfdata::Reader file, Signals& signals) {
  u64 lost = 0;
  for (std::size_t n = 1;; ++n) {
    const auto record = take(file.next());
    if (!record) return lost;
    if (record->header.type == static_cast<u32>(perf::RecordType::lost)) lost += word_of(*record, 1);
    if (record->header.type == static_cast<u32>(perf::RecordType::lost_samples)) lost += word_of(*record, 0);
    if (n % hear_every == 0) signals.hear();
  }
}

py::dict metadata_of(const perfdata::Reader& file) {
  using namespace py::literals;
  const perfdata::Metadata& known = file.metadata();
  std::vector<std::string> events;
  py::dict ids;
  for (const perfdata::EventDescription& event : file.events()) {
    events.push_back(event.name);
    for (const u64 id : event.ids) ids[py::int_(id)] = event.name;
  }
  return py::dict("events"_a = events, "event_ids"_a = ids, "host_name"_a = known.host_name,
                  "os_release"_a = known.os_release, "version"_a = known.version, "arch"_a = known.arch,
                  "cpuid"_a = known.cpuid, "cpu_description"_a = known.cpu_description, "cpus"_a = known.cpus,
                  "command_line"_a = known.command_line);
}

py::object read_perf_data(const std::filesystem::path& path) {
  perfdata::SampleReader samples = take(perfdata::SampleReader::open(path));
  Columns columns;
  u64 lost = 0;
  {
    const py::gil_scoped_release released;
    Signals signals;
    for (std::size_t n = 1; const auto next = take(samples.next()); ++n) {
      const SampleRecord& record = next->sample;
      columns.add(next->event, record);
      const auto* const mapping = samples.processes().mapping_at(record.who.pid, record.ip);
      columns.add_place(samples.processes().command_of(record.who.tid),
                        mapping != nullptr ? mapping->name : "");
      if (n % hear_every == 0) signals.hear();
    }
    lost = lost_in(samples.file().from_start(), signals);
  }
  return columns.take(lost, samples.file().warnings(), metadata_of(samples.file()));
}

// --- replays

py::dict trace(const std::filesystem::path& path) {
  using namespace py::literals;
  const trace::Reader reader = take(trace::Reader::open(path));
  const trace::Contents& contents = reader.contents();
  return py::dict("instructions"_a = reader.instruction_count(), "bytes"_a = reader.file_bytes(),
                  "addresses"_a = contents.addresses, "registers"_a = contents.registers,
                  "extended"_a = contents.extended);
}

Session open(const std::filesystem::path& path, const std::string& model) {
  return take(Session::open(path.string(), {.model = take(find_cpu_model(model))}));
}

/// A replay without the GIL, which ends where a handler of signals raises something.
template <class Replay>
auto replay(Session& session, Replay run) {
  Signals signals;
  std::exception_ptr raised;
  session.on_progress([&](Progress) {
    if (!raised) raised = signals.raised();
    if (raised) session.stop();
  });
  auto result = [&] {
    const py::gil_scoped_release released;
    return run();
  }();
  if (raised) std::rethrow_exception(raised);
  return take(std::move(result));
}

py::object count(const std::filesystem::path& path, const std::string& events, const std::string& model) {
  using namespace py::literals;
  Session session = open(path, model);
  const auto list = take(events::parse_events(events, session.model()));
  const StatReport report = replay(session, [&] { return stat(session, {.events = list}); });
  Names names;
  std::vector<u64> counts;
  for (const EventTotal& total : report.events) {
    names.add(total.name);
    counts.push_back(total.value());
  }
  return table(py::dict("event"_a = names.column(), "count"_a = column(std::move(counts))),
               py::dict("instructions"_a = report.instructions, "elapsed_ns"_a = report.elapsed_ns));
}

/// What `sample` and `record` have in common.
struct Wanted {
  std::string events;
  std::optional<u64> period, frequency;
  std::string branches, registers;
  bool addresses = false, weight = false;

  RecordOptions options(const CpuModel& model) const {
    RecordOptions options{
        .events = take(events::parse_events(events, model)), .period = period, .frequency = frequency};
    if (!branches.empty()) options.branch_sample_type = take(events::parse_branch_filter(branches));
    if (!registers.empty()) options.interrupt_registers = take(events::parse_registers(registers));
    options.addresses = addresses;
    options.weight = weight;
    return options;
  }
};

py::object samples(const std::filesystem::path& path, const std::string& events, const std::string& model,
                   std::optional<u64> period, std::optional<u64> frequency, const std::string& branches,
                   const std::string& registers, bool addresses, bool weight) {
  Session session = open(path, model);
  const RecordOptions options =
      Wanted{events, period, frequency, branches, registers, addresses, weight}.options(session.model());
  const Samples all = replay(session, [&] { return sample(session, options); });
  Columns columns;
  {
    const py::gil_scoped_release released;
    Signals signals;
    for (std::size_t n = 0; n < all.size(); ++n) {
      if (n % hear_every == 0) signals.hear();
      const Sample one = all[n];
      columns.add(one.event, one.sample);
    }
  }
  return columns.take(all.lost(), {}, {});
}

py::dict recorded(const std::filesystem::path& path, const std::string& events,
                  const std::filesystem::path& output, const std::string& model, std::optional<u64> period,
                  std::optional<u64> frequency, const std::string& branches, const std::string& registers,
                  bool addresses, bool weight) {
  using namespace py::literals;
  Session session = open(path, model);
  RecordOptions options =
      Wanted{events, period, frequency, branches, registers, addresses, weight}.options(session.model());
  options.output = output.string();
  const RecordSummary summary = replay(session, [&] { return record(session, options); });
  return py::dict("samples"_a = summary.samples, "lost"_a = summary.lost_records + summary.lost_samples,
                  "file_bytes"_a = summary.file_bytes, "elapsed_ns"_a = summary.elapsed_ns);
}

}  // namespace

void add_samples(py::module_& module) {
  using namespace py::literals;
  module.def("read_perf_data", &read_perf_data, doc("read_perf_data"), "path"_a);
  module.def("trace", &trace, doc("trace"), "path"_a);
  module.def("stat", &count, doc("stat"), "path"_a, "events"_a, "model"_a = default_model);
  module.def("sample", &samples, doc("sample"), "path"_a, "events"_a, py::kw_only(),
             "model"_a = default_model, "period"_a = py::none(), "frequency"_a = py::none(),
             "branches"_a = "", "registers"_a = "", "addresses"_a = false, "weight"_a = false);
  module.def("record", &recorded, doc("record"), "path"_a, "events"_a, "output"_a = "perf.data",
             py::kw_only(), "model"_a = default_model, "period"_a = py::none(), "frequency"_a = py::none(),
             "branches"_a = "", "registers"_a = "", "addresses"_a = false, "weight"_a = false);
}

}  // namespace pmusim::python
