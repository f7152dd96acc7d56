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

Content too_much(std::string_view what) {
  return error_content(RoomCode::operation_failed, what);
}

Content failed(const Error& error) {
  return too_much(error.message());
}

// The size that a message counts as: its text, and the overhead of its record.
std::size_t weight_of(const StoredItem& item) {
  constexpr std::size_t kRecordBytes = 100;
  return item.body.size() + kRecordBytes;
}

const json::Object* members_of(const QueueCall& call) {
  return call.arguments.if_object();
}

}  // namespace

void Queues::serve(QueueCall call) {
  if (state_ == State::ready) return run(std::move(call));
  if (waiting_.size() >= limits_.queue_calls_waiting_max) {
    return call.answer(too_much("too many calls wait for the queues to be read"));
  }
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
    queue.life = ++last_life_;
    queue.is_stored = true;
    if (!stored.items.empty()) queue.last_seq = stored.items.back().seq;
    for (const StoredItem& item : stored.items) bytes_ += weight_of(item);
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

RoomStore::Done Queues::answer_when_done(const QueueCall& call, Content content) {
  return [answer = call.answer, content = std::move(content)](const Result<void>& done) {
    answer(done ? content : failed(done.error()));
  };
}

RoomStore::Done Queues::counted(RoomStore::Done done) {
  ++changes_;
  return [this, done = std::move(done)](Result<void> result) {
    --changes_;
    done(std::move(result));
  };
}

bool Queues::admit_change(const QueueCall& call) {
  if (changes_ < limits_.queue_changes_max) return true;
  call.answer(too_much("too many changes of queues are under way"));
  return false;
}

Queues::Queue* Queues::find(const std::string& name, std::uint64_t life) {
  auto found = queues_.find(name);
  return found != queues_.end() && found->second.life == life ? &found->second : nullptr;
}

Queues::Queue* Queues::make_queue(const QueueCall& call, const std::string& name) {
  if (queues_.size() >= limits_.queues_max) {
    call.answer(too_much("the room has too many queues"));
    return nullptr;
  }
  Queue& queue = queues_[name];
  queue.life = ++last_life_;
  return &queue;
}

Queues::Queue* Queues::queue_of(const QueueCall& call, const std::string& name) {
  if (auto found = queues_.find(name); found != queues_.end()) return &found->second;
  if (json::flag_at(members_of(call), "create")) return make_queue(call, name);
  call.answer(no_such_queue(name));
  return nullptr;
}

void Queues::store_queue(const std::string& name, Queue& queue, RoomStore::Done done) {
  ++queue.storing;
  store_.add_queue(name, counted([this, name, life = queue.life,
                                  done = std::move(done)](const Result<void>& result) {
                     done(result);
                     stored_queue(name, life, result);
                   }));
}

void Queues::stored_queue(const std::string& name, std::uint64_t life, const Result<void>& done) {
  Queue* queue = find(name, life);
  if (!queue) return;
  --queue->storing;
  if (done) queue->is_stored = true;
  if (queue->is_stored || queue->storing > 0) return;
  for (const QueueCall& receiver : queue->receivers) receiver.answer(failed(done.error()));
  queues_.erase(name);
}

void Queues::open(const QueueCall& call, const std::string& name) {
  if (queues_.contains(name)) {
    return call.answer(
        error_content(RoomCode::queue_exists, cat("queue ", name, " exists already")));
  }
  if (!admit_change(call)) return;
  if (Queue* queue = make_queue(call, name)) {
    store_queue(name, *queue, answer_when_done(call, empty_content()));
  }
}

void Queues::send(const QueueCall& call, const std::string& name) {
  const json::Object* message = json::object_at(members_of(call), "message");
  if (!message) {
    return call.answer(error_content(RoomCode::invalid_request, "a message is a JSON object"));
  }
  if (!admit_change(call)) return;
  StoredItem item;
  json::write(item.body, *message);
  if (bytes_ + weight_of(item) > limits_.queue_bytes_max) {
    return call.answer(too_much("the queues of the room are full"));
  }
  Queue* queue = queue_of(call, name);
  if (!queue) return;
  if (queue->items.size() >= limits_.queue_items_max) {
    return call.answer(too_much("the queue is full"));
  }
  item.seq = ++queue->last_seq;
  bytes_ += weight_of(item);
  // A message must not be stored without its queue, because a restart would not find it.
  const auto with_queue = queue->is_stored ? WithQueue::no : WithQueue::yes;
  if (with_queue == WithQueue::yes) ++queue->storing;
  store_.add_item(name, item, with_queue,
                  counted([this, name, item, with_queue, life = queue->life,
                           answer = call.answer](const Result<void>& done) {
                    answer(done ? empty_content() : failed(done.error()));
                    if (with_queue == WithQueue::yes) stored_queue(name, life, done);
                    if (done) return arrived(name, life, item);
                    bytes_ -= weight_of(item);
                  }));
}

// Called when the message is durable. Its queue may have been closed meanwhile, which removed the
// message.
void Queues::arrived(const std::string& name, std::uint64_t life, StoredItem item) {
  Queue* queue = find(name, life);
  if (!queue) {
    bytes_ -= weight_of(item);
    return;
  }
  queue->items.push_back(std::move(item));
  serve_receivers(name, *queue);
}

void Queues::serve_receivers(const std::string& name, Queue& queue) {
  while (!queue.receivers.empty() && !queue.items.empty()) {
    QueueCall receiver = std::move(queue.receivers.front());
    queue.receivers.pop_front();
    StoredItem item = std::move(queue.items.front());
    queue.items.pop_front();
    give(receiver, name, queue.life, std::move(item));
  }
}

void Queues::give(const QueueCall& call, const std::string& name, std::uint64_t life,
                  StoredItem item) {
  auto body = json::parse(item.body);
  const std::uint64_t number = ++last_given_;
  given_.emplace(
      number, Given{.caller = call.caller, .queue = name, .life = life, .item = std::move(item)});
  call.give(body ? json_content(std::move(*body))
                 : error_content(RoomCode::operation_failed, "the message is damaged"),
            [this, number] { taken(number); });
}

// Called when the receiver's connection has the message.
void Queues::taken(std::uint64_t number) {
  auto found = given_.find(number);
  if (found == given_.end()) return;
  const Given given = std::move(found->second);
  given_.erase(found);
  bytes_ -= weight_of(given.item);
  if (!find(given.queue, given.life))
    return;  // the queue was closed, and its messages were removed
  store_.remove_items(given.queue, {given.item.seq}, [](const Result<void>&) {});
}

void Queues::receive(QueueCall call, const std::string& name) {
  Queue* queue = queue_of(call, name);
  if (!queue) return;
  if (!queue->is_stored && queue->storing == 0) {
    store_queue(name, *queue, [](const Result<void>&) {});
  }
  if (!queue->items.empty()) {
    StoredItem item = std::move(queue->items.front());
    queue->items.pop_front();
    return give(call, name, queue->life, std::move(item));
  }
  if (!json::flag_at(members_of(call), "wait")) return call.answer(empty_content());
  if (queue->receivers.size() >= limits_.queue_receivers_max) {
    return call.answer(too_much("too many receivers wait"));
  }
  call.arguments = nullptr;  // which can be long, and have been read
  queue->receivers.push_back(std::move(call));
}

void Queues::drain(const QueueCall& call, const std::string& name) {
  auto queue = queues_.find(name);
  if (queue == queues_.end()) return call.answer(no_such_queue(name));
  if (!admit_change(call)) return;
  std::vector<std::uint64_t> seqs;
  for (const StoredItem& item : std::exchange(queue->second.items, {})) {
    seqs.push_back(item.seq);
    bytes_ -= weight_of(item);
  }
  store_.remove_items(name, std::move(seqs), counted(answer_when_done(call, empty_content())));
}

void Queues::close(const QueueCall& call, const std::string& name) {
  auto queue = queues_.find(name);
  if (queue == queues_.end()) return call.answer(no_such_queue(name));
  if (!admit_change(call)) return;
  for (const QueueCall& receiver : queue->second.receivers) receiver.answer(no_such_queue(name));
  for (const StoredItem& item : queue->second.items) bytes_ -= weight_of(item);
  queues_.erase(queue);
  store_.remove_queue(name, counted(answer_when_done(call, empty_content())));
}

void Queues::leave(const void* caller) {
  auto is_theirs = [caller](const QueueCall& call) { return call.caller == caller; };
  std::erase_if(waiting_, is_theirs);
  for (auto& [name, queue] : queues_) std::erase_if(queue.receivers, is_theirs);
  for (auto one = given_.begin(); one != given_.end();) {
    if (one->second.caller != caller) {
      ++one;
      continue;
    }
    Given given = std::move(one->second);
    one = given_.erase(one);
    Queue* queue = find(given.queue, given.life);
    if (!queue) {
      bytes_ -= weight_of(given.item);
      continue;
    }
    auto place =
        std::lower_bound(queue->items.begin(), queue->items.end(), given.item.seq,
                         [](const StoredItem& item, std::uint64_t seq) { return item.seq < seq; });
    queue->items.insert(place, std::move(given.item));
  }
  for (auto& [name, queue] : queues_) serve_receivers(name, queue);
}

}  // namespace errand::room
