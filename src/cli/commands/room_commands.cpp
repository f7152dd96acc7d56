#include "cli/commands/room_commands.hpp"

#include <utility>

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "cli/terminal/report.hpp"
#include "cli/terminal/table.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kRoomChars = 200;
constexpr std::int64_t kHourMillis = 3'600'000;

std::string room_path(const std::string& name) {
  return cat("/rooms/", percent_encode(name));
}

std::string rooms_table(const json::Value& answer) {
  std::vector<Row> rows{{"ROOM", "CREATED", "ID"}};
  for (const json::Value& room : items_of(answer, "rooms")) {
    rows.push_back({text_of(room, "name"), text_of(room, "createdAt"), text_of(room, "id")});
  }
  return render_table(rows);
}

std::string room_text(const json::Value& room) {
  std::string out = cat(clean_line(text_of(room, "name"), kRoomChars), ", ",
                        clean_line(text_of(room, "url"), kRoomChars), "\n");
  const auto& participants = items_of(room, "participants");
  if (participants.empty()) return out += "Nobody is there.\n";
  std::vector<Row> rows{{"PARTICIPANT", "ROLE", "TOOLKITS", "ID"}};
  for (const json::Value& one : participants) {
    std::string toolkits;
    for (const json::Value& toolkit : items_of(one, "toolkits")) {
      if (!toolkit.is_string()) continue;
      append(toolkits, toolkits.empty() ? "" : ", ", json::view(toolkit.as_string()));
    }
    rows.push_back({text_of(one, "name"), text_of(one, "role"), clean_line(toolkits, kRoomChars),
                    text_of(one, "id")});
  }
  return out += render_table(rows);
}

}  // namespace

int create_room(const AnswerOptions& options, const std::string& name) {
  sdk::ApiRequest request{.method = sdk::Method::post,
                          .path = "/rooms",
                          .body = json::write(json::Object{{"name", name}})};
  return ask_and_show(options, std::move(request), [](const json::Value& room) {
    return cat("created ", clean_line(text_of(room, "name"), kRoomChars), "\n");
  });
}

int list_rooms(const AnswerOptions& options) {
  return ask_and_show(options, {.path = "/rooms", .query = {{"limit", "200"}}}, rooms_table);
}

int show_room(const AnswerOptions& options, const std::string& name) {
  return ask_and_show(options, {.path = room_path(name)}, room_text);
}

int make_room_token(const AnswerOptions& options, const RoomTokenOptions& token) {
  json::Object body{{"name", token.name}, {"role", token.role}};
  if (!token.api.empty()) {
    auto api = json::parse(token.api);
    if (!api || !api->is_object()) {
      return fail_usage(Error(ErrorCode::invalid_argument,
                              "--api: expected a JSON object, such as {\"agents\": {}}"));
    }
    body["api"] = std::move(*api);
  }
  if (token.hours > 0) body["ttlMs"] = token.hours * kHourMillis;
  sdk::ApiRequest request{.method = sdk::Method::post,
                          .path = cat(room_path(token.room), "/tokens"),
                          .body = json::write(body)};
  return ask_and_show(options, std::move(request), [](const json::Value& made) {
    return cat(clean_line(text_of(made, "token"), std::size_t{64} * 1024), "\n");
  });
}

}  // namespace errand::cli
