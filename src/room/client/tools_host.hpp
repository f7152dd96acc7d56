#pragma once

#include <memory>
#include <string>
#include <vector>

#include "async/timers.hpp"
#include "json/schema_cache.hpp"
#include "room/client/content_tool.hpp"
#include "room/client/room_client.hpp"
#include "tool/tool.hpp"

namespace errand::room {

// Tools of this process as a toolkit that a participant hosts.
struct ToolkitOffer {
  std::string name;
  std::string title = {};
  std::string description = {};
  std::string thumbnail_url = {};
  std::vector<std::string> rules = {};
  std::vector<ToolPtr> tools;
  std::vector<std::shared_ptr<ContentTool>> content_tools = {};
  json::Object annotations = {};  // texts, besides the annotations that are made here
  bool is_public = true;
  // Arguments are checked here, with the schemas compiled once. Null: the tools check theirs.
  // Outlives the toolkit.
  json::SchemaCache* schemas = nullptr;
};

// `client` hosts the toolkit and outlives its calls.
std::shared_ptr<HostedToolkit> make_hosted_toolkit(RoomClient& client, ToolkitOffer offer);

// Annotations of a toolkit that say which of its tools (their names, with commas between them)
// change nothing, or nothing more when they are called again.
inline constexpr std::string_view kReadOnlyAnnotation = "errand.read_only";
inline constexpr std::string_view kIdempotentAnnotation = "errand.idempotent";
// And which tools end the other calls of a run's turn when they fail.
inline constexpr std::string_view kCancelSiblingsAnnotation = "errand.cancel_siblings";
// And how long a call of each may take, as "NAME=MILLISECONDS".
inline constexpr std::string_view kTimeoutAnnotation = "errand.timeout_ms";

}  // namespace errand::room
