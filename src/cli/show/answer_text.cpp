#include "cli/show/answer_text.hpp"

#include <utility>

#include "cli/terminal/report.hpp"
#include "json/write.hpp"

namespace errand::cli {

const json::Value* member(const json::Value& value, std::string_view key) {
  return value.is_object() ? value.get_object().if_contains(key) : nullptr;
}

std::string text_of(const json::Value& value, std::string_view key) {
  const json::Value* found = member(value, key);
  if (!found || found->is_null() || found->is_structured()) return {};
  if (found->is_string()) return std::string(json::view(found->get_string()));
  return json::write(*found);
}

json::Array items_of(const json::Value& value, std::string_view key) {
  const json::Value* found = member(value, key);
  return found && found->is_array() ? found->get_array() : json::Array();
}

int show_answer(sdk::ApiClient& api, Form form, sdk::ApiRequest request,
                const std::function<std::string(const json::Value&)>& text) {
  auto answer = api.ask(std::move(request));
  if (!answer) return fail(answer.error());
  if (form == Form::json && !answer->is_null()) return print_json(*answer);
  return print(text(*answer));
}

int ask_and_show(const AnswerOptions& options, sdk::ApiRequest request,
                 const std::function<std::string(const json::Value&)>& text) {
  return with_server(options.server, [&](sdk::ApiClient& api) {
    return show_answer(api, options.form, std::move(request), text);
  });
}

}  // namespace errand::cli
