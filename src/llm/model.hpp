#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "async/task.hpp"
#include "run/journal.hpp"
#include "run/message.hpp"
#include "run/tool_decl.hpp"
#include "run/usage.hpp"

namespace errand::llm {

// Bytes of the files that the messages of a question name.
struct TurnFiles {
  // By hash. What cannot be read any more has nothing; what is left out is absent.
  std::map<std::string, std::optional<std::string>, std::less<>> bytes;
};

// One question to a model, free of any vendor's words. What it refers to stays as it is until the
// stream is destroyed.
struct TurnRequest {
  const std::string& system_prompt;
  const std::vector<Message>& messages;
  const std::vector<ToolDecl>& tools;
  // The schema that the text of an answer must be JSON of; nullptr asks for free text.
  SchemaPtr output_schema = nullptr;
  // What vendors that name schemas call it: [A-Za-z0-9_-]{1,64}.
  std::string output_name = "output";
  // 0 (off) to 100; absent leaves it to the vendor.
  std::optional<int> reasoning_level = std::nullopt;
  // Thinking included; absent leaves it to the provider's options.
  std::optional<std::int64_t> output_tokens_max = std::nullopt;
  // No tool may be called; they are there because the messages speak of them.
  bool tools_off = false;
  // Held until the model is asked, and no longer, because they are large. nullptr without files.
  std::shared_ptr<const TurnFiles> files = nullptr;
};

// What a model says, in order. A turn's stream begins with AnsweredBy if another model than the one
// that was asked answers. It ends with Finished or Failed; one that just stops has failed too.
struct TextDelta {
  std::string text;
};
struct ThinkingDelta {
  std::string text;
};
// One of the vendor's own blocks is complete. `json` is kept verbatim and replayed to this vendor.
struct BlockClosed {
  std::string json;
};
// A call is complete: it may start now, while the model still streams.
struct CallClosed {
  std::string provider_id;
  std::string name;
  std::string arguments;  // raw text; "" stands for {}
};
struct Finished {
  std::string finish_reason;
  Usage usage;
};
struct Failed {
  ModelFailure failure;
  // Nothing of an answer came, and the model itself has asked again as often as that may help: it
  // is final, whatever `retryable` tells clients.
  bool is_settled = false;
  // One that was asked in place of the model, which has this failure, would not have the question
  // with its output schema.
  bool refuses_schema = false;
};
using TurnEvent =
    std::variant<AnsweredBy, TextDelta, ThinkingDelta, BlockClosed, CallClosed, Finished, Failed>;

// The answer to one question. Lives on the home it was made on; destroying it closes whatever it
// reads from.
class TurnStream {
 public:
  virtual ~TurnStream() = default;
  // Waits for the next events and returns all that are there, in order; never empty. After the last
  // event, or after abort(), returns Failed.
  virtual Task<std::vector<TurnEvent>> next() = 0;
  // Makes a pending next() return at once and closes the connection to the model.
  virtual void abort() = 0;
};

// Whether a model could be asked right now.
struct Reachability {
  enum class State {
    reachable,
    wrong_key,      // the vendor does not take the key, or wants one
    no_such_model,  // the vendor is there and does not have it
    unreachable,    // no answer, or none that says anything
  };
  State state = State::reachable;
  std::string message;  // why not, for people

  friend bool operator==(const Reachability&, const Reachability&) = default;
};

// A model that can be asked. Safe to use for many turns at once; lives on one home.
class Model {
 public:
  virtual ~Model() = default;
  virtual std::unique_ptr<TurnStream> ask(TurnRequest request) = 0;
  // How answers of this model, and of no other in its place, are made to follow the request's
  // output schema. It depends on the schema and the tools alone.
  virtual OutputMechanism output_mechanism(const TurnRequest&) const {
    return OutputMechanism::plain;
  }
  // Finds out by the vendor's cheapest request, within a few seconds.
  virtual Task<Reachability> check() { co_return Reachability{}; }
};

}  // namespace errand::llm
