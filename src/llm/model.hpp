#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "async/task.hpp"
#include "llm/message_list.hpp"
#include "run/log/journal.hpp"
#include "run/message.hpp"
#include "run/model_retry.hpp"
#include "run/tools/tool_set.hpp"
#include "run/usage.hpp"

namespace errand::llm {

// A run and its requests share texts and messages: a conversation is long, and its past never
// changes.
using TextPtr = std::shared_ptr<const std::string>;
TextPtr share_text(std::string text);
std::vector<MessagePtr> share_messages(std::vector<Message> messages);

// The bytes of the files that the messages of a request name.
struct TurnFiles {
  // By hash. A file that cannot be read is there without bytes; a file that was left out is absent.
  std::map<std::string, std::optional<std::string>, std::less<>> bytes;
};

// One question to a model, in no vendor's format. A request owns its parts or shares immutable
// ones, so it refers to nobody else's memory, and a copy duplicates neither texts nor file bytes. A
// holder drops the request once it cannot be sent again, because its files may take 20 MB.
struct TurnRequest {
  TextPtr system_prompt = share_text({});  // never null
  MessageList messages = {};
  ToolDecls tools = share_decls({});  // never null
  // The JSON Schema that the text of the answer must follow; nullptr asks for free text.
  SchemaPtr output_schema = nullptr;
  // Free text that is to be JSON, as the system prompt says. A provider that can hold the model to
  // JSON without a schema does so.
  bool is_json = false;
  // The schema's name, for vendors that want one: [A-Za-z0-9_-]{1,64}.
  std::string output_name = "output";
  // 0 (off) to 100; absent leaves the level to the vendor.
  std::optional<int> reasoning_level = std::nullopt;
  // Includes thinking; absent leaves the limit to the provider's options.
  std::optional<std::int64_t> output_tokens_max = std::nullopt;
  // The model may call no tool. The tools are listed because the messages mention them.
  bool tools_off = false;
  // nullptr if the messages name no files.
  std::shared_ptr<const TurnFiles> files = nullptr;
  // Told of each pause before a model asks its vendor again, on the home; may be empty. Outlives
  // the stream of the answer.
  std::function<void(const ModelRetry&)> on_retry = {};
};

// Roughly how long a vendor's request for it is. The schemas of its tools count with a fixed size.
std::size_t rough_bytes(const TurnRequest& request);

// What a model says, in order. A stream begins with AnsweredBy if a fallback model answers. It ends
// with Finished or Failed; a stream that just stops has failed, too.
struct TextDelta {
  std::string text;
};
struct ThinkingDelta {
  std::string text;
};
// A block in the vendor's own format is complete. `json` is kept verbatim and replayed to this
// vendor.
struct BlockClosed {
  std::string json;
};
// A call is complete and may start while the model still streams.
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
  // No part of an answer came, and the model has already retried as often as that may help. The
  // run does not retry, whatever `retryable` tells clients.
  bool is_settled = false;
  // The fallback model rejected the request because of its output schema.
  bool refuses_schema = false;
};
using TurnEvent =
    std::variant<AnsweredBy, TextDelta, ThinkingDelta, BlockClosed, CallClosed, Finished, Failed>;

// The answer to one question. Lives on the home it was made on. Destroying the stream closes its
// connection.
class TurnStream {
 public:
  virtual ~TurnStream() = default;
  // Waits for the next events and returns all that have arrived, in order; never empty. After the
  // last event, or after abort(), returns Failed.
  virtual Task<std::vector<TurnEvent>> next() = 0;
  // Makes a pending next() return at once and closes the connection to the model.
  virtual void abort() = 0;
};

// Whether a model can be asked right now.
struct Reachability {
  enum class State {
    reachable,
    wrong_key,      // the vendor rejects the key, or wants one
    no_such_model,  // the vendor answers, but does not have the model
    unreachable,    // no answer, or an answer that says nothing
  };
  State state = State::reachable;
  std::string message;  // why not, for people

  friend bool operator==(const Reachability&, const Reachability&) = default;
};

// A model that can be asked. Answers many turns at once, lives on one home, and outlives the
// streams that it returns.
class Model {
 public:
  virtual ~Model() = default;
  virtual std::unique_ptr<TurnStream> ask(TurnRequest request) = 0;
  // How this model is made to follow the request's output schema; its fallback models may differ.
  // Depends only on the schema and the tools.
  virtual OutputMechanism output_mechanism(const TurnRequest&) const {
    return OutputMechanism::plain;
  }
  // Sends the vendor's cheapest request. Takes a few seconds at most.
  virtual Task<Reachability> check() { co_return Reachability{}; }
};

}  // namespace errand::llm
