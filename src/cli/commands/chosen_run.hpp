#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"
#include "sdk/internal/api_client.hpp"

namespace errand::cli {

// The id of the run that a word of the command line means: a whole id, the beginning of exactly one
// id with or without its "run_", or "latest". Blocks.
// invalid_argument: several runs begin so; candidates are some of them. not_found: none.
Result<std::string> find_run(sdk::ApiClient& api, const std::string& word);

// Work with a client, such as with_server and with_data do it.
using WithClient = std::function<int(const std::function<int(sdk::ApiClient&)>&)>;
// Works with the run that `word` means; returns the exit code.
int with_run(const WithClient& with, const std::string& word,
             const std::function<int(sdk::ApiClient&, const std::string& run)>& work);

}  // namespace errand::cli
