#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"
#include "sdk/credentials.hpp"

namespace errand::cli {

// The id of the run that a word of the command line means: a whole id, the beginning of exactly one
// id with or without its "run_", or "latest". Looks through the kSearchedRunsMax latest runs.
// Blocks. invalid_argument: several runs begin so; candidates are some of them. not_found: none.
constexpr std::size_t kSearchedRunsMax = 1000;
Result<std::string> find_run(const sdk::Credentials& server, const std::string& word);

// Work with a server, such as with_server does it.
using WithServer = std::function<int(const std::function<int(const sdk::Credentials&)>&)>;
// Works with the run that `word` means; returns the exit code.
int with_run(const WithServer& with, const std::string& word,
             const std::function<int(const sdk::Credentials&, const std::string& run)>& work);

}  // namespace errand::cli
