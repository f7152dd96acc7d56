#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <errand/content.hpp>
#include <errand/json.hpp>
#include <errand/tool_context.hpp>

namespace errand::sdk {
class HostedCallCore;
}  // namespace errand::sdk

namespace errand::ERRAND_V1 {

// Bytes with headers of the sender's own.
struct BinaryContent {
  JsonObject headers = {};
  std::string bytes = {};

  bool operator==(const BinaryContent&) const = default;
};

// What the tools of rooms take and give, as the protocol of rooms has it.
using RoomContent =
    std::variant<JsonContent, TextContent, FileContent, BinaryContent, LinkContent, EmptyContent>;

enum class RoomContentType : std::uint8_t { json, text, file, binary, link, empty };

// What a tool takes or gives: one content of these types, or a stream of them.
struct RoomContentSpec {
  std::vector<RoomContentType> types = {RoomContentType::json};
  bool stream = false;
  std::optional<Json> schema = {};  // what JSON looks like

  bool operator==(const RoomContentSpec&) const = default;
};

// A call of a ContentTool. Valid while the handler runs; used by one thread at a time.
class ContentToolCall final {
 public:
  ContentToolCall(ToolContext& context, std::shared_ptr<sdk::HostedCallCore> core,
                  RoomContent input);
  ContentToolCall(const ContentToolCall&) = delete;
  ContentToolCall& operator=(const ContentToolCall&) = delete;
  ~ContentToolCall();

  ToolContext& context() const { return context_; }
  // EmptyContent if the input is a stream.
  const RoomContent& input() const { return input_; }
  // The next item of a streamed input; nothing at its end. Throws an Error: cancelled if the caller
  // is gone, invalid_argument if the item is not what the tool takes.
  std::optional<RoomContent> read();
  // Adds an item to a streamed answer. Throws an Error: cancelled if the caller is gone,
  // unsupported if the tool's output is no stream.
  void write(const RoomContent& item);

 private:
  ToolContext& context_;
  std::shared_ptr<sdk::HostedCallCore> core_;
  RoomContent input_;
};

// A tool of a room that takes and gives any content, single or streamed. Its handler returns the
// answer. If the tool's output is a stream, the handler has written the items before, and its
// return value is left out. An exception becomes a failure, as in Tool.
struct ContentTool {
  std::string name;  // 1 to 64 of the characters a-z A-Z 0-9 and _
  std::string title = {};
  std::string description = {};
  std::vector<std::string> rules = {};
  RoomContentSpec input = {};
  RoomContentSpec output = {};
  std::function<RoomContent(ContentToolCall&)> handler = {};
};

}  // namespace errand::ERRAND_V1
