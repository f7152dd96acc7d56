#include "room/queues.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "json/members.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::room {
namespace {

Content denied() {
  return error_content(RoomCode::permission_denied, "the token does not allow this queue");
}

Content no_such_queue(std::string_view name) {
  return error_content(RoomCode::queue_not_found, cat("queue ", name, " was not found"));
}

Content failed(const Error& error) {
  return error_content(RoomCode::operation_failed, error.message());
}

const json::Object* members_of(const QueueCall& call) {
  return call.arguments.if_object();
}

}  // namespace

void Queues::serve(QueueCall call) {
  if (state_ == State::ready) return run(std::move(call));
  waiting_.push_back(std::move(call));
  if (state_ == State::unread) load();
}

void Queues::load() {
  state_ = State::reading;
  store_.load_queues(
      [this](Result<std::vector<StoredQueue>> queues) { loaded(std::move(queues)); });
}

void Queues::loaded(Result<std::vector<StoredQueue>> queues) {
  std::vector<QueueCall> waiting = std::exchange(waiting_, {});
  if (!queues) {
    state_ = State::unread;
    for (const QueueCall& call : waiting) call.answer(failed(queues.error()));
    return;
  }
  state_ = State::ready;
  for (StoredQueue& stored : *queues) {
    Queue& queue = queues_[stored.name];
    if (!stored.items.empty()) queue.last_seq = stored.items.back().seq;
    queue.items.assign(std::make_move_iterator(stored.items.begin()),
                       std::make_move_iterator(stored.items.end()));
  }
  for (QueueCall& call : waiting) run(std::move(call));
}

void Queues::run(QueueCall call) {
  const std::string name(json::text_at(members_of(call), "name"));
  if (call.tool == "list") return list(call);
  const bool is_known = call.tool == "open" || call.tool == "send" || call.tool == "receive" ||
                        call.tool == "drain" || call.tool == "close";
  if (!is_known) {
    return call.answer(
        error_content(RoomCode::not_found, cat("tool ", call.tool, " was not found")));
  }
  if (name.empty() || name.size() > limits_.queue_name_bytes_max) {
    return call.answer(error_content(RoomCode::invalid_request, "a queue needs a name"));
  }
  const bool takes = call.tool == "receive" || call.tool == "drain";
  if (!(takes ? call.grant->receive : call.grant->send).allows(name)) return call.answer(denied());
  if (call.tool == "open") return open(call, name);
  if (call.tool == "send") return send(call, name);
  if (call.tool == "receive") return receive(std::move(call), name);
  if (call.tool == "drain") return drain(call, name);
  close(call, name);
}

void Queues::list(const QueueCall& call) const {
  if (!call.grant->list) return call.answer(denied());
  json::Array all;
  for (const auto& [name, queue] : queues_) {
    all.push_back(json::Object{{"name", name}, {"size", queue.items.size()}});
  }
  call.answer(json_content(json::Object{{"queues", std::move(all)}}));
}

RoomStore::Done Queues::answer_when_done(const QueueCall& call, Content content) const {
  return [answer = call.answer, content = std::move(content)](const Result<void>& done) {
    answer(done ? content : failed(done.error()));
  };
}

Queues::Queue* Queues::queue_of(const QueueCall& call, const std::string& name) {
  if (auto found = queues_.find(name); found != queues_.end()) return &found->second;
  if (!json::flag_at(members_of(call), "create")) {
    call.answer(no_such_queue(name));
    return nullptr;
  }
  if (queues_.size() >= limits_.queues_max) {
    call.answer(error_content(RoomCode::operation_failed, "the room has too many queues"));
    return nullptr;
  }
  // Whatever fails here fails for the item that follows, too, and is told then.
  store_.add_queue(name, [](const Result<void>&) {});
  return &queues_[name];
}

void Queues::open(const QueueCall& call, const std::string& name) {
  if (queues_.contains(name)) {
    return call.answer(
        error_content(RoomCode::queue_exists, cat("queue ", name, " exists already")));
  }
  if (queues_.size() >= limits_.queues_max) {
    return call.answer(error_content(RoomCode::operation_failed, "the room has too many queues"));
  }
  queues_[name];
  store_.add_queue(name, answer_when_done(call, empty_content()));
}

void Queues::send(const QueueCall& call, const std::string& name) {
  const json::Object* message = json::object_at(members_of(call), "message");
  if (!message) {
    return call.answer(error_content(RoomCode::invalid_request, "a message is a JSON object"));
  }
  Queue* queue = queue_of(call, name);
  if (!queue) return;
  if (queue->items.size() >= limits_.queue_items_max) {
    return call.answer(error_content(RoomCode::operation_failed, "the queue is full"));
  }
  StoredItem item{.seq = ++queue->last_seq, .body = ""};
  json::write(item.body, *message);
  store_.add_item(name, item, [this, name, item, answer = call.answer](const Result<void>& done) {
    if (!done) return answer(failed(done.error()));
    answer(empty_content());
    arrived(name, item);
  });
}

// The message is durable. Its queue may have been closed meanwhile.
void Queues::arrived(const std::string& name, StoredItem item) {
  auto queue = queues_.find(name);
  if (queue == queues_.end()) return;
  if (queue->second.receivers.empty()) return queue->second.items.push_back(std::move(item));
  QueueCall receiver = std::move(queue->second.receivers.front());
  queue->second.receivers.pop_front();
  give(receiver, name, item);
}

void Queues::give(const QueueCall& call, const std::string& name, const StoredItem& item) {
  auto body = json::parse(item.body);
  call.answer(body ? json_content(std::move(*body))
                   : error_content(RoomCode::operation_failed, "the message is damaged"));
  store_.remove_items(name, {item.seq}, [](const Result<void>&) {});
}

void Queues::receive(QueueCall call, const std::string& name) {
  Queue* queue = queue_of(call, name);
  if (!queue) return;
  if (!queue->items.empty()) {
    StoredItem item = std::move(queue->items.front());
    queue->items.pop_front();
    return give(call, name, item);
  }
  if (!json::flag_at(members_of(call), "wait")) return call.answer(empty_content());
  if (queue->receivers.size() >= limits_.queue_receivers_max) {
    return call.answer(error_content(RoomCode::operation_failed, "too many receivers wait"));
  }
  queue->receivers.push_back(std::move(call));
}

void Queues::drain(const QueueCall& call, const std::string& name) {
  auto queue = queues_.find(name);
  if (queue == queues_.end()) return call.answer(no_such_queue(name));
  std::vector<std::uint64_t> seqs;
  for (const StoredItem& item : std::exchange(queue->second.items, {})) seqs.push_back(item.seq);
  store_.remove_items(name, std::move(seqs), answer_when_done(call, empty_content()));
}

void Queues::close(const QueueCall& call, const std::string& name) {
  auto queue = queues_.find(name);
  if (queue == queues_.end()) return call.answer(no_such_queue(name));
  for (const QueueCall& receiver : queue->second.receivers) receiver.answer(no_such_queue(name));
  queues_.erase(queue);
  store_.remove_queue(name, answer_when_done(call, empty_content()));
}

void Queues::leave(const void* caller) {
  auto is_theirs = [caller](const QueueCall& call) { return call.caller == caller; };
  std::erase_if(waiting_, is_theirs);
  for (auto& [name, queue] : queues_) std::erase_if(queue.receivers, is_theirs);
}

}  // namespace errand::room
