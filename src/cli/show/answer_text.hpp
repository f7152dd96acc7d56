#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cli/show/event_printer.hpp"
#include "json/value.hpp"
#include "sdk/internal/api_client.hpp"

namespace errand::cli {

// Reading answers of a server for display. What is missing, or of another kind, is just empty.

const json::Value* member(const json::Value& value, std::string_view key);
std::string text_of(const json::Value& value, std::string_view key);  // a text, number or flag
json::Array items_of(const json::Value& value, std::string_view key);

struct AnswerOptions {
  Form form = Form::text;
  sdk::ServerFlags server;
};
// Asks, and shows the answer as it is, or as `text` has it; returns the exit code.
int show_answer(sdk::ApiClient& api, Form form, sdk::ApiRequest request,
                const std::function<std::string(const json::Value&)>& text);
// Asks the server that the flags mean, and shows its answer as it is, or as `text` has it; returns
// the exit code.
int ask_and_show(const AnswerOptions& options, sdk::ApiRequest request,
                 const std::function<std::string(const json::Value&)>& text);

}  // namespace errand::cli
