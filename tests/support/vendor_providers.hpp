#pragma once

#include "llm/anthropic/anthropic_provider.hpp"
#include "llm/gemini/gemini_provider.hpp"
#include "llm/openai/chat_provider.hpp"
#include "llm/openai/responses_provider.hpp"

namespace errand::llm {

// A provider of each format, for the model "m".
inline const Provider& chat_provider() {
  static const ChatProvider provider({.model = "m"});
  return provider;
}
inline const Provider& responses_provider() {
  static const ResponsesProvider provider({.model = "m"});
  return provider;
}
inline const Provider& anthropic_provider() {
  static const AnthropicProvider provider({.model = "m"});
  return provider;
}
inline const Provider& gemini_provider() {
  static const GeminiProvider provider({.model = "m"});
  return provider;
}

}  // namespace errand::llm
