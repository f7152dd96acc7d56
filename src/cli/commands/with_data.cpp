#include "cli/commands/with_data.hpp"

#include <utility>

#include "cli/terminal/console.hpp"
#include "cli/terminal/report.hpp"

namespace errand::cli {

int with_data(const sdk::DataPlace& place, const std::function<int(sdk::ApiClient&)>& work) {
  ignore_broken_pipes();
  sdk::OpenedData opened = sdk::open_data(place);
  if (opened.client) return work(**opened.client);
  const Error& error = opened.client.error();
  if (opened.is_server) return fail_setup(error);
  return error.code() == ErrorCode::invalid_argument ? fail_usage(error) : fail(error);
}

int ask_data_and_show(const AnswerOptions& options, sdk::ApiRequest request,
                      const std::function<std::string(const json::Value&)>& text) {
  return with_data({.server = options.server}, [&](sdk::ApiClient& api) {
    return show_answer(api, options.form, std::move(request), text);
  });
}

}  // namespace errand::cli
