#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "async/timers.hpp"
#include "base/clock.hpp"
#include "json/value.hpp"
#include "room/access/grants.hpp"
#include "room/access/token.hpp"
#include "room/wire/content.hpp"
#include "room/wire/toolkit.hpp"

namespace errand::room {

// What a client can do, as far as the server has to know.
enum class ClientGeneration : std::uint8_t {
  old_npm,  // up to npm 0.39: hosts check no input, and lists must not name `binary`
  other,
};

// The way to one participant. Lives on the room's home; nothing comes back from within a call.
class Outlet {
 public:
  virtual ~Outlet() = default;
  virtual void send(const Message& message) = 0;
  // The same for a message that goes to many.
  virtual void send_shared(const SharedMessage& message) = 0;
  // The same; `written` is called later, once the connection has taken the message, and never if
  // the connection ends before.
  virtual void send_watched(const Message& message, std::function<void()> written) = 0;
  // Ends the connection. The participant then leaves in the usual way.
  virtual void close(std::uint16_t code, std::string_view reason) = 0;
};

struct Registration {
  std::string id;
  Toolkit toolkit;
};

// A chunk of a call that has not arrived.
struct EarlyChunk {
  std::string call_id;
  Content chunk;
  std::size_t size = 0;
};

// A participant of a room. Owned by the room.
struct Participant {
  std::string id;
  Identity identity;
  Role role = Role::user;
  ApiScope scope;
  std::string api = {};                     // see ParticipantToken
  std::optional<WallTime> expires_at = {};  // of its token
  ClientGeneration generation = ClientGeneration::other;
  // Where the participant reaches the room. It comes from the participant's own request, so no
  // other participant is given this URL.
  std::string url = {};
  Outlet& outlet;
  json::Object attributes;
  std::string presence = {};   // what others see of it, as JSON
  bool has_messaging = false;  // it wants messages, and others see it
  std::map<std::string, Registration, std::less<>> toolkits;  // by name
  std::size_t registered_bytes = 0;                           // of its toolkits
  std::size_t calls_made = 0;                                 // in flight
  std::size_t calls_taken = 0;                                // in flight
  std::size_t lists_waiting = 0;
  // Answers that can be large are made one at a time: the next one waits until the connection has
  // taken the one before.
  bool large_under_way = false;
  std::list<std::function<Message()>> large_waiting = {};
  bool presence_waits = false;  // among them, the list of who is there
  std::list<EarlyChunk> early;
  std::size_t early_bytes = 0;
  std::shared_ptr<std::size_t> transfers = std::make_shared<std::size_t>(0);  // of files
  Timers::Id expiry = {};                                  // when it is sent away
  std::shared_ptr<char> alive = std::make_shared<char>();  // for answers that come later

  void respond(std::uint64_t request_id, Content content) const {
    outlet.send(to_message(request_id, "__response__", std::move(content)));
  }
  void respond_error(std::uint64_t request_id, RoomCode code, std::string_view text) const {
    respond(request_id, error_content(code, text));
  }
};

}  // namespace errand::room
