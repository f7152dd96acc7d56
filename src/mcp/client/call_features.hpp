#pragma once

#include <string>

#include "mcp/client/client_features.hpp"
#include "tool/call_questions.hpp"

namespace errand::mcp {

// What a client's answer to an elicitation tells the server. Whatever is not an answer, or does not
// fit the form, declines.
ElicitResult elicit_result(const ElicitParams& asked, const ToolAnswer& answer);

// Answers what a server asks in the middle of a call: by the run that makes the call. An answer
// that is waited for refers neither to this nor to the call.
class CallFeatures final : public ClientFeatures {
 public:
  // `client` answers requests that do not belong to this call. Both outlive this object. `tool` is
  // the tool's name in the run.
  CallFeatures(ClientFeatures& client, CallQuestions& questions, std::string tool)
      : client_(client), questions_(questions), tool_(std::move(tool)) {}

  ClientCapabilities offered() const override { return client_.offered(); }
  Task<Result<std::vector<Root>>> roots() override { return client_.roots(); }
  Task<Result<CreateMessageResult>> create_message(CreateMessageParams params) override;
  Task<Result<ElicitResult>> elicit(ElicitParams params) override;

 private:
  ClientFeatures& client_;
  CallQuestions& questions_;
  const std::string tool_;
};

}  // namespace errand::mcp
