#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <errand/toolkit.hpp>

// No part of the contract.
namespace errand {
class MemoryFiles;
}  // namespace errand

// The tools that `errand run` has, as toolkits: give them to a run, a worker or a runtime, alone or
// with `only`, `without` and `plus`.
namespace errand::ERRAND_V1::toolkits {

// ---- Files --------------------------------------------------------------------------------------

enum class Access : std::uint8_t {
  read,   // read_file, list_files, search_files
  write,  // write_file and edit_file as well
};

// Files that are nowhere but in memory. Copies share them; safe to use from any thread.
class MemoryFiles final {
 public:
  // Throws an Error: invalid_argument or forbidden for a wrong path, too_large past 10,000 files or
  // 64 MB.
  explicit MemoryFiles(const std::map<std::string, std::string>& files = {});
  ~MemoryFiles();
  MemoryFiles(const MemoryFiles&);
  MemoryFiles& operator=(const MemoryFiles&);

  // All of them, by path.
  std::map<std::string, std::string> all() const;

 private:
  friend Toolkit files(const MemoryFiles& memory, Access access);
  std::shared_ptr<errand::MemoryFiles> files_;
};

// The files of a directory, and nothing outside of it, with any links, dots or races. A data
// directory of Errand is left out. Throws an Error (invalid_argument) if the directory cannot be
// read, unsupported on Linux before 5.6.
Toolkit files(const std::filesystem::path& directory, Access access = Access::read);
Toolkit files(const MemoryFiles& memory, Access access = Access::write);

// ---- Commands -----------------------------------------------------------------------------------

struct ShellOptions {
  std::string directory = ".";  // where commands run
  // Asked before each command, on the thread of its call: false refuses the command. Must be set:
  // an approved command may do anything that this process may do.
  std::function<bool(const std::string& command)> approve = {};
};

// `shell`: runs a command with /bin/sh. Variables that look like secrets are not passed on. Throws
// an Error (invalid_argument) without `approve`.
Toolkit shell(ShellOptions options);

// ---- The web ------------------------------------------------------------------------------------

// At most 50,000 characters of a page are a result; the result says how to read on.
struct WebFetchOptions {
  // Networks that may be reached besides public addresses: "10.0.0.0/8".
  std::vector<std::string> allow_networks = {};
};

// `web_fetch`: reads a page as Markdown. Throws an Error (invalid_argument) for a wrong network.
Toolkit web_fetch(WebFetchOptions options = {});

struct WebSearchOptions {
  std::string provider =
      {};  // "exa", "brave" or "tavily"; empty: what the environment has a key of
  std::string key = {};
  std::string base_url = {};  // empty: the provider's own
  int num_results = 5;        // of a call that names no number; 1 to 20
};

// `web_search`: asks a search service. Without options the first of EXA_API_KEY, BRAVE_API_KEY and
// TAVILY_API_KEY names it. Throws an Error: invalid_argument for an unknown provider or a number of
// results that is out of its range, unauthorized without a key.
Toolkit web_search(WebSearchOptions options = {});

// ---- Small ones ---------------------------------------------------------------------------------

// `current_time`: of the clock of a runtime (RuntimeOptions::now), or of this machine. `now` is for
// tests of tools without a runtime.
Toolkit time(std::function<std::chrono::system_clock::time_point()> now = {});
Toolkit calculator();  // `calculator`

}  // namespace errand::ERRAND_V1::toolkits
