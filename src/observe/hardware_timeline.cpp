// SPDX-License-Identifier: MIT
// The trace event format of Chrome's tracing: an array of events in tracks ("threads" of one "process").
#include <fmt/format.h>

#include <array>
#include <set>

#include "observe/text_file.h"
#include "observe/words.h"
#include "pmusim/base/types.h"
#include "pmusim/observe/observer_file.h"

namespace pmusim::observe {
namespace {

/// Tracks from top to bottom. Those of counters follow by number.
enum class Track : unsigned { driver = 1, pmi, pebs, bts, lbr, first_counter };

std::string_view track_name(Track track) {
  constexpr std::array<std::string_view, 6> names{"", "driver", "PMI", "PEBS", "BTS", "LBR"};
  return names.at(static_cast<unsigned>(track));
}

/// In the quotes of JSON. (Names are not ours alone: a program may make models of its own.)
std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + '"';
}

class HardwareTimeline final : public ObserverFile {
 public:
  explicit HardwareTimeline(TextFile file) : file_(std::move(file)) {
    file_.write("{\"otherData\":{\"ts\":\"core cycles\"},\"traceEvents\":[");
  }

  void on_attach(const Pmu& pmu) override {
    names_.use(pmu);
    requested_ = {};
    handler_ = {};
    armed_cycle_ = {};
    put(fmt::format(R"("ph":"M","name":"process_name","pid":1,"args":{{"name":{}}})",
                    json_text(pmu.model().name)));
  }
  void on_register_write(const observed::RegisterWrite& e) override {
    instant(Track::driver, e.cycle, names_(e.address),
            fmt::format(R"("address":"{:#x}","value":"{:#x}")", e.address, e.value));
  }
  void on_access_fault(const observed::AccessFault& e) override {
    const std::string what = is_of_msr(e.access) ? names_(e.address) : fmt::format("{:#x}", e.address);
    instant(Track::driver, e.cycle,
            fmt::format("{} {} {}", pmusim::name_of(e.fault), observe::name_of(e.access), what),
            fmt::format(R"("value":"{:#x}","why":{})", e.value, json_text(names_.why(e))));
  }
  void on_overflow(const observed::Overflow& e) override {
    instant(
        track_of(e.counter), e.cycle, "overflow",
        fmt::format(R"("status":{},"pmi":{},"record":{})", e.sets_status, e.asks_for_pmi, e.writes_record));
  }
  void on_reload(const observed::Reload& e) override {
    instant(track_of(e.counter), e.cycle, "reload",
            fmt::format(R"("value":"{:#x}","by":"{}")", e.value, observe::name_of(e.cause)));
  }
  void on_freeze(const observed::Freeze& e) override {
    instant(Track::pmi, e.cycle, fmt::format("freeze {}", observe::name_of(e.unit)));
  }
  void on_pmi_request(const observed::PmiRequest& e) override {
    const std::string cause(observe::name_of(e.cause));
    if (e.fate == observed::PmiFate::on_its_way)
      requested_ = {.cycle = e.cycle, .under_way = true, .cause = cause};
    else
      instant(Track::pmi, e.cycle, fmt::format("{} {}", cause, observe::name_of(e.fate)));
  }
  void on_pmi_delivery(const observed::PmiDelivery& e) override {
    if (requested_.under_way) slice(Track::pmi, requested_.cycle, e.cycle, requested_.cause);
    requested_.under_way = false;
    handler_ = {e.cycle, fmt::format(R"("ip":"{:#x}")", e.ip)};
  }
  void on_pmi_return(const observed::PmiReturn& e) override {
    slice(Track::driver, handler_.cycle, e.cycle, "PMI handler", handler_.arguments);
  }
  void on_assist_armed(const observed::AssistArmed& e) override { armed_cycle_.at(e.counter) = e.cycle; }
  void on_pebs_record(const observed::PebsRecord& e) override {
    for (const unsigned counter : set_bits(e.counters))
      slice(track_of(counter), armed_cycle_.at(counter), e.cycle, "PEBS assist");
    instant(Track::pebs, e.cycle, observe::name_of(e.outcome),
            fmt::format(R"("counters":"{}","ip":"{:#x}","address":"{:#x}","bytes":{})",
                        counter_names(e.counters), e.ip, e.address, e.bytes));
  }
  void on_bts_record(const observed::BtsRecord& e) override {
    instant(Track::bts, e.cycle, observe::name_of(e.outcome),
            fmt::format(R"("from":"{:#x}","to":"{:#x}","address":"{:#x}")", e.from, e.to, e.address));
  }
  void on_lbr_record(const observed::LbrRecord& e) override {
    instant(Track::lbr, e.cycle, kind_name(e.kind),
            fmt::format(R"("from":"{:#x}","to":"{:#x}","mispredicted":{})", e.from, e.to, e.mispredicted));
  }

  Result<Done, Error> finish() override {
    file_.write("\n]}\n");
    return file_.finish();
  }

 private:
  static Track track_of(unsigned counter) {
    return static_cast<Track>(static_cast<unsigned>(Track::first_counter) + counter);
  }
  static std::string title_of(Track track) {
    return track < Track::first_counter
               ? std::string(track_name(track))
               : counter_name(static_cast<unsigned>(track) - static_cast<unsigned>(Track::first_counter));
  }

  void instant(Track track, u64 cycle, std::string_view name, std::string_view arguments = "") {
    event(track, fmt::format(R"("ph":"i","s":"t","ts":{},)", cycle), name, arguments);
  }
  void slice(Track track, u64 from, u64 to, std::string_view name, std::string_view arguments = "") {
    event(track, fmt::format(R"("ph":"X","ts":{},"dur":{},)", from, to - from), name, arguments);
  }
  void event(Track track, const std::string& kind_and_time, std::string_view name,
             std::string_view arguments) {
    if (shown_.insert(track).second) introduce(track);
    put(fmt::format(R"({}"pid":1,"tid":{},"name":{},"args":{{{}}})", kind_and_time,
                    static_cast<unsigned>(track), json_text(name), arguments));
  }
  /// A track's name and place, when something is to be seen on it.
  void introduce(Track track) {
    const unsigned number = static_cast<unsigned>(track);
    put(fmt::format(R"("ph":"M","name":"thread_name","pid":1,"tid":{},"args":{{"name":"{}"}})", number,
                    title_of(track)));
    put(fmt::format(R"("ph":"M","name":"thread_sort_index","pid":1,"tid":{0},"args":{{"sort_index":{0}}})",
                    number));
  }
  void put(const std::string& members) {
    file_.write(std::exchange(first_, false) ? "\n{" : ",\n{");
    file_.write(members);
    file_.write("}");
  }

  struct Requested {
    u64 cycle = 0;
    bool under_way = false;
    std::string cause;
  };
  struct Handler {
    u64 cycle = 0;
    std::string arguments;
  };

  TextFile file_;
  RegisterNames names_;
  bool first_ = true;
  std::set<Track> shown_;
  Requested requested_;
  Handler handler_;
  std::array<u64, 64> armed_cycle_{};
};

}  // namespace

Result<std::unique_ptr<ObserverFile>, Error> create_hardware_timeline(const std::string& path) {
  Result<TextFile, Error> file = TextFile::create(path);
  if (!file.ok()) return Failure(file.error());
  return std::unique_ptr<ObserverFile>(std::make_unique<HardwareTimeline>(std::move(file).value()));
}

}  // namespace pmusim::observe
