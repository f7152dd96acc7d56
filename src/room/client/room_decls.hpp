#pragma once

#include <optional>
#include <string>
#include <vector>

#include "room/client/room_client.hpp"
#include "run/tools/room_ref.hpp"
#include "run/tools/tool_decl.hpp"

namespace errand::room {

// Which tool of a room a binding means: by names, because ids change with every connection.
struct BoundTool {
  std::string toolkit;
  std::string tool;
  std::string participant_name = {};  // of the host; empty: any host of the toolkit
  bool takes_text = false;            // its input is a text instead of JSON

  friend bool operator==(const BoundTool&, const BoundTool&) = default;
};
std::string to_upstream(const BoundTool& tool);
// Nothing if the text is no binding.
std::optional<BoundTool> parse_upstream(std::string_view text);

// The tools of a toolkit that a model can call: the tools that take JSON, a text or nothing, at
// once. Without a requirement, all such tools. Their schemas come from the host unchecked.
std::vector<ToolDecl> decls_of(const ListedToolkit& toolkit, const RequiredToolkit* required);

}  // namespace errand::room
