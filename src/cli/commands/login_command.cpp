#include "cli/commands/login_command.hpp"

#include <filesystem>
#include <utility>

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "cli/terminal/console.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/hidden_line.hpp"
#include "cli/terminal/report.hpp"
#include "sdk/internal/api_client.hpp"
#include "sdk/internal/server_flags.hpp"

namespace errand::cli {
namespace {

namespace fs = std::filesystem;

Result<fs::path> file_of_login() {
  auto file = sdk::login_file(sdk::environment_here());
  if (file) return *file;
  return Error(ErrorCode::invalid_argument, "there is no home to keep a login in")
      .hint("set HOME or XDG_CONFIG_HOME, or use ERRAND_SERVER and ERRAND_API_KEY");
}

Result<void> make_private_folder(const fs::path& folder) {
  std::error_code error;
  if (fs::create_directories(folder, error)) fs::permissions(folder, fs::perms::owner_all, error);
  if (!error) return {};
  return Error(ErrorCode::unavailable,
               cat("cannot make the folder ", folder.string(), ": ", error.message()));
}

Result<sdk::Credentials> given(const LoginOptions& options) {
  ERRAND_TRY(auto server, sdk::checked_server({.url = options.server,
                                               .workspace = options.workspace,
                                               .key = options.key,
                                               .key_source = "that was given"}));
  if (server.key.empty()) {
    ERRAND_TRY(server.key, read_hidden_line(cat("API key for ", clean_text(server.url), ": ")));
  }
  if (!server.key.empty()) return server;
  return Error(ErrorCode::invalid_argument, "the key is empty");
}

}  // namespace

int login(const LoginOptions& options) {
  ignore_broken_pipes();
  auto file = file_of_login();
  if (!file) return fail_usage(file.error());
  auto server = given(options);
  if (!server) return fail_usage(server.error());
  // Every valid key gets an answer here, or a 403 if it may not list models.
  auto answer = sdk::make_client(*server)->ask({.path = "/models"});
  bool is_good = answer || answer.error().code() == ErrorCode::forbidden;
  if (!is_good) return fail(answer.error());
  auto made = make_private_folder(file->parent_path());
  auto written = made ? sdk::write_credentials(*file, *server) : made;
  if (!written) return fail(written.error());
  return print(cat("logged in to ", clean_text(server->url), ", kept in ", file->string(), "\n"));
}

int logout() {
  ignore_broken_pipes();
  auto file = file_of_login();
  if (!file) return fail_usage(file.error());
  std::error_code error;
  bool is_removed = fs::remove(*file, error);
  if (error) {
    return fail(Error(ErrorCode::unavailable,
                      cat("cannot remove ", file->string(), ": ", error.message())));
  }
  return print(is_removed ? cat("removed ", file->string(), "\n") : "there was no login\n");
}

}  // namespace errand::cli
