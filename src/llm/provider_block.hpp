#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run/message.hpp"

namespace errand::llm {

// Who made a vendor's block. Signatures and encrypted thoughts are bound to both, so that a block
// goes back to the same model only; for any other the turn is told in neutral parts.
struct BlockOrigin {
  std::string provider;
  std::string model;
};

// A block as the journal keeps it: {"provider":"...","model":"...","block":<the vendor's JSON>}.
std::string tag_block(const BlockOrigin& origin, std::string_view block);

// The vendor's own blocks of a turn, in order; nothing unless all of them are of this origin. Each
// view points into `message`.
std::optional<std::vector<std::string_view>> own_blocks(const BlockOrigin& origin,
                                                        const Message& message);

}  // namespace errand::llm
