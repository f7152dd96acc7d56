#include "cli/chat/conversation.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/text.hpp"

namespace errand::cli {
namespace {

// Reads a journal entry by entry.
class JournalReader final {
 public:
  void operator()(const CreatedEntry& entry) { add(Saying::Kind::user, entry.spec.prompt); }

  void operator()(const TurnEntry& entry) {
    if (entry.turn == turn_) sayings_.resize(turn_start_);
    if (entry.turn != turn_) add(Saying::Kind::user, entry.prompt);
    turn_ = entry.turn;
    turn_start_ = sayings_.size();
  }

  void operator()(const CallEntry& entry) {
    add(Saying::Kind::model, entry.text);
    names_[entry.id] = entry.name;
    sayings_.push_back({Saying::Kind::call, entry.arguments, entry.name});
  }

  void operator()(const OutcomeEntry& entry) {
    auto kind = entry.ok ? Saying::Kind::result : Saying::Kind::failure;
    sayings_.push_back({kind, entry.text, names_[entry.id]});
  }

  void operator()(const TurnEndEntry& entry) { add(Saying::Kind::model, entry.text); }
  void operator()(const auto&) {}

  std::vector<Saying> sayings() && { return std::move(sayings_); }

 private:
  void add(Saying::Kind kind, const std::optional<std::string>& text) {
    if (text && !text->empty()) sayings_.push_back({.kind = kind, .text = *text});
  }

  std::vector<Saying> sayings_;
  std::map<ToolUseId, std::string> names_;  // of tools, by call
  std::optional<int> turn_;
  std::size_t turn_start_ = 0;
};

// A fence that no line of the text can close.
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

std::vector<Saying> sayings_of(const std::vector<JournalEntry>& journal) {
  JournalReader reader;
  for (const JournalEntry& entry : journal) std::visit(reader, entry);
  return std::move(reader).sayings();
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
