#include "process/find_program.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.hpp"

namespace errand::process {
namespace {

std::string_view path_of(const std::vector<std::string>& environment) {
  for (std::string_view variable : environment) {
    if (variable.starts_with("PATH=")) return variable.substr(5);
  }
  return {};
}

bool is_executable_file(const std::string& path) {
  struct ::stat about{};
  return ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

Result<std::string> find_program(const std::string& name,
                                 const std::vector<std::string>& environment) {
  if (name.find('/') != std::string::npos) return name;
  std::string_view folders = path_of(environment);
  std::string refused;
  for (std::string_view rest = folders; !rest.empty() && !name.empty();) {
    std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
    if (!folder.starts_with('/')) continue;
    std::string path = cat(folder, "/", name);
    if (is_executable_file(path)) return path;
    if (refused.empty() && ::access(path.c_str(), F_OK) == 0) refused = path;
  }
  std::string why = refused.empty() ? cat("PATH (", folders, ") has no such program")
                                    : cat(refused, " is not an executable file");
  return Error(ErrorCode::not_found, cat("cannot start ", name, ": ", why))
      .reason("program_not_found");
}

}  // namespace errand::process
