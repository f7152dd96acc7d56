// Participants of rooms on Errand's C++ SDK. Takes the same commands as peer.mjs and peer.py: a
// line of JSON, {"do": NAME, "as": PARTICIPANT, ...}, each answered with a line: {"ok": RESULT} or
// {"error": TEXT, "code": CODE}.
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <errand/errand.hpp>

namespace {

using errand::BinaryContent;
using errand::ContentTool;
using errand::ContentToolCall;
using errand::EmptyContent;
using errand::FileContent;
using errand::Json;
using errand::JsonArray;
using errand::JsonContent;
using errand::JsonObject;
using errand::LinkContent;
using errand::RoomContent;
using errand::RoomContentType;
using errand::TextContent;

// Messages that have come and were not asked for.
class Inbox final {
 public:
  void put(Json message) {
    std::lock_guard lock(mutex_);
    messages_.push_back(std::move(message));
    changed_.notify_one();
  }
  Json take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !messages_.empty(); });
    Json first = std::move(messages_.front());
    messages_.pop_front();
    return first;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Json> messages_;
};

// Somebody in a room, and what it has there. Ends in the order in which it has to.
struct Member {
  Inbox inbox;
  std::unique_ptr<errand::Room> room;
  std::unique_ptr<errand::HostedToolkit> hosted;
  std::future<Json> pending;
};

std::map<std::string, std::unique_ptr<Member>> members;

const std::string& text_of(const Json& from, std::string_view name) {
  return *from.at(name).if_string();
}

Member& member_of(const Json& command) {
  return *members.at(text_of(command, "as"));
}

// A content as JSON that a test can compare.
struct Show {
  Json operator()(const JsonContent& one) const { return JsonObject{{"json", one.value}}; }
  Json operator()(const TextContent& one) const { return JsonObject{{"text", one.text}}; }
  Json operator()(const FileContent& one) const {
    return JsonObject{{"file", JsonArray{one.name, one.mime_type, one.bytes}}};
  }
  Json operator()(const BinaryContent& one) const {
    return JsonObject{{"binary", JsonArray{one.headers, one.bytes}}};
  }
  Json operator()(const LinkContent& one) const {
    return JsonObject{{"link", JsonArray{one.name, one.url}}};
  }
  Json operator()(const EmptyContent&) const { return JsonObject{{"empty", true}}; }
};

Json show(const RoomContent& content) {
  return std::visit(Show(), content);
}

// The same the other way.
RoomContent content_of(const Json& shown) {
  auto part = [](const Json& list, std::size_t index) { return *list.at(index).if_string(); };
  if (const Json* value = shown.find("json")) return JsonContent{*value};
  if (const Json* value = shown.find("text")) return TextContent{*value->if_string()};
  if (const Json* list = shown.find("file")) {
    return FileContent{
        .bytes = part(*list, 2), .mime_type = part(*list, 1), .name = part(*list, 0)};
  }
  if (const Json* list = shown.find("binary")) {
    return BinaryContent{.headers = *list->at(0).if_object(), .bytes = part(*list, 1)};
  }
  if (const Json* list = shown.find("link")) {
    return LinkContent{.url = part(*list, 1), .name = part(*list, 0)};
  }
  return EmptyContent{};
}

Json shown_failure(const std::string& text, Json code) {
  return JsonObject{{"error", text}, {"code", std::move(code)}};
}

// The code of the room, where the error has one.
Json failure(const errand::Error& error) {
  const std::string& reason = error.reason();
  if (!reason.starts_with("room_")) return shown_failure(error.what(), nullptr);
  return shown_failure(error.what(), std::stoi(reason.substr(5)));
}

// ---- What it hosts ------------------------------------------------------------------------------

struct Stay {
  int days = 0;
  std::optional<std::string> unit;
};

const std::vector<RoomContentType> kAllTypes = {RoomContentType::json, RoomContentType::text,
                                                RoomContentType::file, RoomContentType::binary,
                                                RoomContentType::link, RoomContentType::empty};

ContentTool gives(std::string name, RoomContentType type, RoomContent content) {
  return {.name = std::move(name),
          .input = {.types = {RoomContentType::json, RoomContentType::empty}},
          .output = {.types = {type}},
          .handler = [content = std::move(content)](ContentToolCall&) { return content; }};
}

RoomContent count_up(ContentToolCall& call) {
  const auto last = std::get<JsonContent>(call.input()).value.at("n").to_int64().value();
  for (std::int64_t n = 1; n <= last; ++n) call.write(JsonContent{JsonObject{{"n", n}}});
  return EmptyContent{};
}

RoomContent add_up(ContentToolCall& call) {
  JsonArray items;
  while (auto item = call.read()) items.push_back(show(*item));
  return JsonContent{JsonObject{{"items", std::move(items)}}};
}

RoomContent copy_each(ContentToolCall& call) {
  while (auto item = call.read()) call.write(*item);
  return EmptyContent{};
}

