#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <errand/client.hpp>
#include <errand/content.hpp>
#include <errand/json.hpp>
#include <errand/room_content.hpp>
#include <errand/room_storage.hpp>
#include <errand/schema.hpp>
#include <errand/toolkit.hpp>

namespace errand::sdk {
class RoomCore;
class RoomCallCore;
}  // namespace errand::sdk

namespace errand::ERRAND_V1 {

// A participant of a room. Name and role are known of participants that take messages, as this one
// does.
struct Participant {
  std::string id;
  std::string name = {};
  std::string role = {};

  bool operator==(const Participant&) const = default;
};

struct RoomMessage {
  Participant from;
  std::string type;
  Json message;
  std::string attachment = {};
};

struct RoomOptions {
  std::string url;    // "wss://example.com/rooms/lab"
  std::string token;  // of a participant: `errand rooms token`
  HandlerOptions handlers = {};
  // Called on a thread of its own, in order, while the room is joined.
  std::function<void(const RoomMessage&)> on_message = {};
  std::chrono::milliseconds join_timeout{15'000};
};

// A tool and a toolkit as the room lists them.
struct RoomToolInfo {
  std::string name;
  std::string title = {};
  std::string description = {};
  Json input_schema = {};                           // null if the host gives none
  Json output_schema = {};                          // the same
  std::optional<RoomContentSpec> input_spec = {};   // nothing: the host does not say
  std::optional<RoomContentSpec> output_spec = {};  // the same
};
struct RoomToolkitInfo {
  std::string name;
  std::string title = {};
  std::string description = {};
  std::string participant_id = {};  // of its host
  std::vector<std::string> rules = {};
  std::vector<RoomToolInfo> tools = {};
  std::string thumbnail_url = {};
  std::map<std::string, std::string> annotations = {};
};

struct RoomCallOptions {
  std::string participant_id = {};  // of the host; empty: the public toolkit of this name
  std::string on_behalf_of = {};    // a participant's id
  JsonObject caller_context = {};
  std::chrono::milliseconds timeout{120'000};
  // Called on the same thread as RoomOptions::on_message.
  std::function<void(const ToolProgress&)> on_progress = {};
  // The caller's place in a trace, as the header of W3C. Empty: the place of the call in which the
  // Room was found, see Room::of.
  std::string traceparent = {};
};

// What a toolkit has only in rooms.
struct HostOptions {
  std::vector<ContentTool> content_tools = {};
  std::map<std::string, std::string> annotations = {};
};

// A toolkit that this program hosts in a room, until it is stopped or destroyed.
class HostedToolkit final {
 public:
  HostedToolkit(HostedToolkit&&) noexcept;
  HostedToolkit& operator=(HostedToolkit&&) = delete;
  ~HostedToolkit();  // stop()

  // Stops listening and unregisters the toolkit. Calls that run are still answered.
  void stop();

 private:
  friend class Room;
  HostedToolkit(std::shared_ptr<sdk::RoomCore> core, std::uint64_t handle);

  std::shared_ptr<sdk::RoomCore> core_;
  std::uint64_t handle_ = 0;
};

// A call whose input, output or both are streams. Destroyed before its end, it gives the call up.
class RoomStream final {
 public:
  RoomStream(RoomStream&&) noexcept;
  RoomStream& operator=(RoomStream&&) = delete;
  ~RoomStream();

  // Sends an item. Returns once the room has it. Throws an Error: conflict if the input is closed.
  void write(const RoomContent& item);
  void close_input();
  // The next item; nothing at the end. A tool that answers at once gives one item. Throws an Error:
  // outcome_unknown if the host has gone or the connection is lost, and for an item that is a
  // failure; the stream goes on after that.
  std::optional<RoomContent> read();

  // The same for items of JSON, as values of a C++ type.
  template <class T>
  void write_value(const T& value) {
    write(JsonContent{to_json(value)});
  }
  // Throws an Error (conflict) also if the item has another shape.
  template <class T>
  std::optional<T> read_value();

 private:
  friend class Room;
  RoomStream(std::shared_ptr<sdk::RoomCore> core, std::shared_ptr<sdk::RoomCallCore> call);

