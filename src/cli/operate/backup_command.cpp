#include "cli/operate/backup_command.hpp"

#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string_view>
#include <utility>

#include "base/size_text.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "cli/terminal/console.hpp"
#include "cli/terminal/report.hpp"
#include "host/secret_key_file.hpp"
#include "store/sqlite/upkeep/sqlite_backup.hpp"

namespace errand::cli {
namespace {

namespace fs = std::filesystem;

constexpr milliseconds kProgressInterval{100};

std::string database_of(const std::string& data) {
  return (fs::path(data) / "errand.db").string();
}

sqlite::Existing existing_of(const CopyOptions& options) {
  return options.force ? sqlite::Existing::replace : sqlite::Existing::keep;
}

void say(std::string_view text) {
  [[maybe_unused]] auto ignored = write_fully(STDERR_FILENO, text);
}

// Overwrites one line as the copy grows. Nothing is shown if stderr is a file or a pipe.
std::function<void(std::int64_t)> progress_line() {
  if (::isatty(STDERR_FILENO) == 0) return nullptr;
  return [next = SteadyTime()](std::int64_t bytes) mutable {
    const SteadyTime now = SystemClock().steady_now();
    if (now < next) return;
    next = now + kProgressInterval;
    say(cat("\r\x1b[K", size_text(bytes), " copied"));
  };
}

void clear_progress_line() {
  if (::isatty(STDERR_FILENO) != 0) say("\r\x1b[K");
}

std::string describe(const sqlite::CopyReport& copy) {
  return cat(copy.runs, copy.runs == 1 ? " run, " : " runs, ", size_text(copy.bytes));
}

// The error, with a hint at --force if it says that something exists.
Error with_force_hint(Error error) {
  if (error.reason() != sqlite::kFileExists) return error;
  return std::move(error).hint("--force replaces it");
}

// A note on the key of the secrets; empty if there is no such key.
std::string key_note(const CopyOptions& options) {
  const fs::path key = host::secret_key_path(options.data);
  std::error_code ignored;
  if (!fs::exists(key, ignored)) return {};
  return cat("The key of the secrets, ", key.string(), ", is not in the backup. ",
             "Keep a copy of it elsewhere.\n");
}

Result<void> make_folder(const std::string& data) {
  std::error_code error;
  fs::create_directories(data, error);
  if (!error) return {};
  return Error(ErrorCode::unavailable,
               cat("cannot make the data directory ", data, ": ", error.message()));
}

std::string restored_text(const std::string& data, const sqlite::RestoreReport& report) {
  std::string out = cat("restored ", database_of(data), " (", describe(report.copy), ")\n");
  if (!report.kept.empty()) {
    append(out, "The previous database is kept as ", report.kept, ".\n");
  }
  append(out, "Start it with: errand serve --data ", data, "\n",
         "API keys are those of the backup. The file ", data, "/credentials is not part of it:\n",
         "if it is missing or has another key, use --key KEY or set ERRAND_API_KEY.\n",
         "The key of the secrets is not part of the backup, either: put it at ",
         host::secret_key_path(data).string(), ".\n");
  return out;
}

}  // namespace

int back_up_data(const CopyOptions& options) {
  ignore_broken_pipes();
  auto report = sqlite::back_up({.database = database_of(options.data),
                                 .file = options.file,
                                 .existing = existing_of(options),
                                 .progress = progress_line()});
  clear_progress_line();
  if (!report) return fail(with_force_hint(report.error()));
  say(key_note(options));
  return print(cat("backed up to ", options.file, " (", describe(*report), ")\n"));
}

int restore_data(const CopyOptions& options) {
  ignore_broken_pipes();
  auto made = make_folder(options.data);
  if (!made) return fail(made.error());
  auto report = sqlite::restore({.file = options.file,
                                 .database = database_of(options.data),
                                 .existing = existing_of(options),
                                 .now = SystemClock().now()});
  if (!report) return fail(with_force_hint(report.error()));
  return print(restored_text(options.data, *report));
}

}  // namespace errand::cli
