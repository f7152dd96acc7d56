#include "cli/doctor/port_owner.hpp"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/text.hpp"

namespace errand::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kListening = "0A";

// Whether an address such as "0100007F:1C84" ends with the port.
bool has_port(std::string_view address, std::uint16_t port) {
  std::string_view digits = address.substr(address.rfind(':') + 1);
  std::uint16_t found = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), found, 16);
  return error == std::errc() && found == port;
}

// The link targets of descriptors that are sockets on this port: "socket:[12345]".
std::set<std::string> sockets_on(std::uint16_t port) {
  std::set<std::string> out;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream in(table);
    for (std::string line; std::getline(in, line);) {
      std::istringstream words(line);
      std::string number, local, remote, state, queues, timer, retries, user, timeout, inode;
      words >> number >> local >> remote >> state >> queues >> timer >> retries >> user >>
          timeout >> inode;
      if (state == kListening && has_port(local, port)) out.insert(cat("socket:[", inode, "]"));
    }
  }
  return out;
}

bool has_one_of(const fs::path& process, const std::set<std::string>& sockets) {
  std::error_code error;
  for (fs::directory_iterator at(process / "fd", error), end; !error && at != end;
       at.increment(error)) {
    std::error_code gone;
    if (sockets.contains(fs::read_symlink(at->path(), gone).string())) return true;
  }
  return false;
}

}  // namespace

std::string port_owner(std::uint16_t port) {
  std::set<std::string> sockets = sockets_on(port);
  if (sockets.empty()) return {};
  std::error_code error;
  for (fs::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    std::string pid = at->path().filename().string();
    if (!parse_integer<int>(pid) || !has_one_of(at->path(), sockets)) continue;
    std::ifstream in(at->path() / "comm");
    std::string name;
    std::getline(in, name);
    return cat("process ", pid, " (", name, ")");
  }
  return {};
}

}  // namespace errand::cli