  std::shared_ptr<sdk::RoomCore> core_;
  std::shared_ptr<sdk::RoomCallCore> call_;
};

// A participant of a room. Connects again by itself, with the toolkits that it hosts. Has one
// thread of its own, one for listeners, and one for each handler that runs. Its destructor leaves
// the room and waits for handlers that run; do not call it from one. All other functions may be
// called from any thread, from handlers as well, and wait for their results. They throw an Error:
// unavailable while there is no connection, forbidden for what the token does not allow.
class Room final {
 public:
  // Joins the room. Throws an Error: forbidden or not_found if the room refuses, timeout if it does
  // not answer in time.
  static Room join(RoomOptions options);
  // The room in which a tool was called. Throws an Error (not_found) if there is none. Valid while
  // the program's own Room is. Its calls are part of the trace of the tool's call.
  static Room of(const ToolContext& context);

  Room(Room&&) noexcept;
  Room& operator=(Room&&) = delete;
  ~Room();

  std::string name() const;
  // It changes with every connection.
  std::string participant_id() const;

  // Offers a toolkit to the room, the same object as for runs. Throws an Error: conflict if another
  // participant has a public toolkit of this name, invalid_argument for a content tool that is
  // none.
  [[nodiscard]] HostedToolkit host(Toolkit toolkit, HostOptions options = {}) const;

  // Of all participants, or of one.
  std::vector<RoomToolkitInfo> toolkits(std::string_view participant_id = "") const;

  // Calls a tool. A tool's failure is a failed result. Throws an Error: not_found if there is no
  // such tool, outcome_unknown if the host has gone or the connection is lost, timeout.
  ToolResult call(std::string_view toolkit, std::string_view tool, const Json& arguments = {},
                  RoomCallOptions options = {}) const;
  // The same for a result of a C++ type. Throws an Error (conflict) if the tool fails.
  template <class T>
  T call_for(std::string_view toolkit, std::string_view tool, const Json& arguments = {},
             RoomCallOptions options = {}) const;
  // A call with any content, as it is. Throws an Error: as call() does, and conflict if the tool
  // fails or answers with a stream.
  RoomContent call_with(std::string_view toolkit, std::string_view tool, const RoomContent& input,
                        RoomCallOptions options = {}) const;
  // A call with streamed input; its answer is read item by item. Without a timeout.
  RoomStream stream(std::string_view toolkit, std::string_view tool,
                    RoomCallOptions options = {}) const;
  // The same with a single input.
  RoomStream stream_with(std::string_view toolkit, std::string_view tool, const RoomContent& input,
                         RoomCallOptions options = {}) const;

  // To one participant, or to all that take messages. Needs RoomOptions::on_message.
  void send(std::string_view participant_id, std::string_view type, const Json& message,
            std::string attachment = {}) const;
  void broadcast(std::string_view type, const Json& message, std::string attachment = {}) const;
  // The participants that take messages.
  std::vector<Participant> participants() const;

  // The files of the room.
  RoomStorage storage() const;

 private:
  enum class Owner : bool { no, yes };
  Room(std::shared_ptr<sdk::RoomCore> core, Owner owner, std::string traceparent = {});
  RoomStream begin(std::string_view toolkit, std::string_view tool, const RoomContent* input,
                   RoomCallOptions options) const;
  [[noreturn]] static void throw_failed(const ToolResult& result);

  std::shared_ptr<sdk::RoomCore> core_;
  Owner owner_;
  std::string traceparent_;  // of the call in which the room was found
};

// ---- Implementation -----------------------------------------------------------------------------

template <class T>
T Room::call_for(std::string_view toolkit, std::string_view tool, const Json& arguments,
                 RoomCallOptions options) const {
  ToolResult result = call(toolkit, tool, arguments, std::move(options));
  if (!result.ok()) throw_failed(result);
  return from_json<T>(result.structured ? *result.structured : Json(result.text())).value();
}

template <class T>
std::optional<T> RoomStream::read_value() {
  std::optional<RoomContent> item = read();
  if (!item) return std::nullopt;
  const auto* json = std::get_if<JsonContent>(&*item);
  const auto* text = std::get_if<TextContent>(&*item);
  if (!json && !text) throw Error(ErrorCode::conflict, "the item is neither JSON nor text");
  Result<T> value = from_json<T>(json ? json->value : Json(text->text));
  if (!value) throw Error(ErrorCode::conflict, value.error().describe());
  return std::move(*value);
}

}  // namespace errand::ERRAND_V1