RoomContent break_off(ContentToolCall& call) {
  call.write(JsonContent{JsonObject{{"n", 1}}});
  throw std::runtime_error("broke");
}

std::vector<ContentTool> content_tools() {
  const errand::RoomContentSpec any{.types = kAllTypes};
  const errand::RoomContentSpec stream{.types = kAllTypes, .stream = true};
  return {
      gives("text", RoomContentType::text, TextContent{"Grüße"}),
      gives("link", RoomContentType::link,
            LinkContent{.url = "https://example.com/", .name = "there"}),
      gives("file", RoomContentType::file,
            FileContent{
                .bytes = std::string(100'000, 'x'), .mime_type = "text/plain", .name = "a.txt"}),
      gives("binary", RoomContentType::binary, BinaryContent{.headers = {{"n", 1}}, .bytes = "b"}),
      gives("empty", RoomContentType::empty, EmptyContent{}),
      {.name = "any",
       .input = any,
       .output = any,
       .handler = [](ContentToolCall& call) { return call.input(); }},
      {.name = "count", .input = {}, .output = {.stream = true}, .handler = count_up},
      {.name = "sum", .input = stream, .output = {}, .handler = add_up},
      {.name = "echo", .input = stream, .output = stream, .handler = copy_each},
      {.name = "broken", .input = stream, .output = stream, .handler = break_off}};
}

errand::Toolkit toolkit(std::string name) {
  return errand::Toolkit(
      {.name = std::move(name),
       .tools = {errand::tool("json", "Gives back what it was given.",
                              [](const Stay& stay) { return stay; }),
                 errand::tool("who", "Says who calls.",
                              [](errand::ToolContext& context) -> Json {
                                return JsonObject{{"caller", context.info().caller_id},
                                                  {"name", context.caller()},
                                                  {"role", context.info().caller_role}};
                              }),
                 errand::tool("report", "Tells how far it is.",
                              [](errand::ToolContext& context) {
                                context.progress("half", 1, 2);
                                return std::string("whole");
                              }),
                 errand::tool("fail", "Fails.",
                              []() -> std::string { throw std::runtime_error("no luck"); }),
                 errand::tool("wait", "Waits until nobody wants the answer.",
                              [](errand::ToolContext& context) {
                                while (!context.cancelled()) std::this_thread::yield();
                                return std::string();
                              })}});
}

// ---- Commands -----------------------------------------------------------------------------------

Json join(const Json& command) {
  auto member = std::make_unique<Member>();
  errand::RoomOptions options{.url = text_of(command, "url"), .token = text_of(command, "token")};
  options.on_message = [inbox = &member->inbox](const errand::RoomMessage& message) {
    inbox->put(JsonObject{{"from", message.from.name},
                          {"type", message.type},
                          {"message", message.message},
                          {"attachment", message.attachment}});
  };
  member->room = std::make_unique<errand::Room>(errand::Room::join(std::move(options)));
  Json joined = JsonObject{{"id", member->room->participant_id()}, {"room", member->room->name()}};
  members[text_of(command, "as")] = std::move(member);
  return joined;
}

Json host(const Json& command) {
  Member& member = member_of(command);
  member.hosted = std::make_unique<errand::HostedToolkit>(
      member.room->host(toolkit(text_of(command, "toolkit")), {.content_tools = content_tools()}));
  return nullptr;
}

Json stop(const Json& command) {
  member_of(command).hosted->stop();
  return nullptr;
}

Json list(const Json& command) {
  JsonObject all;
  for (const errand::RoomToolkitInfo& one : member_of(command).room->toolkits()) {
    JsonArray tools;
    for (const errand::RoomToolInfo& tool : one.tools) tools.emplace_back(tool.name);
    all.set(one.name, std::move(tools));
  }
  return all;
}

Json give(const Json& command) {
  return show(member_of(command).room->call_with(
      text_of(command, "toolkit"), text_of(command, "tool"), content_of(command.at("content"))));
}

Json call(const Json& command) {
  return show(member_of(command).room->call_with(
      text_of(command, "toolkit"), text_of(command, "tool"), JsonContent{command.at("input")}));
}

// A call, and the first thing that its host has told of it.
Json reported(const Json& command) {
  auto reports = std::make_shared<Inbox>();
  errand::RoomCallOptions options;
  options.on_progress = [reports](const errand::ToolProgress& one) {
    reports->put(JsonArray{one.message, one.done, one.total});
  };
  Json answer = show(member_of(command).room->call_with(
      text_of(command, "toolkit"), text_of(command, "tool"), EmptyContent{}, std::move(options)));
  return JsonObject{{"answer", std::move(answer)}, {"report", reports->take()}};
}

// Starts a call; `finish` gives its result.
Json begin(const Json& command) {
  member_of(command).pending = std::async(std::launch::async, [command]() -> Json {
    try {
      return JsonObject{{"ok", call(command)}};
    } catch (const errand::Error& error) {
      return failure(error);
    }
  });
  return nullptr;
}

Json finish(const Json& command) {
  return member_of(command).pending.get();
}

Json rest_of(errand::RoomStream& stream) {
  JsonArray items;
  for (;;) {
    try {
      auto item = stream.read();
      if (!item) return items;
      items.push_back(show(*item));
    } catch (const errand::Error& error) {
      items.emplace_back(JsonObject{{"error", error.what()}});
      if (!error.reason().empty()) return items;
    }
  }
}

errand::RoomStream written(const Json& command) {
  errand::RoomStream stream =
      member_of(command).room->stream(text_of(command, "toolkit"), text_of(command, "tool"));
  for (const Json& item : *command.at("items").if_array()) stream.write(content_of(item));
  stream.close_input();
  return stream;
}

Json exchange(const Json& command) {
  errand::RoomStream made = written(command);
  return rest_of(made);
}

Json collect(const Json& command) {
  errand::RoomStream made = written(command);
  return show(made.read().value());
}

Json stream_out(const Json& command) {
  errand::RoomStream made = member_of(command).room->stream_with(
      text_of(command, "toolkit"), text_of(command, "tool"), content_of(command.at("content")));
  return rest_of(made);
}

Json message(const Json& command) {
  const errand::Room& room = *member_of(command).room;
  const Json body = JsonObject{{"text", command.at("text")}};
  for (const errand::Participant& one : room.participants()) {
    if (one.name != text_of(command, "to")) continue;
    room.send(one.id, "chat", body, "attached");
    return nullptr;
  }
  throw errand::Error(errand::ErrorCode::not_found, "nobody has this name");
}

Json broadcast(const Json& command) {
  member_of(command).room->broadcast("chat", JsonObject{{"text", command.at("text")}});
  return nullptr;
}

Json present(const Json& command) {
  JsonObject all;
  for (const errand::Participant& one : member_of(command).room->participants()) {
    all.set(one.name, one.role);
  }
  return all;
}

// Queues are a toolkit of the room itself.
RoomContent use_queue(const Json& command, std::string_view tool, JsonObject more = {}) {
  more.set("name", command.at("queue"));
  return member_of(command).room->call_with("queues", tool, JsonContent{std::move(more)});
}

Json queue_open(const Json& command) {
  return show(use_queue(command, "open"));
}

Json queue_put(const Json& command) {
  return show(use_queue(command, "send", {{"message", command.at("message")}}));
}

// The next message; null if there is none.
Json queue_take(const Json& command) {
  const RoomContent taken = use_queue(command, "receive");
  const auto* message = std::get_if<JsonContent>(&taken);
  return message ? message->value : Json();
}

// The bytes of a file of this size; all peers know them.
std::string pattern(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i % 251);
  return bytes;
}

Json upload(const Json& command) {
  const auto size = static_cast<std::size_t>(command.at("size").to_int64().value());
  member_of(command).room->storage().upload(text_of(command, "path"), pattern(size),
                                            {.overwrite = true, .mime_type = "text/plain"});
  return nullptr;
}

Json download(const Json& command) {
  const errand::RoomFileContent file =
      member_of(command).room->storage().download(text_of(command, "path"));
  return JsonObject{{"name", file.name},
                    {"type", file.mime_type},
                    {"size", static_cast<std::int64_t>(file.bytes.size())},
                    {"same", file.bytes == pattern(file.bytes.size())}};
}

Json files(const Json& command) {
  JsonArray names;
  for (const errand::RoomFile& one :
       member_of(command).room->storage().list(text_of(command, "path"))) {
    names.emplace_back(one.name);
  }
  return names;
}

Json leave(const Json& command) {
  members.erase(text_of(command, "as"));
  return nullptr;
}

using Command = std::function<Json(const Json&)>;
const std::map<std::string, Command> kCommands = {
    {"join", join},
    {"host", host},
    {"stop", stop},
    {"list", list},
    {"give", give},
    {"call", call},
    {"reported", reported},
    {"begin", begin},
    {"finish", finish},
    {"exchange", exchange},
    {"collect", collect},
    {"streamOut", stream_out},
    {"enable", [](const Json&) -> Json { return nullptr; }},  // a Room takes messages
    {"message", message},
    {"broadcast", broadcast},
    {"present", present},
    {"queueOpen", queue_open},
    {"queuePut", queue_put},
    {"queueTake", queue_take},
    {"upload", upload},
    {"download", download},
    {"files", files},
    {"read", [](const Json& command) { return member_of(command).inbox.take(); }},
    {"leave", leave},
};

Json answer_to(const Json& command) {
  try {
    return JsonObject{{"ok", kCommands.at(text_of(command, "do"))(command)}};
  } catch (const errand::Error& error) {
    return failure(error);
  } catch (const std::exception& error) {
    return shown_failure(error.what(), nullptr);
  }
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << answer_to(Json::parse(line).value()).dump() << std::endl;
  }
  members.clear();
}
