#pragma once

#include <string>
#include <string_view>

#include "json/value.hpp"
#include "sdk/api_client.hpp"

namespace errand::cli {

// The runs that a chat is made of. Each message is a run of its own; all but the first are forks of
// the run before, so that everything that was said and done there goes along. What the model left
// unanswered because its run failed or was cancelled does not. The runs of a chat carry its id.
// Lives on one home.
class ChatThread final {
 public:
  // `fields` are the members of a request for a run that every message has; the tools among them
  // are all that the model may call, also in a chat that had others.
  ChatThread(sdk::ApiClient& api, std::string id, json::Object fields);

  // Goes on with a chat that is there, or the latest one if `id` is empty; gives what the API says
  // of its last run. not_found: there is no such chat.
  Task<Result<json::Value>> resume(std::string id);

  // The request for the run of the next message.
  sdk::ApiRequest say(std::string_view message) const;
  // The next message goes on from this run.
  void go_on_from(std::string run) { last_run_ = std::move(run); }

  void choose_model(std::string_view id) { fields_["modelId"] = id; }
  std::string chosen_model() const;  // empty: the one before, or the default

  const std::string& id() const { return id_; }
  const std::string& last_run() const { return last_run_; }  // empty before the first

 private:
  sdk::ApiClient& api_;
  std::string id_;
  json::Object fields_;
  std::string last_run_;
};

// Whether what the API says of a run is that it has ended.
bool has_ended(const json::Value& run);

}  // namespace errand::cli
