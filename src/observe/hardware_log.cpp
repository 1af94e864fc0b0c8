// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "observe/text_file.h"
#include "observe/words.h"
#include "pmusim/observe/observer_file.h"

namespace pmusim::observe {
namespace {

std::string_view yes_or_no(bool yes) { return yes ? "yes" : "no"; }

/// Where a record went, or which address is not mapped.
std::string place_text(AssistOutcome outcome, u64 address) {
  const bool has_place = outcome == AssistOutcome::wrote || outcome == AssistOutcome::unmapped;
  return has_place ? fmt::format(" address={:#x}", address) : std::string();
}

class HardwareLog final : public ObserverFile {
 public:
  HardwareLog(TextFile file, AccessNote note) : file_(std::move(file)), note_(std::move(note)) {
    file_.write("# pmusim hardware log 1\n");
  }

  void on_attach(const Pmu& pmu) override {
    names_.use(pmu);
    file_.write(fmt::format("# model {}\n", pmu.model().name));
  }
  void on_register_write(const observed::RegisterWrite& e) override {
    line(e.cycle, "write", "register={} value={:#x}{}", names_(e.address), e.value, note());
  }
  void on_access_fault(const observed::AccessFault& e) override {
    const std::string value = is_write(e.access) ? fmt::format(" value={:#x}", e.value) : "";
    const std::string what =
        is_of_msr(e.access) ? "register=" + names_(e.address) : fmt::format("ecx={:#x}", e.address);
    line(e.cycle, "fault", "access={} {}{} fault={} why=\"{}\"{}", name_of(e.access), what, value,
         name_of(e.fault), names_.why(e), note());
  }
  void on_overflow(const observed::Overflow& e) override {
    line(e.cycle, "overflow", "counter={} status={} pmi={} record={}", counter_name(e.counter),
         yes_or_no(e.sets_status), yes_or_no(e.asks_for_pmi), yes_or_no(e.writes_record));
  }
  void on_reload(const observed::Reload& e) override {
    line(e.cycle, "reload", "counter={} value={:#x} by={}", counter_name(e.counter), e.value,
         name_of(e.cause));
  }
  void on_freeze(const observed::Freeze& e) override { line(e.cycle, "freeze", "unit={}", name_of(e.unit)); }
  void on_pmi_request(const observed::PmiRequest& e) override {
    const std::string due =
        e.fate != observed::PmiFate::lost ? fmt::format(" due={}", e.due_cycle) : std::string();
    line(e.cycle, "pmi-request", "cause={} fate={}{}", name_of(e.cause), name_of(e.fate), due);
  }
  void on_pmi_delivery(const observed::PmiDelivery& e) override {
    line(e.cycle, "pmi", "ip={:#x} ring={}", e.ip, e.cpl == Cpl::kernel ? 0 : 3);
  }
  void on_pmi_return(const observed::PmiReturn& e) override {
    file_.write(fmt::format("{} pmi-return\n", e.cycle));
  }
  void on_assist_armed(const observed::AssistArmed& e) override {
    line(e.cycle, "assist", "counter={}", counter_name(e.counter));
  }
  void on_pebs_record(const observed::PebsRecord& e) override {
    const std::string bytes =
        e.outcome == AssistOutcome::wrote ? fmt::format(" bytes={}", e.bytes) : std::string();
    line(e.cycle, "record", "counters={} ip={:#x} outcome={}{}{}", counter_names(e.counters), e.ip,
         name_of(e.outcome), place_text(e.outcome, e.address), bytes);
  }
  void on_bts_record(const observed::BtsRecord& e) override {
    line(e.cycle, "bts", "from={:#x} to={:#x} written={} outcome={}{}", e.from, e.to, yes_or_no(e.written),
         name_of(e.outcome), place_text(e.outcome, e.address));
  }
  void on_lbr_record(const observed::LbrRecord& e) override {
    line(e.cycle, "lbr", "from={:#x} to={:#x} kind={} mispredicted={}", e.from, e.to, kind_name(e.kind),
         yes_or_no(e.mispredicted));
  }

  Result<Done, Error> finish() override { return file_.finish(); }

 private:
  template <class... Values>
  void line(u64 cycle, std::string_view event, fmt::format_string<Values...> format, Values&&... values) {
    text_.clear();
    fmt::format_to(std::back_inserter(text_), "{} {} ", cycle, event);
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    text_ += '\n';
    file_.write(text_);
  }

  std::string note() const {
    const std::string text = note_ ? note_() : "";
    return text.empty() ? text : " " + text;
  }

  TextFile file_;
  AccessNote note_;
  RegisterNames names_;
  std::string text_;
};

}  // namespace

Result<std::unique_ptr<ObserverFile>, Error> create_hardware_log(const std::string& path, AccessNote note) {
  Result<TextFile, Error> file = TextFile::create(path);
  if (!file.ok()) return Failure(file.error());
  return std::unique_ptr<ObserverFile>(
      std::make_unique<HardwareLog>(std::move(file).value(), std::move(note)));
}

}  // namespace pmusim::observe
