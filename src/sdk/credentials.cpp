#include "sdk/credentials.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/descriptor.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "json/fields.hpp"
#include "json/members.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "net/url.hpp"

namespace errand::sdk {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kDataFolder = ".errand";
constexpr std::size_t kFileBytesMax = 64 * 1024;
constexpr mode_t kOthers = S_IRWXG | S_IRWXO;

Error no_server(const std::string& why) {
  return Error(ErrorCode::not_found, cat("no server: ", why))
      .hint("start one with 'errand serve', or name one with --server URL --key KEY");
}

Error cannot_read(const fs::path& file, int reason) {
  return Error(ErrorCode::unavailable,
               cat("cannot read ", file.string(), ": ", std::strerror(reason)));
}

bool is_missing(int reason) {
  return reason == ENOENT || reason == ENOTDIR;
}

// Whether a file that was found, and not named, is this user's: false if there is none, or if it
// belongs to another user. unavailable: this user's own file is open to others, or cannot be
// examined.
Result<bool> is_own_file(const fs::path& file) {
  struct stat about{};
  if (::stat(file.c_str(), &about) != 0) {
    int reason = errno;
    if (is_missing(reason)) return false;
    struct stat parent{};
    bool is_ours = ::stat(file.parent_path().c_str(), &parent) == 0 && parent.st_uid == ::geteuid();
    if (!is_ours) return false;
    return cannot_read(file, reason);
  }
  if (about.st_uid != ::geteuid()) return false;
  if ((about.st_mode & kOthers) == 0) return true;
  return Error(ErrorCode::unavailable,
               cat(file.string(), " holds a key, and other users may read or change it"))
      .hint(cat("make it private: chmod 600 ", file.string()));
}

// The file of this user that applies if no data directory is named.
Result<std::optional<fs::path>> nearest_file(const Environment& environment, fs::path folder) {
  for (;;) {
    fs::path file = credentials_file(folder / kDataFolder);
    ERRAND_TRY(bool is_own, is_own_file(file));
    if (is_own) return std::optional(std::move(file));
    if (!folder.has_relative_path()) break;
    folder = folder.parent_path();
  }
  auto login = login_file(environment);
  if (!login) return std::optional<fs::path>{};
  ERRAND_TRY(bool is_own, is_own_file(*login));
  return is_own ? std::move(login) : std::optional<fs::path>{};
}

std::string value_of(const Environment& environment, const std::string& name) {
  return environment(name).value_or("");
}

// The server that flags and environment name, without any file.
Credentials named_server(const ServerFlags& flags, const Environment& environment) {
  Credentials server{.url = flags.server, .workspace = flags.workspace, .key = flags.key};
  std::string url = value_of(environment, "ERRAND_SERVER");
  bool is_data_named = flags.data && flags.server.empty();
  if (server.url.empty() && !is_data_named) server.url = url;
  server.url = net::without_trailing_slashes(server.url);
  if (!server.key.empty()) {
    server.key_source = "of --key";
  } else if (!is_data_named || url.empty()) {
    server.key = value_of(environment, "ERRAND_API_KEY");
    if (!server.key.empty()) server.key_source = "of the variable ERRAND_API_KEY";
  }
  return server;
}

// Fills in members from the file, unless the file is for another server.
void complete(Credentials& server, const Credentials& kept, const fs::path& file) {
  std::string url(net::without_trailing_slashes(kept.url));
  if (!server.url.empty() && server.url != url) return;
  server.url = std::move(url);
  if (server.key.empty()) {
    server.key = kept.key;
    server.key_source = cat("in ", file.string());
  }
  if (server.workspace.empty()) server.workspace = kept.workspace;
}

Result<void> complete_from_files(Credentials& server, const ServerFlags& flags,
                                 const Environment& environment, const fs::path& folder) {
  bool is_needed = server.url.empty() || server.key.empty();
  std::optional<fs::path> file;
  if (flags.data) {
    file = credentials_file(*flags.data);
  } else {
    auto nearest = nearest_file(environment, folder);
    if (!nearest && is_needed) return nearest.error();
    if (nearest) file = std::move(*nearest);
  }
  if (!file) {
    if (!server.url.empty()) return {};
    return no_server(cat("there is no file ", (folder / kDataFolder / "credentials").string(),
                         ", none in a folder above, and no login"));
  }
  auto kept = read_credentials(*file);
  if (kept) {
    complete(server, *kept, *file);
  } else if (kept.error().code() == ErrorCode::not_found) {
    if (server.url.empty()) return no_server(kept.error().message());
  } else if (is_needed) {
    return kept.error();
  }
  return {};
}

fs::path folder_here() {
  std::error_code failed;
  fs::path folder = fs::current_path(failed);
  return failed ? fs::path("/") : folder;
}

}  // namespace

