#include "cli/terminal/edited_input.hpp"

#include <fcntl.h>
#include <histedit.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cwchar>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "cli/terminal/console.hpp"

namespace errand::cli {
namespace {

// Switches on markers around pasted text; terminals without support ignore this.
constexpr std::string_view kMarkPastes = "\033[?2004h";
constexpr std::string_view kMarkNoPastes = "\033[?2004l";
constexpr const wchar_t* kPasteBegin = L"\\e[200~";  // as libedit writes it
constexpr std::wstring_view kPasteEnd = L"\033[201~";
constexpr const wchar_t* kTakePaste = L"errand-take-paste";

// Terminals send line ends of pasted text like the Enter key. The last one is dropped, so that the
// user can look at the text before it is sent.
std::wstring pasted_lines(std::wstring_view text) {
  std::wstring out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    bool is_pair = text[i] == L'\r' && i + 1 < text.size() && text[i + 1] == L'\n';
    if (is_pair || text[i] == L'\0') continue;
    out.push_back(text[i] == L'\r' ? L'\n' : text[i]);
  }
  while (out.ends_with(L'\n')) out.pop_back();
  return out;
}

}  // namespace

// The objects that libedit needs.
struct EditedInput::Editor {
  Editor(InputWaiter& waiter, FILE* output);
  ~Editor();
  Editor(const Editor&) = delete;
  Editor& operator=(const Editor&) = delete;

  void set_up();
  void add(const std::string& line);
  // Returns what libedit expects: 1 for a character, 0 at the end, -1 for a failure.
  int get(wchar_t* out);
  void show_again();
  // Puts pasted text into the line as text, even where its characters are keys of libedit. Text
  // that is too long is dropped as a whole, with a bell.
  unsigned char take_paste();
  static int get_char(EditLine* edit, wchar_t* out);
  static char* get_prompt(EditLine* edit);
  static unsigned char on_paste(EditLine* edit, int character);
  static Editor& of(EditLine* edit);

  InputWaiter& waiter;
  FILE* const out;
  EditLine* const edit;
  History* const history;
  std::string prompt;
  std::mbstate_t decoding = {};
  std::optional<std::string> interrupted;  // the line that was being typed at the interrupt
};

EditedInput::Editor::Editor(InputWaiter& waits, FILE* output)
    : waiter(waits),
      out(output),
      edit(::el_init("errand", stdin, output, output)),
      history(::history_init()) {}

EditedInput::Editor::~Editor() {
  if (edit) ::el_end(edit);
  if (history) ::history_end(history);
  std::fclose(out);
}

EditedInput::Editor& EditedInput::Editor::of(EditLine* edit) {
  void* self = nullptr;
  ::el_get(edit, EL_CLIENTDATA, &self);
  return *static_cast<Editor*>(self);
}

int EditedInput::Editor::get_char(EditLine* edit, wchar_t* out) {
  return of(edit).get(out);
}

char* EditedInput::Editor::get_prompt(EditLine* edit) {
  return of(edit).prompt.data();
}

unsigned char EditedInput::Editor::on_paste(EditLine* edit, int) {
  return of(edit).take_paste();
}

// Adds keys that shells have and libedit lacks or has elsewhere. The user's own settings come last.
void EditedInput::Editor::set_up() {
  HistEvent event{};
  ::history(history, &event, H_SETSIZE, kLinesMax);
  ::history(history, &event, H_SETUNIQUE, 1);
  ::el_set(edit, EL_CLIENTDATA, this);
  ::el_set(edit, EL_PROMPT, get_prompt);
  ::el_set(edit, EL_EDITOR, "emacs");
  ::el_set(edit, EL_HIST, ::history, history);
  ::el_set(edit, EL_GETCFN, get_char);
  // Only the wide call keeps these words without copies that would leak.
  ::el_wset(edit, EL_ADDFN, kTakePaste, L"Take what is pasted", on_paste);
  ::el_wset(edit, EL_BIND, kPasteBegin, kTakePaste, nullptr);
  ::el_set(edit, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  ::el_set(edit, EL_BIND, "^W", "ed-delete-prev-word", nullptr);
  ::el_set(edit, EL_BIND, "\\e[3~", "ed-delete-next-char", nullptr);
  ::el_set(edit, EL_BIND, "\\e[1;5C", "em-next-word", nullptr);
  ::el_set(edit, EL_BIND, "\\e[1;5D", "ed-prev-word", nullptr);
  ::el_source(edit, nullptr);
}

void EditedInput::Editor::add(const std::string& line) {
  HistEvent event{};
  ::history(history, &event, H_ENTER, line.c_str());
}

int EditedInput::Editor::get(wchar_t* character) {
  for (;;) {
    switch (waiter.wait(STDIN_FILENO)) {
      case InputWaiter::Found::interruption: {
        const LineInfo* line = ::el_line(edit);
        interrupted.emplace(line->buffer, line->lastchar);
        errno = EINTR;
        return -1;
      }
      case InputWaiter::Found::redraw: show_again(); continue;
      case InputWaiter::Found::input: break;
    }
    char byte = 0;
    ssize_t count = ::read(STDIN_FILENO, &byte, 1);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) return 0;
    std::size_t taken = std::mbrtowc(character, &byte, 1, &decoding);
    if (taken == 0 || taken == 1) return 1;
    constexpr auto kIncomplete = static_cast<std::size_t>(-2);
    if (taken != kIncomplete) decoding = {};  // bytes that form no character are dropped
  }
}

