#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "run/ids.hpp"

namespace errand {

// A call that the server makes may ask the client of its run something. Such a question is pending
// like a call of a client's tool. Its id follows from the call, so that a call that is made again
// after a restart finds what it has asked.
inline constexpr std::string_view kQuestionMark = "_q";

// The n-th question of a call, from 1 on. Empty: the id of the call leaves no room.
inline ToolUseId question_of(const ToolUseId& call, int n) {
  return ToolUseId::parse(cat(call.view(), kQuestionMark, n)).value_or(ToolUseId());
}

// The call that asks. Nothing: the id is not one of a question.
inline std::optional<ToolUseId> asking_call(std::string_view id) {
  std::size_t at = id.rfind(kQuestionMark);
  if (at == std::string_view::npos) return {};
  std::string_view number = id.substr(at + kQuestionMark.size());
  if (!parse_integer<int>(number) || *parse_integer<int>(number) < 1) return {};
  return ToolUseId::parse(id.substr(0, at));
}

}  // namespace errand
