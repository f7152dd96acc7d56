#pragma once

#include <functional>
#include <string>

#include "cli/show/answer_text.hpp"
#include "sdk/internal/data_client.hpp"

namespace errand::cli {

// Works with the server that the flags mean, or with this process for a data directory that no
// server uses; returns the exit code. See sdk::open_data.
int with_data(const sdk::DataPlace& place, const std::function<int(sdk::ApiClient&)>& work);

// ask_and_show, of a server or of a data directory that no server uses.
int ask_data_and_show(const AnswerOptions& options, sdk::ApiRequest request,
                      const std::function<std::string(const json::Value&)>& text);

}  // namespace errand::cli
