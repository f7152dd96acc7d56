#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cli/show/answer_text.hpp"
#include "sdk/credentials.hpp"

namespace errand::cli {

// Commands that work with a server, and with a data directory that no server uses.

// What to ask for if neither a server nor a data directory is there.
enum class WithoutData { is_refused, uses_memory };

struct DataPlace {
  sdk::ServerFlags server;
  std::string config = {};  // of the models without a server
  WithoutData without = WithoutData::is_refused;
};

// Credentials::key_source of this process answering for the directory.
inline constexpr std::string_view kKeyOfThisProcess = "of this process";

// Works with the server that the flags mean. If they name none, and no server uses the data
// directory, this process answers for the directory while the work lasts: on a free port of
// 127.0.0.1, with a key that nobody else knows. It drives no runs. Returns the exit code.
int with_data(const DataPlace& place, const std::function<int(const sdk::Credentials&)>& work);

// ask_and_show on with_data.
int ask_data_and_show(const DataPlace& place, Form form, sdk::ApiRequest request,
                      const std::function<std::string(const json::Value&)>& text);

}  // namespace errand::cli