unsigned char EditedInput::Editor::take_paste() {
  std::wstring text;
  bool is_too_long = false;
  while (!text.ends_with(kPasteEnd)) {
    wchar_t next = 0;
    if (get(&next) != 1) return CC_EOF;
    is_too_long |= text.size() >= kPastedCharsMax;
    if (is_too_long) text.erase(0, text.size() - std::min(text.size(), kPasteEnd.size()));
    text.push_back(next);
  }
  text = pasted_lines(std::wstring_view(text).substr(0, text.size() - kPasteEnd.size()));
  if (is_too_long || ::el_winsertstr(edit, text.c_str()) != 0) return CC_ERROR;
  return CC_REFRESH;
}

// Another program, such as the shell, may have changed the terminal's state. libedit redraws the
// line at the cursor, which it takes for the start of a row.
void EditedInput::Editor::show_again() {
  [[maybe_unused]] auto ignored = write_fully(STDERR_FILENO, cat("\r\033[J", kMarkPastes));
  ::el_set(edit, EL_PREP_TERM, 0);
  ::el_set(edit, EL_PREP_TERM, 1);
  ::el_resize(edit);
  ::el_set(edit, EL_REFRESH);
}

EditedInput::EditedInput(std::optional<LineHistory> history)
    : history_(std::move(history)), reader_(1, 1) {}

EditedInput::~EditedInput() = default;

Result<std::unique_ptr<EditedInput>> EditedInput::open(const std::vector<std::string>& lines,
                                                       std::optional<LineHistory> history) {
  // This program's text is UTF-8 in every locale.
  std::setlocale(LC_CTYPE, "C.UTF-8");
  FILE* out = ::fdopen(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0), "w");
  if (!out) return Error(ErrorCode::unavailable, "cannot write to the terminal");
  std::unique_ptr<EditedInput> input(new EditedInput(std::move(history)));
  input->editor_ = std::make_unique<Editor>(input->waiter_, out);
  if (!input->editor_->edit || !input->editor_->history) {
    return Error(ErrorCode::unavailable, "lines cannot be edited on this terminal");
  }
  input->editor_->set_up();
  for (const std::string& line : lines) input->editor_->add(line);
  return input;
}

Task<Result<InputLine>> EditedInput::read(std::string prompt) {
  waiter_.forget_interruption();
  co_return co_await reader_.run([this, prompt = std::move(prompt)] { return edit(prompt); });
}

Result<InputLine> EditedInput::edit(const std::string& prompt) {
  editor_->prompt = prompt;
  editor_->interrupted.reset();
  editor_->decoding = {};
  // The terminal is set up before libedit shows the prompt: keys typed in between would otherwise
  // be shown twice, and a Ctrl-D would be lost.
  ::el_set(editor_->edit, EL_PREP_TERM, 1);
  ERRAND_CHECK(write_fully(STDERR_FILENO, kMarkPastes));
  int count = 0;
  const char* typed = ::el_gets(editor_->edit, &count);
  ERRAND_CHECK(write_fully(STDERR_FILENO, kMarkNoPastes));
  if (editor_->interrupted) {
    ERRAND_CHECK(write_fully(STDERR_FILENO, "^C\n"));
    return InputLine{.kind = InputLine::Kind::interrupted,
                     .text = *std::exchange(editor_->interrupted, {})};
  }
  if (!typed || count <= 0) {
    ERRAND_CHECK(write_fully(STDERR_FILENO, "\n"));
    return InputLine{.kind = InputLine::Kind::ended};
  }
  std::string line(typed);
  if (line.ends_with('\n')) line.pop_back();
  return InputLine{.text = std::move(line)};
}

void EditedInput::remember(std::string_view line) {
  editor_->add(std::string(line));
  bool is_one_line = line.find('\n') == std::string_view::npos;
  if (history_ && is_one_line) history_->add(line);
}

}  // namespace errand::cli
