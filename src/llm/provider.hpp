#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "llm/model.hpp"

namespace errand::llm {

// Names are in lower case.
using HeaderList = std::vector<std::pair<std::string, std::string>>;

// One HTTP POST that asks a vendor for a streamed answer. `path` is relative to the base URL.
struct ProviderRequest {
  std::string path;
  HeaderList headers;
  std::string body;
  bool holds_to_json = false;  // by a format that the vendor may lack
};

// A vendor's answer that is not the requested stream. `body` is valid only during the call.
struct ApiAnswer {
  int status = 0;
  HeaderList headers;
  std::string_view body;
  WallTime now{};  // the pause of a "retry-after" date is counted from here
};

// One HTTP GET that costs nothing and shows whether the vendor accepts the key and has the model.
struct ProviderProbe {
  std::string path;
  HeaderList headers;
  // The id that the answer, a list of models, must contain; "" accepts any list. Absent: the answer
  // is no list, and 404 says that the vendor does not have the model.
  std::optional<std::string> listed_id = std::nullopt;
};

struct ApiFailure {
  ModelFailure failure;
  // The pause that the vendor asks for; absent if the vendor names none, or an absurd one.
  std::optional<milliseconds> retry_after;
};

// Turns the server-sent events of one answer into TurnEvents. The result does not depend on how the
// bytes were split. The last event is the only Finished or Failed; input after it is ignored, as
// are unknown event names, fields and values. The BlockClosed of a call's own block comes right
// before its CallClosed.
class StreamDecoder {
 public:
  virtual ~StreamDecoder() = default;
  // `name` is the event's type ("message" or empty where the vendor gives none).
  virtual std::vector<TurnEvent> feed(std::string_view name, std::string_view data) = 0;
  // The body has ended. An answer without its terminal marker has failed.
  virtual std::vector<TurnEvent> finish() = 0;
  // The pause that a failure in the stream asks for.
  virtual std::optional<milliseconds> retry_after() const { return {}; }
};

// A vendor's wire format as pure functions over bytes, for one model and its options. Immutable.
// Keeps no part of a request.
class Provider {
 public:
  virtual ~Provider() = default;
  virtual ProviderRequest build(const TurnRequest& request) const = 0;
  // For the answer to this request.
  virtual std::unique_ptr<StreamDecoder> make_decoder(const TurnRequest& request) const = 0;
  virtual ApiFailure classify(const ApiAnswer& answer) const = 0;
  // For a request with an output schema.
  virtual OutputMechanism output_mechanism(const TurnRequest& request) const = 0;
  virtual ProviderProbe probe() const = 0;
};

// Limits of one answer. A turn past them fails.
constexpr std::size_t kAnswerBytesMax = 64U * 1024 * 1024;
constexpr std::size_t kAnswerCallsMax = 512;

}  // namespace errand::llm
