#pragma once

#include <optional>
#include <string>

#include "llm/provider.hpp"

namespace errand::llm {

// How one server wants chat completions. The defaults are OpenAI's own; compatible servers refuse
// or ignore what they do not know, so that every difference is a switch.
struct ChatOptions {
  std::string model;
  std::string path = "/v1/chat/completions";
  std::string models_path{};  // of a list that need not have the model; empty: beside `path`
  std::string api_key;        // empty: none is sent
  HeaderList headers{};       // sent besides
  std::optional<std::int64_t> output_tokens_max{};
  OutputMechanism output = OutputMechanism::native;
  // The least effort the model knows: "none", "minimal", "low". Empty: it takes no effort at all.
  std::string effort_min{};
  // The name of the limit; many compatible servers read "max_tokens" only.
  std::string limit_field = "max_completion_tokens";
  std::string system_role = "system";  // or "developer"
  bool asks_for_usage = true;          // by "stream_options"
  // Longer string limits are left out of tools' schemas: llama.cpp fails to build grammars of them.
  std::optional<std::int64_t> schema_length_max{};
};

// OpenAI's chat completions, and what Ollama, vLLM, llama.cpp, OpenRouter and others make of them.
// Turns have no blocks of the vendor's: nothing in them is lost in neutral parts. Calls close at
// the end of the stream, because no fragment says that it is the last one.
class ChatProvider final : public Provider {
 public:
  explicit ChatProvider(ChatOptions options) : options_(std::move(options)) {}

  ProviderRequest build(const TurnRequest& request) const override;
  std::unique_ptr<StreamDecoder> make_decoder(const TurnRequest& request) const override;
  ApiFailure classify(const ApiAnswer& answer) const override;
  OutputMechanism output_mechanism(const TurnRequest&) const override { return options_.output; }
  ProviderProbe probe() const override;

 private:
  const ChatOptions options_;
};

}  // namespace errand::llm
