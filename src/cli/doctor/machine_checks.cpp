#include "cli/doctor/machine_checks.hpp"

#include <pwd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/size_text.hpp"
#include "base/text.hpp"
#include "cli/terminal/report.hpp"
#include "host/environment.hpp"
#include "host/store_file.hpp"
#include "net/client/tls_context.hpp"
#include "sdk/credentials.hpp"
#include "store/sqlite/file/database.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "store/sqlite/upkeep/examine.hpp"

namespace errand::cli {
namespace {

namespace fs = std::filesystem;
using Level = Finding::Level;

constexpr std::int64_t kComfortableBytes = std::int64_t{1024} * 1024 * 1024;
constexpr rlim_t kComfortableDescriptors = 4096;  // each client's stream takes one
constexpr mode_t kOthers = 0077;

std::string user_name(uid_t user) {
  const passwd* found = ::getpwuid(user);
  return found ? std::string(found->pw_name) : cat("user ", user);
}

std::int64_t free_bytes(const fs::path& path) {
  struct statvfs about{};
  if (::statvfs(path.c_str(), &about) != 0) return 0;
  return static_cast<std::int64_t>(about.f_bavail) * static_cast<std::int64_t>(about.f_frsize);
}

// The directory itself, or the nearest existing one above it.
fs::path nearest_existing(const fs::path& path) {
  std::error_code ignored;
  fs::path found = fs::absolute(path, ignored).lexically_normal();
  while (!fs::exists(found, ignored) && found.has_parent_path() && found != found.parent_path()) {
    found = found.parent_path();
  }
  return found;
}

// Why nothing can be written to a directory; empty if it can be.
std::string write_problem(const fs::path& directory) {
  if (::access(directory.c_str(), R_OK | W_OK | X_OK) == 0) return {};
  std::string problem = std::strerror(errno);
  struct stat about{};
  if (::stat(directory.c_str(), &about) != 0) return problem;
  return cat(problem, "; it belongs to ", user_name(about.st_uid), ", and this is ",
             user_name(::geteuid()));
}

std::string store_state(const sqlite::Examination& found) {
  if (found.has_log) {
    return cat(size_text(found.bytes), ", version ", found.version,
               ", as a killed process left it; the next start puts it right");
  }
  return cat(size_text(found.bytes), ", version ", found.version, ", ", found.runs,
             found.runs == 1 ? " run, " : " runs, ",
             found.is_checked ? "no damage" : "too large for a quick check", ", ",
             found.holder.empty() ? "not in use" : cat("in use by ", found.holder));
}

}  // namespace

Finding check_data_directory(const fs::path& data) {
  Finding out{.subject = "data directory"};
  std::error_code ignored;
  bool is_there = fs::exists(data, ignored);
  fs::path place = nearest_existing(data);
  if (!fs::is_directory(place, ignored)) {
    out.level = Level::wrong;
    out.message = cat(place.string(), " is not a directory");
    out.next = "Choose another one with --data DIR.";
    return out;
  }
  if (std::string problem = write_problem(place); !problem.empty()) {
    out.level = Level::wrong;
    out.message = cat("cannot write to ", place.string(), ": ", problem);
    out.next = "Give it to the user who runs 'errand serve', or choose another with --data DIR.";
    return out;
  }
  std::int64_t room = free_bytes(place);
  out.message = cat(data.string(), ", ", size_text(room), " free");
  if (room < kComfortableBytes) {
    out.level = room < kReserveBytes ? Level::wrong : Level::warning;
    out.next =
        cat("Free some disk space: below ", size_text(kReserveBytes), " new runs are refused.");
  } else if (!is_there) {
    out.level = Level::warning;
    out.message = cat("there is no ", data.string(), " yet");
    out.next = "'errand serve' makes it; --data DIR names another.";
  }
  return out;
}

Finding check_store(const fs::path& data) {
  Finding out{.subject = "store"};
  fs::path path = host::store_file(data.string(), "").value();
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    out.message = cat("there is no ", path.string(), " yet; the first start creates it");
    return out;
  }
  auto found = sqlite::examine(path.string());
  if (!found) {
    bool is_damaged = found.error().reason() == sqlite::kStoreDamaged;
    out.level = Level::wrong;
    out.message = found.error().message();
    out.next = is_damaged ? "Restore a backup with 'errand restore FILE'."
                          : "See that this user may read the file.";
    return out;
  }
  out.message = cat(path.string(), ", ", store_state(*found));
  if (found->version > found->newest) {
    out.level = Level::wrong;
    out.message = cat(path.string(), " has schema version ", found->version,
                      ", but this program knows only versions up to ", found->newest);
    out.next = "Use the program version that wrote it, or a newer one.";
  } else if (found->version < found->newest) {
    out.level = Level::warning;
    out.message = cat(path.string(), " has schema version ", found->version);
    out.next = cat("The next start of a server brings it to version ", found->newest,
                   "; make a backup first with 'errand backup FILE'.");
  }
  return out;
}

Findings check_credentials(const fs::path& data) {
  fs::path file = sdk::credentials_file(data);
  struct stat about{};
  if (::stat(file.c_str(), &about) != 0) return {};
  Finding out{.subject = "credentials"};
  auto kept = sdk::read_credentials(file);
  out.message = cat(file.string(), " is for ", kept ? kept->url : std::string("nobody"));
  if (!kept) {
    out.level = Level::wrong;
    out.message = cat("cannot use ", file.string(), ": ", kept.error().describe());
    out.next = "Name the server with --server URL --key KEY, or put the file right.";
  } else if ((about.st_mode & kOthers) != 0) {
    out.level = Level::warning;
    out.message = cat(file.string(), " holds a key, and other users may read it");
    out.next = cat("Make it private: chmod 600 ", file.string());
  }
  return {out};
}

Finding check_clock(const Clock& clock) {
  Finding out{.subject = "clock", .message = to_iso8601(clock.now())};
  struct stat program{};
  if (::stat("/proc/self/exe", &program) != 0) return out;
  if (clock.now() >= from_millis(std::int64_t{program.st_mtim.tv_sec} * 1000)) return out;
  out.level = Level::wrong;
  out.message = cat("it is ", to_iso8601(clock.now()), ", which is before this program was made");
  out.next = "Set the clock; certificates and times of runs depend on it.";
  return out;
}

Finding check_descriptors() {
  Finding out{.subject = "descriptors"};
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return {.level = Level::warning, .subject = out.subject, .message = "the limit is unknown"};
  }
  out.message = cat("a server may open ", limit.rlim_max);
  if (limit.rlim_max >= kComfortableDescriptors) return out;
  out.level = Level::warning;
  out.next = cat("Every stream takes one: allow ", kComfortableDescriptors,
                 " (LimitNOFILE= of systemd, or ulimit -Hn).");
  return out;
}

Finding check_certificates() {
  Finding out{.subject = "certificates"};
  auto loaded = net::TlsContext::load(host::client_options_here().trust);
  out.message = loaded ? "CA certificates are found" : loaded.error().message();
  if (loaded) return out;
  out.level = Level::warning;
  out.next =
      "Install the package ca-certificates, or name a file in SSL_CERT_FILE; "
      "without them no https:// address is trusted.";
  return out;
}

}  // namespace errand::cli
