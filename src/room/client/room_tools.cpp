#include "room/client/room_tools.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "json/members.hpp"
#include "room/client/room_decls.hpp"
#include "room/client/room_tool.hpp"
#include "room/client/socket_connection.hpp"
#include "tool/blot_decls.hpp"

namespace errand::room {
namespace {

constexpr milliseconds kLookFirst{100};  // between two lists, while a toolkit is waited for
constexpr milliseconds kLookMax{1'000};

std::string place_of(const RoomRef& room) {
  return room.name.empty() ? room.url : cat("\"", room.name, "\"");
}

std::string key_of_room(const RoomRef& room, const Principal& who) {
  std::string key =
      cat(who.workspace.view(), "\n", room.name, "\n", room.url, "\n", room.participant);
  for (const auto& [name, value] : room.headers) append(key, "\n", value);
  return key;
}

std::string quoted(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) append(out, out.empty() ? "\"" : ", \"", name, "\"");
  return out;
}

// What a requirement still misses, as a sentence; nothing if it has all.
std::optional<std::string> missing_in(const std::vector<ListedToolkit>& there, const RoomRef& room,
                                      const RequiredToolkit& required) {
  auto found = std::find_if(there.begin(), there.end(),
                            [&](const ListedToolkit& one) { return one.name == required.toolkit; });
  if (found == there.end()) {
    return cat("the room ", place_of(room), " has no toolkit \"", required.toolkit, "\"",
               required.participant_name.empty()
                   ? ""
                   : cat(" of the participant \"", required.participant_name, "\""));
  }
  const json::Object* tools = json::object_at(&found->members, "tools");
  std::vector<std::string> missing;
  for (const std::string& name : required.tools.value_or(std::vector<std::string>())) {
    if (!tools || !tools->contains(name)) missing.push_back(name);
  }
  if (missing.empty()) return {};
  return cat("the toolkit \"", required.toolkit, "\" of the room ", place_of(room),
             missing.size() == 1 ? " has no tool " : " lacks the tools ", quoted(missing));
}

}  // namespace

// Joins a room that this process serves.
class RoomTools::GateConnector final : public Connector {
 public:
  GateConnector(RoomTools& tools, WorkspaceSlug workspace, std::string room,
                std::string participant)
      : tools_(tools),
        workspace_(workspace),
        room_(std::move(room)),
        participant_(std::move(participant)) {}

  Task<Result<std::shared_ptr<Connection>>> connect(Interrupt* /*interrupt*/) override {
    if (!tools_.gate_) {
      co_return Error(ErrorCode::unsupported,
                      cat("this process has no room \"", room_,
                          "\": name a room elsewhere by its URL and a token"));
    }
    co_return co_await tools_.gate_->enter(workspace_, room_, participant_);
  }