Result<void> write_credentials(const fs::path& file, const Credentials& credentials) {
  std::string text;
  json::ObjectWriter(text)
      .field("url", credentials.url)
      .field("workspace", credentials.workspace)
      .field("apiKey", credentials.key)
      .end();
  text += '\n';
  return write_whole_file(file, text);
}

Result<void> write_data_credentials(const fs::path& data, const Credentials& credentials) {
  fs::path file = credentials_file(data);
  ERRAND_CHECK(write_credentials(file, credentials));
  struct stat folder{};
  if (::geteuid() != 0 || ::stat(data.c_str(), &folder) != 0 || folder.st_uid == 0) return {};
  // The folder's owner may replace the file by a link at any time, which must not be followed as
  // root.
  Descriptor written(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  struct stat about{};
  bool is_ours = written.is_open() && ::fstat(written.get(), &about) == 0 && about.st_uid == 0 &&
                 about.st_nlink == 1;
  if (is_ours && ::fchown(written.get(), folder.st_uid, folder.st_gid) == 0) return {};
  return Error(ErrorCode::unavailable,
               cat("cannot give ", file.string(), " to the owner of its folder"));
}

Result<Credentials> read_credentials(const fs::path& file) {
  auto text = read_whole_file(file, kFileBytesMax);
  if (!text && text.error().code() == ErrorCode::not_found)
    return Error(ErrorCode::not_found, cat("there is no file ", file.string()));
  if (!text) return Error(ErrorCode::unavailable, text.error().message());
  auto value = json::parse(*text);
  if (!value)
    return Error(ErrorCode::invalid_argument, cat(file.string(), ": ", value.error().message()));
  json::Fields fields(*value, "");
  // Files of older versions have the key under "key".
  const char* key = json::text_at(value->if_object(), "apiKey").empty() ? "key" : "apiKey";
  Credentials credentials{
      .url = fields.text("url"), .workspace = fields.text("workspace"), .key = fields.text(key)};
  return fields.finish(std::move(credentials));
}

fs::path data_directory(const ServerFlags& flags) {
  return flags.data.value_or("./.errand");
}

fs::path credentials_file(const fs::path& data) {
  return data / "credentials";
}

std::optional<fs::path> login_file(const Environment& environment) {
  fs::path config = value_of(environment, "XDG_CONFIG_HOME");
  if (config.is_absolute()) return config / "errand" / "credentials";
  fs::path home = value_of(environment, "HOME");
  if (!home.is_absolute()) return {};
  return home / ".config" / "errand" / "credentials";
}

Result<Credentials> find_server(const ServerFlags& flags, const Environment& environment,
                                const fs::path& folder) {
  Credentials server = named_server(flags, environment);
  ERRAND_CHECK(complete_from_files(server, flags, environment, folder));
  if (server.workspace.empty()) server.workspace = "default";
  auto parsed = net::parse_url(server.url);
  if (!parsed) {
    return Error(parsed.error().code(),
                 cat("--server ", server.url, ": ", parsed.error().message()));
  }
  if (server.key.empty()) {
    return Error(ErrorCode::unauthorized, cat("no key for the server ", server.url))
        .hint("give one with --key KEY, or in the environment variable ERRAND_API_KEY");
  }
  return server;
}

Result<Credentials> find_server_here(const ServerFlags& flags) {
  return find_server(flags, environment_here(), folder_here());
}

Result<std::optional<fs::path>> nearest_credentials_here() {
  return nearest_file(environment_here(), folder_here());
}

Result<Credentials> checked_server(Credentials server) {
  server.url = std::string(net::without_trailing_slashes(server.url));
  ERRAND_CHECK(net::parse_url(server.url));
  return server;
}

}  // namespace errand::sdk
