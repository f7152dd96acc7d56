#include "agent/turn_files.hpp"

#include <set>
#include <utility>

namespace errand::agent {
namespace {

// Takes files from the newest to the oldest for as long as they fit.
class Choice final {
 public:
  void take(const std::vector<FilePart>& files) {
    for (auto file = files.rbegin(); file != files.rend(); ++file) {
      if (!file->url.empty() || known_.contains(file->sha256)) continue;
      if (file->size > left_) left_ = 0;  // leaves out all older files, too
      if (left_ == 0) return;
      left_ -= file->size;
      known_.insert(file->sha256);
      chosen.push_back(*file);
    }
  }

  std::vector<FilePart> chosen;

 private:
  std::set<std::string> known_;
  std::int64_t left_ = kTurnFileBytesMax;
};

}  // namespace

std::vector<FilePart> files_to_read(const State& state) {
  Choice choice;
  const std::vector<CallState>& calls = state.turn().calls;
  for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
    if (call->outcome) choice.take(call->outcome->files);
  }
  // The history of a session names its files and does not include them.
  const std::vector<llm::MessagePtr>& messages = state.messages();
  for (auto shared = messages.rbegin(); shared != messages.rend(); ++shared) {
    const Message& message = **shared;
    choice.take(message.files);
    for (auto result = message.results.rbegin(); result != message.results.rend(); ++result) {
      choice.take(result->files);
    }
  }
  return std::move(choice.chosen);
}

std::size_t held_bytes(const std::vector<FilePart>& files) {
  std::size_t bytes = 0;
  for (const FilePart& file : files) bytes += static_cast<std::size_t>(file.size);
  return held_bytes(bytes);
}

Task<Result<std::shared_ptr<const llm::TurnFiles>>> read_files(Store* store, RunKey run,
                                                               std::vector<FilePart> files) {
  auto out = std::make_shared<llm::TurnFiles>();
  for (const FilePart& file : files) {
    auto bytes = co_await store->read_blob(run, file.sha256);
    bool is_whole = bytes && static_cast<std::int64_t>(bytes->size()) == file.size;
    if (!bytes && bytes.error().code() != ErrorCode::not_found) co_return bytes.error();
    auto& kept = out->bytes[file.sha256];
    if (is_whole) kept = std::move(*bytes);
  }
  co_return std::shared_ptr<const llm::TurnFiles>(std::move(out));
}

}  // namespace errand::agent
