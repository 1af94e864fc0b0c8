// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "observe/text_file.h"
#include "observe/words.h"
#include "pmusim/observe/observer_file.h"

namespace pmusim::observe {
namespace {

std::string_view yes_or_no(bool yes) { return yes ? "yes" : "no"; }

class HardwareLog final : public ObserverFile {
 public:
  explicit HardwareLog(TextFile file) : file_(std::move(file)) { file_.write("# pmusim hardware log 1\n"); }

  void on_attach(const Pmu& pmu) override {
    names_.use(pmu);
    file_.write(fmt::format("# model {}\n", pmu.model().name));
  }
  void on_register_write(const observed::RegisterWrite& e) override {
    line(e.cycle, "write", "register={} value={:#x}", names_(e.address), e.value);
  }
  void on_access_fault(const observed::AccessFault& e) override {
    const std::string value =
        e.access == observed::AccessKind::wrmsr ? fmt::format(" value={:#x}", e.value) : "";
    const std::string what = e.access == observed::AccessKind::rdpmc ? fmt::format("ecx={:#x}", e.address)
                                                                     : "register=" + names_(e.address);
    line(e.cycle, "fault", "access={} {}{} fault={}", name_of(e.access), what, value, name_of(e.fault));
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
    const std::string place = e.outcome == AssistOutcome::wrote
                                  ? fmt::format(" address={:#x} bytes={}", e.address, e.bytes)
                                  : std::string();
    line(e.cycle, "record", "counters={} ip={:#x} outcome={}{}", counter_names(e.counters), e.ip,
         name_of(e.outcome), place);
  }
  void on_bts_record(const observed::BtsRecord& e) override {
    line(e.cycle, "bts", "from={:#x} to={:#x} written={}", e.from, e.to, yes_or_no(e.written));
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

  TextFile file_;
  RegisterNames names_;
  std::string text_;
};

}  // namespace

Result<std::unique_ptr<ObserverFile>, Error> create_hardware_log(const std::string& path) {
  Result<TextFile, Error> file = TextFile::create(path);
  if (!file.ok()) return Failure(file.error());
  return std::unique_ptr<ObserverFile>(std::make_unique<HardwareLog>(std::move(file).value()));
}

}  // namespace pmusim::observe
