#include "cli/chat/chat_thread.hpp"

#include <utility>

#include "base/text.hpp"
#include "cli/show/answer_text.hpp"
#include "json/write.hpp"

namespace errand::cli {
namespace {

// Metadata of the runs of all chats, and of one.
constexpr std::string_view kCommandKey = "errand.command";
constexpr std::string_view kCommand = "chat";
constexpr std::string_view kChatKey = "errand.chat";

std::string list_path(std::string_view key, std::string_view value) {
  return cat("/agent-runs?limit=1&metadata=", percent_encode(cat(key, ":", value)));
}

Error no_chat(const std::string& id) {
  if (id.empty()) {
    return Error(ErrorCode::not_found, "there is no chat to go on with")
        .hint("'errand chat' begins one");
  }
  return Error(ErrorCode::not_found, cat("there is no chat \"", id, "\" here"))
      .hint("'errand chat --resume' goes on with the latest one");
}

}  // namespace

ChatThread::ChatThread(sdk::ApiClient& api, std::string id, json::Object fields)
    : api_(api), id_(std::move(id)), fields_(std::move(fields)) {}

Task<Result<json::Value>> ChatThread::resume(std::string id) {
  std::string path = id.empty() ? list_path(kCommandKey, kCommand) : list_path(kChatKey, id);
  ERRAND_CO_TRY(auto answer, co_await api_.send({.path = std::move(path)}));
  json::Array runs = items_of(answer, "runs");
  const json::Value* metadata = runs.empty() ? nullptr : member(runs.front(), "metadata");
  std::string found = metadata ? text_of(*metadata, kChatKey) : std::string();
  if (found.empty()) co_return no_chat(id);
  std::string last = text_of(runs.front(), "runId");
  ERRAND_CO_TRY(auto run, co_await api_.send({.path = sdk::run_path(last, "")}));
  id_ = std::move(found);
  last_run_ = std::move(last);
  co_return run;
}

sdk::ApiRequest ChatThread::say(std::string_view message) const {
  json::Object body = fields_;
  bool is_first = last_run_.empty();
  if (is_first) body["metadata"] = json::Object{{kCommandKey, kCommand}, {kChatKey, id_}};
  if (!is_first && !body.contains("tools")) body["tools"] = json::Array();
  body["prompt"] = message;
  return {.method = net::Method::post,
          .path = is_first ? "/agent-runs" : sdk::run_path(last_run_, "/fork"),
          .body = json::write(body)};
}

std::string ChatThread::chosen_model() const {
  const json::Value* id = fields_.if_contains("modelId");
  return id && id->is_string() ? std::string(json::view(id->get_string())) : std::string();
}

bool has_ended(const json::Value& run) {
  std::string status = text_of(run, "status");
  return status == "succeeded" || status == "failed" || status == "cancelled";
}

}  // namespace errand::cli