 private:
  RoomTools& tools_;
  const WorkspaceSlug workspace_;
  const std::string room_;
  const std::string participant_;
};

RoomTools::RoomTools(Deps deps) : deps_(std::move(deps)), ending_(deps_.home, deps_.on_bug) {}

Result<RoomTools::ClientPtr> RoomTools::client_at(const RoomRef& room, const Principal& who) {
  const std::string key = key_of_room(room, who);
  auto known = std::find_if(clients_.begin(), clients_.end(),
                            [&key](const Known& one) { return one.key == key; });
  if (known != clients_.end()) {
    clients_.splice(clients_.begin(), clients_, known);
    clients_.front().used = deps_.timers.now();
    return clients_.front().client;
  }
  std::shared_ptr<Connector> connector;
  if (room.name.empty()) {
    RoomAddress address{.url = room.url, .token = {}, .web = deps_.web};
    if (!room.headers.empty()) address.token = room.headers.front().second;
    ERRAND_TRY(connector, make_socket_connector(std::move(address)));
  } else {
    connector = std::make_shared<GateConnector>(*this, who.workspace, room.name, room.participant);
  }
  auto client = std::make_shared<RoomClient>(
      RoomClient::Deps{.home = deps_.home, .timers = deps_.timers, .on_bug = deps_.on_bug},
      RoomClient::Options{.connector = std::move(connector)});
  client->start();
  clients_.push_front({.key = key, .client = client, .used = deps_.timers.now()});
  if (clients_.size() > kClientsMax) {
    end(std::move(clients_.back()));
    clients_.pop_back();
  }
  plan_sweep();
  return client;
}

Task<Result<RoomTools::ClientPtr>> RoomTools::client_for(RoomRef room, Principal who,
                                                         CallSecrets* secrets) {
  if (secrets) {
    ERRAND_CO_TRY(room.headers, co_await secrets->fill(std::move(room.headers)));
  }
  ERRAND_CO_TRY(ClientPtr client, client_at(room, who));
  auto joined = co_await client->joined(deps_.timers.now() + kJoinMax);
  if (joined) co_return client;
  // A refusal is final for this participant; the next call may have more luck with another.
  if (client->is_over()) {
    auto known = std::find_if(clients_.begin(), clients_.end(),
                              [&client](const Known& one) { return one.client == client; });
    if (known != clients_.end()) {
      end(std::move(*known));
      clients_.erase(known);
    }
  }
  std::string why = joined.error().message();
  if (secrets) why = secrets->blot_out(std::move(why));
  co_return Error(joined.error().code(),
                  cat("the room ", place_of(room), " cannot be joined: ", why));
}

Task<Result<std::vector<ToolDecl>>> RoomTools::ask(ToolRef ref, Principal who) {
  const auto* room = std::get_if<RoomRef>(&ref);
  if (!room) co_return std::vector<ToolDecl>();
  CallSecrets secrets(deps_.secrets, who.workspace);
  ERRAND_CO_TRY(ClientPtr client, co_await client_for(*room, who, &secrets));
  std::vector<ToolDecl> decls;
  if (room->required.empty()) {
    ERRAND_CO_TRY(auto there, co_await client->list());
    for (const ListedToolkit& toolkit : there) {
      for (ToolDecl& decl : decls_of(toolkit, nullptr)) decls.push_back(std::move(decl));
    }
  }
  for (const RequiredToolkit& required : room->required) {
    ERRAND_CO_TRY(auto found, co_await wait_for(client, *room, required));
    for (ToolDecl& decl : found) decls.push_back(std::move(decl));
  }
  blot_out(decls, secrets);
  auto usable = co_await with_usable_schemas(deps_.schemas, std::move(decls));
  co_return usable;
}

// A host may come a moment later than the run that needs it, or be coming back.
Task<Result<std::vector<ToolDecl>>> RoomTools::wait_for(ClientPtr client, RoomRef room,
                                                        RequiredToolkit required) {
  const SteadyTime deadline = deps_.timers.now() + required.timeout.value_or(kToolkitWait);
  milliseconds pause = kLookFirst;
  for (;;) {
    auto there = co_await client->list({.participant_name = required.participant_name});
    std::optional<std::string> missing;
    if (there) {
      missing = missing_in(*there, room, required);
    } else {
      missing = cat("the toolkits of the room ", place_of(room),
                    " cannot be listed: ", there.error().message());
    }
    if (!missing) {
      for (const ListedToolkit& toolkit : *there) {
        if (toolkit.name != required.toolkit) continue;
        auto decls = decls_of(toolkit, &required);
        if (!decls.empty()) co_return decls;
      }
      co_return Error(ErrorCode::not_found,
                      cat("the toolkit \"", required.toolkit, "\" of the room ", place_of(room),
                          " has no tool that a model can call"));
    }
    if (deps_.timers.now() >= deadline) co_return Error(ErrorCode::not_found, *missing);
    co_await deps_.timers.sleep_until(std::min(deadline, deps_.timers.now() + pause));
    pause = std::min(pause * 2, kLookMax);
  }
}

ToolPtr RoomTools::open(const ToolDecl& binding, const ToolRef& ref, const Principal& who) {
  const auto* room = std::get_if<RoomRef>(&ref);
  auto bound = parse_upstream(binding.origin.upstream);
  if (!room || !bound) return nullptr;
  auto find = [this, room = *room, who](CallSecrets* secrets) {
    return client_for(room, who, secrets);
  };
  return make_room_tool(
      {.find = std::move(find), .timers = deps_.timers, .host_wait = deps_.host_wait},
      std::move(*bound), binding);
}

// ---- Leaving ------------------------------------------------------------------------------------

Task<void> RoomTools::stop_client(ClientPtr client) {
  co_await client->stop();
}

void RoomTools::end(Known known) {
  ending_.spawn("room.leave", stop_client(std::move(known.client)));
}

void RoomTools::plan_sweep() {
  if (clients_.empty() || sweep_timer_ != Timers::Id()) return;
  sweep_timer_ = deps_.timers.set(deps_.timers.now() + kIdleMax, [this] { sweep(); });
}

void RoomTools::sweep() {
  sweep_timer_ = {};
  for (auto one = clients_.begin(); one != clients_.end();) {
    const bool is_used = one->client.use_count() > 1;
    if (is_used || one->used + kIdleMax > deps_.timers.now()) {
      ++one;
      continue;
    }
    end(std::move(*one));
    one = clients_.erase(one);
  }
  plan_sweep();
}

Task<void> RoomTools::stop() {
  deps_.timers.cancel(sweep_timer_);
  for (Known& known : std::exchange(clients_, {})) end(std::move(known));
  co_await ending_.join();
}

}  // namespace errand::room
