#include "room/client/room_tools.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
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

// What a requirement still lacks, as a sentence; empty if it lacks nothing.
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

// A requirement that the run waits for.
struct Wanted {
  const RequiredToolkit* required;
  SteadyTime deadline;
  std::optional<std::vector<ToolDecl>> decls = {};
  std::string missing = {};  // what it still lacks, as a sentence
  bool is_final = false;     // waiting does not help
};

void look_for(Wanted& wanted, const Result<std::vector<ListedToolkit>>& there,
              const RoomRef& room) {
  if (!there) {
    wanted.missing = cat("the toolkits of the room ", place_of(room),
                         " cannot be listed: ", there.error().message());
    return;
  }
  const RequiredToolkit& required = *wanted.required;
  if (auto missing = missing_in(*there, room, required)) {
    wanted.missing = std::move(*missing);
    return;
  }
  for (const ListedToolkit& toolkit : *there) {
    if (toolkit.name != required.toolkit) continue;
    auto decls = decls_of(toolkit, &required);
    if (!decls.empty()) {
      wanted.decls = std::move(decls);
      return;
    }
  }
  wanted.is_final = true;
  wanted.missing = cat("the toolkit \"", required.toolkit, "\" of the room ", place_of(room),
                       " has no tool that a model can call");
}

// Empty while something is missing.
std::optional<std::vector<ToolDecl>> all_found(std::vector<Wanted>& wanted) {
  std::vector<ToolDecl> out;
  for (const Wanted& one : wanted) {
    if (!one.decls) return std::nullopt;
  }
  for (Wanted& one : wanted) {
    for (ToolDecl& decl : *one.decls) out.push_back(std::move(decl));
  }
  return out;
}

// The error when the time of one requirement is over, because the run cannot begin. It names
// everything that is missing by then.
std::optional<Error> missing_for_good(const std::vector<Wanted>& wanted, SteadyTime now) {
  bool is_over = false;
  std::string missing;
  for (const Wanted& one : wanted) {
    if (one.decls) continue;
    is_over = is_over || one.is_final || now >= one.deadline;
    append(missing, missing.empty() ? "" : "; ", one.missing);
  }
  if (!is_over) return std::nullopt;
  return Error(ErrorCode::not_found, std::move(missing));
}

SteadyTime next_deadline(const std::vector<Wanted>& wanted, SteadyTime now) {
  SteadyTime next = SteadyTime::max();
  for (const Wanted& one : wanted) {
    if (!one.decls && one.deadline > now) next = std::min(next, one.deadline);
  }
  return next;
}

}  // namespace

// Joins rooms that this process serves.
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
  ERRAND_CHECK(make_way());
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
      // Hosts see who calls them. The agent itself does not need to know who else is there.
      RoomClient::Options{
          .connector = std::move(connector), .wants_messages = true, .limits = {.peers_max = 0}});
  client->start();
  clients_.push_front({.key = key, .client = client, .used = deps_.timers.now()});
  plan_sweep();
  return client;
}

// Removes a participant that no call and no join is using.
Result<void> RoomTools::make_way() {
  if (clients_.size() < deps_.clients_max) return {};
  auto idle = std::find_if(clients_.rbegin(), clients_.rend(),
                           [](const Known& one) { return !is_used(one); });
  if (idle == clients_.rend()) {
    return Error(ErrorCode::unavailable,
                 cat("this server takes part in rooms with at most ", deps_.clients_max,
                     " agents at a time, and all of them are busy"));
  }
  end(std::move(*idle));
  clients_.erase(std::next(idle).base());
  return {};
}

Task<Result<RoomTools::ClientPtr>> RoomTools::client_for(RoomRef room, Principal who,
                                                         CallSecrets* secrets) {
  if (secrets) {
    ERRAND_CO_TRY(room.headers, co_await secrets->fill(std::move(room.headers)));
  }
  ERRAND_CO_TRY(ClientPtr client, client_at(room, who));
  auto joined = co_await client->joined(deps_.timers.now() + kJoinMax);
  if (joined) co_return client;
  // The refusal is final for this participant, but the next call gets a new one.
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
  } else {
    ERRAND_CO_TRY(decls, co_await wait_for_required(std::move(client), *room));
  }
  blot_out(decls, secrets);
  auto usable = co_await with_usable_schemas(deps_.schemas, std::move(decls));
  co_return usable;
}

// Hosts may come a moment later than the run that needs them, or may be reconnecting. The run waits
// for all of them at once, for each up to its own time limit.
Task<Result<std::vector<ToolDecl>>> RoomTools::wait_for_required(ClientPtr client, RoomRef room) {
  const SteadyTime begun = deps_.timers.now();
  std::vector<Wanted> wanted;
  for (const RequiredToolkit& required : room.required) {
    wanted.push_back(
        {.required = &required, .deadline = begun + required.timeout.value_or(kToolkitWait)});
  }
  milliseconds pause = kLookFirst;
  for (;;) {
    std::map<std::string, Result<std::vector<ListedToolkit>>> lists;  // by participant
    for (Wanted& one : wanted) {
      if (one.decls) continue;
      const std::string& participant = one.required->participant_name;
      auto there = lists.find(participant);
      if (there == lists.end()) {
        auto listed = co_await client->list({.participant_name = participant});
        there = lists.emplace(participant, std::move(listed)).first;
      }
      look_for(one, there->second, room);
    }
    if (auto found = all_found(wanted)) co_return std::move(*found);
    const SteadyTime now = deps_.timers.now();
    if (auto missing = missing_for_good(wanted, now)) co_return std::move(*missing);
    co_await deps_.timers.sleep_until(std::min(next_deadline(wanted, now), now + pause));
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
    if (is_used(*one) || one->used + kIdleMax > deps_.timers.now()) {
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
