// SPDX-License-Identifier: MIT
#include "report_browser.h"

#define NCURSES_NOMACROS 1
#include <fmt/format.h>
#include <ncurses.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <clocale>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "annotate/ranking_table.h"
#include "base/printable.h"
#include "command_error.h"
#include "pager.h"

namespace pmusim::tools {

namespace {

/// A line of text with the colours of annotate::painted() in it.
struct BrowserLine {
  std::string text;
  u32 symbol = annotate::nothing;  ///< that Enter shows the code of
};

/// What is shown at a time: lines below a head, with a cursor.
struct BrowserView {
  std::string title, head, footer;
  std::vector<BrowserLine> lines;
  std::size_t cursor = 0, top = 0;
};

constexpr std::array help_lines{
    "",
    "  Up Down j k       a line up or down",
    "  PgUp PgDn b Space a page up or down",
    "  Home End g G      to the first or the last line",
    "  Enter a Right     code of the function, at its hottest instruction",
    "  Left Esc          back",
    "  /                 in the list: only rows with a text (none: all); in code: search for a text",
    "  n N               next and previous line with the text",
    "  h ?               this help",
    "  q                 back, and at last out",
    "",
};

/// Colours as SGR numbers them: 30 + n is n.
constexpr int default_colour = -1;
constexpr short code_colours = 8;

/// "\x1b[31m" at the beginning of `text`: its colour and length; "\x1b[m" sets none.
struct Escape {
  int colour;
  std::size_t length;
};
std::optional<Escape> escape_at(std::string_view text) {
  if (!text.starts_with("\x1b[")) return std::nullopt;
  const std::size_t end = text.find('m');
  if (end == text.npos) return std::nullopt;
  return Escape{end == 4 ? text[3] - '0' : default_colour, end + 1};
}

std::string without_colours(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const std::optional<Escape> escape = escape_at(text);
    if (!escape) plain += text.front();
    text.remove_prefix(escape ? escape->length : 1);
  }
  return plain;
}

std::vector<BrowserLine> lines_of(std::string_view text) {
  std::vector<BrowserLine> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back({std::string(text.substr(0, end)), annotate::nothing});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool has_text(const BrowserLine& line, const std::string& wanted) {
  return without_colours(line.text).find(wanted) != std::string::npos;
}

/// The terminal while it is drawn on.
class Screen {
 public:
  Screen() {
    std::setlocale(LC_CTYPE, "");
    ::initscr();
    ::cbreak();
    ::noecho();
    ::keypad(stdscr, true);
    ::set_escdelay(25);
    ::curs_set(0);
    if (!::has_colors()) return;
    ::start_color();
    ::use_default_colors();
    for (short colour = 0; colour < code_colours; ++colour) ::init_pair(colour + 1, colour, -1);
  }
  ~Screen() { ::endwin(); }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  static int rows() { return ::getmaxy(stdscr); }
  static int key() { return ::getch(); }
  static void clear() { ::erase(); }

  /// As much of the text as fits; `attributes` for the whole width of the line.
  static void draw(int row, std::string_view text, attr_t attributes = A_NORMAL) {
    const int width = ::getmaxx(stdscr);
    ::move(row, 0);
    ::attrset(static_cast<int>(attributes));
    if (attributes != A_NORMAL) ::hline(' ' | attributes, width);
    int colour = default_colour;
    while (!text.empty() && ::getcurx(stdscr) < width && ::getcury(stdscr) == row) {
      if (const auto escape = escape_at(text)) {
        colour = escape->colour;
        text.remove_prefix(escape->length);
        continue;
      }
      const std::size_t end = std::min(text.find('\x1b', 1), text.size());
      ::attrset(static_cast<int>(
          attributes | (colour == default_colour ? A_NORMAL : static_cast<attr_t>(COLOR_PAIR(colour + 1)))));
      draw_part(text.substr(0, end), width - ::getcurx(stdscr));
      text.remove_prefix(end);
    }
    ::attrset(A_NORMAL);
  }

  /// A line at the bottom that is typed; nothing if it is given up.
  static std::optional<std::string> typed(std::string_view question, std::string text) {
    for (;;) {
      draw(rows() - 1, fmt::format("{}{}_", question, text), A_REVERSE);
      const int key = ::getch();
      if (key == '\n' || key == KEY_ENTER) return text;
      if (key == 27) return std::nullopt;
      if (key == KEY_BACKSPACE || key == 127 || key == 8) {
        if (!text.empty()) text.pop_back();
      } else if (key >= ' ' && key < KEY_MIN) {
        text += static_cast<char>(key);
      }
    }
  }

 private:
  /// Cells that characters take are known to wide ones alone.
  static void draw_part(std::string_view part, int cells) {
    std::wstring wide(part.size(), L'\0');
    const std::size_t length = std::mbstowcs(wide.data(), std::string(part).c_str(), wide.size());
    if (length == static_cast<std::size_t>(-1)) {
      ::addnstr(std::string(part).c_str(), cells);
      return;
    }
    ::addnwstr(wide.c_str(), std::min(static_cast<int>(length), cells));
  }
};

class Browser {
 public:
  Browser(const annotate::Report& report, const annotate::RankingOptions& options)
      : report_(report), options_(options) {
    options_.colours = annotate::Colours::ansi;
    options_.separator.reset();
    views_.push_back(list());
  }

  void run() {
    while (!views_.empty()) {
      draw();
      handle(Screen::key());
    }
  }

 private:
  BrowserView& view() { return views_.back(); }
  bool is_list() const { return views_.size() == 1; }
  /// Lines between the head and the footer.
  static std::size_t page() { return static_cast<std::size_t>(std::max(Screen::rows() - 3, 1)); }

  /// Rows of the ranking that the filter leaves.
  BrowserView list() const {
    const annotate::RankingTable table =
        annotate::ranking_table(report_, options_.rankings.front(), options_);
    std::string title = annotate::ranking_head(report_);
    BrowserView view;
    view.title = title.substr(0, title.find('\n'));
    view.head = " " + annotate::columns_of(table.head, annotate::Colours::none);
    view.footer = filter_.empty()
                      ? "h help, Enter code, / filter, q quit"
                      : fmt::format("rows with \"{}\"; / and Enter: all rows", printable(filter_));
    for (const annotate::RankingRow& row : table.rows) {
      BrowserLine line{" " + annotate::columns_of(row.cells, options_.colours), row.symbol};
      if (has_text(line, filter_)) view.lines.push_back(std::move(line));
    }
    return view;
  }

  /// At the hottest instruction.
  BrowserView code(const annotate::AnnotatedFunction& function) const {
    BrowserView view;
    const annotate::Symbol& symbol = report_.symbols[function.symbol];
    view.title =
        fmt::format("{} ({})", printable(symbol.name), printable(report_.modules[symbol.module].path));
    view.lines = lines_of(annotate::annotation_text(report_, function, annotate::Colours::ansi));
    view.footer = "h help, / search, n next, q back";
    const auto period = [](const annotate::Instruction& i) {
      return i.weights.empty() ? 0 : i.weights[0].period;
    };
    const auto hottest = std::ranges::max_element(function.instructions, {}, period);
    if (hottest == function.instructions.end()) return view;
    const std::string address = fmt::format(" {:x}:", hottest->address);
    const auto at =
        std::ranges::find_if(view.lines, [&](const auto& line) { return has_text(line, address); });
    if (at == view.lines.end()) return view;
    view.cursor = static_cast<std::size_t>(at - view.lines.begin());
    view.top = view.cursor - std::min(view.cursor, page() / 2);
    return view;
  }

  BrowserView help() const {
    BrowserView view{.title = "Keys", .head = {}, .footer = "q back", .lines = {}};
    for (const char* const line : help_lines) view.lines.push_back({line, annotate::nothing});
    return view;
  }

  void draw() {
    Screen::clear();
    BrowserView& v = view();
    v.top = std::clamp(v.top, v.cursor < page() ? 0 : v.cursor - page() + 1, v.cursor);
    Screen::draw(0, v.title, A_REVERSE);
    Screen::draw(1, v.head, A_BOLD);
    for (std::size_t n = 0; n < page() && v.top + n < v.lines.size(); ++n)
      Screen::draw(static_cast<int>(n) + 2, v.lines[v.top + n].text,
                   v.top + n == v.cursor ? A_REVERSE : A_NORMAL);
    const std::string place =
        v.lines.empty() ? "nothing" : fmt::format("{}/{}", v.cursor + 1, v.lines.size());
    Screen::draw(Screen::rows() - 1, fmt::format("{}  {}", place, message_.empty() ? v.footer : message_),
                 A_REVERSE);
    message_.clear();
  }

  void go_to(std::size_t line) {
    view().cursor = std::min(line, view().lines.empty() ? 0 : view().lines.size() - 1);
  }
  void up(std::size_t lines) { go_to(view().cursor - std::min(view().cursor, lines)); }
  void down(std::size_t lines) { go_to(view().cursor + lines); }

  void handle(int key) {
    switch (key) {
      case KEY_UP:
      case 'k':
        return up(1);
      case KEY_DOWN:
      case 'j':
        return down(1);
      case KEY_PPAGE:
      case 'b':
        return up(page());
      case KEY_NPAGE:
      case ' ':
        return down(page());
      case KEY_HOME:
      case 'g':
        return go_to(0);
      case KEY_END:
      case 'G':
        return go_to(view().lines.size());
      case '\n':
      case KEY_ENTER:
      case KEY_RIGHT:
      case 'a':
        return show_code();
      case '/':
        return ask();
      case 'n':
        return search_down(view().cursor + 1);
      case 'N':
        return search_up();
      case 'h':
      case '?':
        return views_.push_back(help());
      case KEY_LEFT:
      case 27:
        if (!is_list()) views_.pop_back();
        return;
      case 'q':
      case ERR:  // the terminal is gone
        return views_.pop_back();
      default:
        return;
    }
  }

  void show_code() {
    if (!is_list() || view().lines.empty()) return;
    const u32 symbol = view().lines[view().cursor].symbol;
    const u32 function = symbol == annotate::nothing ? annotate::nothing : report_.symbols[symbol].function;
    if (function == annotate::nothing) {
      message_ = "the code of this row is not known";
      return;
    }
    views_.push_back(code(report_.functions[function]));
  }

  void ask() {
    const std::optional<std::string> text =
        Screen::typed(is_list() ? "Rows with: " : "Search: ", is_list() ? filter_ : sought_);
    if (!text) return;
    if (is_list()) {
      filter_ = *text;
      view() = list();
    } else {
      sought_ = *text;
      search_down(view().cursor);
    }
  }

  const std::string& wanted() const { return is_list() ? filter_ : sought_; }

  void search_down(std::size_t from) {
    for (std::size_t n = from; n < view().lines.size(); ++n)
      if (has_text(view().lines[n], wanted())) return go_to(n);
    message_ = fmt::format("no line with \"{}\" below", printable(wanted()));
  }

  void search_up() {
    for (std::size_t n = view().cursor; n-- > 0;)
      if (has_text(view().lines[n], wanted())) return go_to(n);
    message_ = fmt::format("no line with \"{}\" above", printable(wanted()));
  }

  const annotate::Report& report_;
  annotate::RankingOptions options_;
  std::vector<BrowserView> views_;  // the list first, then what was opened from it
  std::string filter_, sought_, message_;
};

}  // namespace

bool can_browse() {
  const char* const terminal = std::getenv("TERM");
  return ::isatty(STDIN_FILENO) != 0 && output_is_terminal() && terminal != nullptr && *terminal != 0 &&
         std::string_view(terminal) != "dumb";
}

void browse(const annotate::Report& report, const annotate::RankingOptions& options) {
  if (!can_browse())
    throw CommandError("--tui: expected a terminal as standard input and output, and its kind in TERM");
  stop_pager();
  const Screen screen;
  Browser(report, options).run();
}

}  // namespace pmusim::tools
