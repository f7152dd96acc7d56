#include "cli/chat/conversation.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "cli/show/answer_text.hpp"

namespace errand::cli {
namespace {

constexpr int kPageMax = 1000;

// Goes through a journal entry by entry.
class JournalReader final {
 public:
  void take(const json::Value& entry) {
    std::string kind = text_of(entry, "entry");
    if (kind == "created") take_created(entry);
    if (kind == "turn") take_turn(entry);
    if (kind == "call") take_call(entry);
    if (kind == "outcome") take_outcome(entry);
    if (kind == "turn_end") add(Saying::Kind::model, text_of(entry, "text"));
  }

  std::vector<Saying> sayings() && { return std::move(sayings_); }

 private:
  void add(Saying::Kind kind, std::string text, std::string name = {}) {
    if (text.empty() && name.empty()) return;
    sayings_.push_back({.kind = kind, .text = std::move(text), .name = std::move(name)});
  }

  void take_created(const json::Value& entry) {
    const json::Value* spec = member(entry, "spec");
    if (spec) add(Saying::Kind::user, text_of(*spec, "prompt"));
  }

  void take_turn(const json::Value& entry) {
    std::string turn = text_of(entry, "turn");
    if (turn == turn_) sayings_.resize(turn_start_);
    if (turn != turn_) add(Saying::Kind::user, text_of(entry, "prompt"));
    turn_ = std::move(turn);
    turn_start_ = sayings_.size();
  }

  void take_call(const json::Value& entry) {
    add(Saying::Kind::model, text_of(entry, "text"));
    std::string name = text_of(entry, "name");
    names_[text_of(entry, "id")] = name;
    add(Saying::Kind::call, text_of(entry, "arguments"), std::move(name));
  }

  void take_outcome(const json::Value& entry) {
    bool is_ok = text_of(entry, "ok") == "true";
    add(is_ok ? Saying::Kind::result : Saying::Kind::failure, text_of(entry, "text"),
        names_[text_of(entry, "id")]);
  }

  std::vector<Saying> sayings_;
  std::map<std::string, std::string> names_;  // of tools, by call
  std::string turn_;
  std::size_t turn_start_ = 0;
};

// A fence that nothing in the text can close.
std::string fenced(std::string_view text) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  std::string fence(std::max<std::size_t>(3, longest + 1), '`');
  return cat(fence, "\n", text, text.ends_with('\n') || text.empty() ? "" : "\n", fence);
}

std::string block_of(const Saying& saying) {
  switch (saying.kind) {
    case Saying::Kind::user: return cat("## You\n\n", saying.text);
    case Saying::Kind::model: return saying.text;
    case Saying::Kind::call: return cat("Calls ", saying.name, ":\n\n", fenced(saying.text));
    case Saying::Kind::result: return cat(saying.name, " gives:\n\n", fenced(saying.text));
    case Saying::Kind::failure: return cat(saying.name, " fails:\n\n", fenced(saying.text));
  }
  return {};
}

}  // namespace

std::vector<Saying> sayings_of(const std::vector<json::Value>& journal) {
  JournalReader reader;
  for (const json::Value& entry : journal) reader.take(entry);
  return std::move(reader).sayings();
}

Task<Result<std::vector<Saying>>> read_conversation(sdk::ApiClient* api, std::string run) {
  std::vector<json::Value> journal;
  std::string after = "0";
  while (!after.empty()) {
    std::string query = cat("/journal?limit=", kPageMax, "&after=", percent_encode(after));
    ERRAND_CO_TRY(auto page, co_await api->send({.path = sdk::run_path(run, query)}));
    json::Array entries = items_of(page, "entries");
    journal.insert(journal.end(), entries.begin(), entries.end());
    after = entries.empty() ? std::string() : text_of(page, "nextCursor");
  }
  co_return sayings_of(journal);
}

std::string to_markdown(std::string_view title, const std::vector<Saying>& sayings) {
  std::string out = cat("# ", title, "\n");
  bool is_model_heard = false;
  for (const Saying& saying : sayings) {
    bool is_user = saying.kind == Saying::Kind::user;
    if (!is_user && !is_model_heard) out += "\n## Model\n";
    is_model_heard = !is_user;
    std::string block = block_of(saying);
    append(out, "\n", block, block.ends_with('\n') ? "" : "\n");
  }
  return out;
}

}  // namespace errand::cli
