#include "agent/session_history.hpp"

#include <utility>

#include "base/text.hpp"

namespace errand::agent {
namespace {

constexpr std::size_t kBytesAtOnce = 1U * 1024 * 1024;

// Files that the model has seen in an earlier turn are named and not sent again.
void name_files(std::string& text, std::vector<FilePart>& files) {
  for (const FilePart& file : std::exchange(files, {})) {
    append(text, text.empty() ? "" : "\n",
           "[file: ", file.filename.empty() ? file.url : file.filename, "]");
  }
}

llm::MessagePtr as_told(Message message) {
  name_files(message.text, message.files);
  return std::make_shared<const Message>(std::move(message));
}

void append_told(std::vector<llm::MessagePtr>& messages, HistoryEntry entry) {
  for (Message& step : entry.steps) messages.push_back(as_told(std::move(step)));
  messages.push_back(as_told(std::move(entry.message)));
}

enum class Length { cut, whole };

std::string kept_result(const ToolResultPart& result, Length length) {
  if (length == Length::whole || result.text.size() <= kRetainedBytesMax) return result.text;
  return cat(utf8_prefix(result.text, kRetainedBytesMax), "\n[cut here: the result had ",
             result.text.size(), " bytes]");
}

// Arguments have to stay valid JSON, so they are kept whole or dropped.
std::string kept_arguments(const ToolCallPart& call, Length length) {
  if (length == Length::whole || call.arguments.size() <= kRetainedBytesMax) return call.arguments;
  return cat(R"({"left_out":")", call.arguments.size(), R"( bytes of arguments"})");
}

// The calls of one turn that later runs are told about, with their results; empty if there are
// none.
std::vector<Message> kept_step(const State& state, const Message& turn, const Message& outcomes) {
  const bool keeps_all = state.created().spec.retains_all;
  const Length length = keeps_all ? Length::whole : Length::cut;
  Message calls;
  calls.role = Role::assistant;
  calls.text = turn.text;
  Message results;
  for (std::size_t i = 0; i < turn.calls.size() && i < outcomes.results.size(); ++i) {
    const ToolDecl* tool = state.find_tool(turn.calls[i].name);
    if (!keeps_all && !(tool && tool->annotations.retain)) continue;
    ToolCallPart call = turn.calls[i];
    call.arguments = kept_arguments(call, length);
    calls.calls.push_back(std::move(call));
    ToolResultPart result = outcomes.results[i];
    result.text = kept_result(result, length);
    name_files(result.text, result.files);
    results.results.push_back(std::move(result));
  }
  if (calls.calls.empty()) return {};
  return {std::move(calls), std::move(results)};
}

std::vector<Message> kept_steps(const State& state) {
  std::vector<Message> steps;
  const std::vector<llm::MessagePtr>& messages = state.messages();
  for (std::size_t i = state.opening_size(); i + 1 < messages.size(); ++i) {
    if (messages[i]->calls.empty()) continue;
    for (Message& step : kept_step(state, *messages[i], *messages[i + 1])) {
      steps.push_back(std::move(step));
    }
  }
  return steps;
}

}  // namespace

Task<Result<Past>> read_history(Store* store, SessionKey session, std::int64_t until,
                                HistoryCache* cache) {
  HistoryCache::Beginning known;
  if (cache) known = cache->find(session, until);
  if (known.entries == until) co_return std::move(known.past);
  const std::int64_t known_before = known.entries;
  std::vector<llm::MessagePtr> messages;
  std::size_t bytes = 0;
  while (known.entries < until) {
    ERRAND_CO_TRY(auto entries,
                  co_await store->read_history(session, known.entries, until, kBytesAtOnce));
    if (entries.empty()) {
      co_return Error(ErrorCode::internal,
                      cat("the history of session ", session.session.view(), " ends at entry ",
                          known.entries, " instead of ", until));
    }
    for (const SessionEntry& entry : entries) {
      bytes += entry.body.size();
      ERRAND_CO_TRY(auto kept, parse_history_entry(entry.body));
      append_told(messages, std::move(kept));
    }
    known.entries = entries.back().n;
  }
  known.past.append(messages);
  if (cache) {
    cache->extend(session, known_before,
                  {.entries = until - known_before, .bytes = static_cast<std::int64_t>(bytes)},
                  known.past);
  }
  co_return std::move(known.past);
}

Addition addition_of(const State& state) {
  const auto begin = state.messages().begin();
  Addition addition{.opening = {begin, begin + static_cast<std::ptrdiff_t>(state.opening_size())},
                    .answer = {.message = {}, .steps = kept_steps(state)}};
  addition.answer.message.role = Role::assistant;
  addition.answer.message.text = state.last_text();
  return addition;
}

AddedHistory added_history(Addition addition) {
  AddedHistory added;
  for (const llm::MessagePtr& message : addition.opening) {
    added.entries.push_back({.message = *message, .steps = {}});
  }
  added.entries.push_back(std::move(addition.answer));
  for (const HistoryEntry& entry : added.entries) {
    added.bodies.push_back(to_history_entry(entry));
    added.bytes += static_cast<std::int64_t>(added.bodies.back().size());
  }
  return added;
}

void remember_history(HistoryCache* cache, const SessionKey& session, std::int64_t after,
                      AddedHistory added) {
  HistoryCache::Beginning known = cache->find(session, after);
  if (known.entries != after) return;  // the cache lacks its beginning
  std::vector<llm::MessagePtr> messages;
  for (HistoryEntry& entry : added.entries) append_told(messages, std::move(entry));
  known.past.append(messages);
  cache->extend(session, after,
                {.entries = static_cast<std::int64_t>(added.entries.size()), .bytes = added.bytes},
                std::move(known.past));
}

}  // namespace errand::agent
