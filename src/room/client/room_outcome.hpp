#pragma once

#include "room/wire/content.hpp"
#include "tool/tool.hpp"

namespace errand::room {

// The outcome of a tool call from the contents that a room sent: one content, or the items of a
// stream.
ToolOutcome to_outcome(std::vector<Content> contents);
ToolOutcome to_outcome(const Error& error);

// What a tool gives back as one content of a room: a single part keeps its shape, and structured
// content is JSON. Several parts are {"content": [...]}, with bytes in base64.
Content to_content(ToolOutcome outcome);

}  // namespace errand::room
