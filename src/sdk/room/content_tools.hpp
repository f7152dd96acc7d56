#pragma once

#include <memory>
#include <optional>

#include <errand/room_content.hpp>

#include "json/schema_cache.hpp"
#include "room/client/content_tool.hpp"
#include "sdk/bridge/handlers.hpp"

namespace errand::sdk {

class RoomCore;

// What a content must be like.
class ContentCheck final {
 public:
  // invalid_argument: no types, or a schema that is none.
  static Result<ContentCheck> make(v1::RoomContentSpec spec, json::SchemaCache& schemas);

  const v1::RoomContentSpec& spec() const { return spec_; }
  // invalid_argument: the content is not like that.
  Result<void> check(const v1::RoomContent& content) const;
  // As registrations have it.
  json::Object members() const;

 private:
  explicit ContentCheck(v1::RoomContentSpec spec) : spec_(std::move(spec)) {}

  v1::RoomContentSpec spec_;
  json::CompiledSchemaPtr schema_;  // null: any JSON
};

// A call of a content tool, between the home and the thread of its handler.
class HostedCallCore final {
 public:
  HostedCallCore(std::shared_ptr<RoomCore> room, room::HostedCallPtr call,
                 std::shared_ptr<const ContentCheck> input,
                 std::shared_ptr<const ContentCheck> output)
      : room_(std::move(room)),
        call_(std::move(call)),
        input_(std::move(input)),
        output_(std::move(output)) {}

  // From the handler's thread. See v1::ContentToolCall.
  std::optional<v1::RoomContent> read();
  void write(const v1::RoomContent& item);

 private:
  const std::shared_ptr<RoomCore> room_;
  const room::HostedCallPtr call_;  // touched at home only
  const std::shared_ptr<const ContentCheck> input_;
  const std::shared_ptr<const ContentCheck> output_;
};

// A content tool of a program, whose handler runs on a thread of `handlers`; both outlive it.
// invalid_argument: the name, a spec or the handler is not valid.
Result<std::shared_ptr<room::ContentTool>> bridge_content_tool(RoomCore& room, Handlers& handlers,
                                                               json::SchemaCache& schemas,
                                                               v1::ContentTool tool);

}  // namespace errand::sdk
