#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "async/wakeup.hpp"
#include "base/text.hpp"
#include "sdk/test_api.hpp"
#include "tool/tool.hpp"

namespace errand::sdk {

// Takes every answer, and keeps them.
class RecordingApi : public NoApi {
 public:
  Task<Result<void>> answer(RunId, ToolUseId call, ToolAnswer answer, std::string claim) override {
    posted.push_back(cat(call.view(), answer.ok ? " result: " : " error: ", answer.text));
    claims_used.push_back(std::move(claim));
    if (refusal) co_return *refusal;
    co_return Result<void>();
  }
  Task<Result<Claim>> claim(ToolUseId call, milliseconds, std::string key) override {
    if (held) co_await held->wait();
    if (claim_refusal) co_return *claim_refusal;
    if (!taken.insert(call.str()).second && keys[call.str()] != key) {
      co_return Error(ErrorCode::conflict, "another client has it").reason("claimed");
    }
    keys[call.str()] = std::move(key);
    if (lost_answers-- > 0) co_return Error(ErrorCode::unavailable, "the connection ended");
    co_return Claim{.id = cat("claim of ", call.view()), .at = now};
  }
  Task<Result<void>> extend(ToolUseId call, std::string claim, milliseconds ttl) override {
    extended.push_back(cat(claim, " for ", ttl.count(), " ms"));
    if (extend_refusal) co_return *extend_refusal;
    if (ttl == milliseconds(1)) taken.erase(call.str());
    co_return Result<void>();
  }

  Wakeup* held = nullptr;  // what a request for a claim waits for
  std::vector<std::string> extended;
  std::vector<std::string> posted;
  std::vector<std::string> claims_used;
  std::set<std::string> taken;
  std::map<std::string, std::string> keys;  // of the claims
  int lost_answers = 0;                     // claims that are made, and never heard of
  std::optional<Error> refusal;             // of every answer
  std::optional<Error> claim_refusal;       // of every claim
  std::optional<Error> extend_refusal;      // of every extension
  std::optional<WallTime> now;              // the clock that claims tell
};

// Runs until a test lets it go on.
class HeldTool final : public Tool {
 public:
  explicit HeldTool(std::string name, ToolAnnotations annotations = {}) {
    decl_.name = std::move(name);
    decl_.annotations = annotations;
  }

  const ToolDecl& decl() const override { return decl_; }
  Task<ToolOutcome> invoke(ToolCall call, ToolContext context) override {
    std::string id = call.id.str();
    deadlines[id] = context.deadline;
    Wakeup bell(co_await asio::this_coro::executor);
    struct Listed {
      std::map<std::string, Wakeup*>& all;
      std::string id;
      ~Listed() { all.erase(id); }
    };
    running[id] = &bell;
    Listed listed{running, id};
    co_await bell.wait();
    co_return outcome;
  }

  std::map<std::string, Wakeup*> running;
  std::map<std::string, SteadyTime> deadlines;
  ToolOutcome outcome = text_outcome("done");

 private:
  ToolDecl decl_;
};

}  // namespace errand::sdk
