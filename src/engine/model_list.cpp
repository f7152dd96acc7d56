#include "engine/model_list.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <memory>
#include <utility>

namespace errand::engine {
namespace {

constexpr std::array<std::string_view, 4> kStates = {"reachable", "wrong_key", "no_such_model",
                                                     "unreachable"};

struct Checked {
  std::shared_ptr<llm::Model> model;
  llm::Reachability reachability = {};
};

// Checks `count` models from `first` on, all at once. They stay where they are until it returns.
Task<void> check_range(Checked* first, std::size_t count) {
  using namespace asio::experimental::awaitable_operators;
  if (count == 0) co_return;
  if (count == 1) {
    first->reachability = co_await first->model->check();
    co_return;
  }
  std::size_t half = count / 2;
  co_await (check_range(first, half) && check_range(first + half, count - half));
}

}  // namespace

Task<ModelList> list_models(Catalog* catalog, ModelCheck check) {
  co_await catalog->refresh();
  ModelList list{.models = {}, .default_id = catalog->default_id()};
  std::vector<Checked> checked;
  for (const CatalogModel* model : catalog->models()) {
    list.models.push_back({.info = model->info,
                           .label = model->label,
                           .context_window_tokens = model->context_window_tokens,
                           .pricing = model->pricing,
                           .reachability = {}});
    checked.push_back({.model = model->model});
  }
  if (check == ModelCheck::left_out) co_return list;
  for (std::size_t at = 0; at < checked.size(); at += kChecksAtOnce) {
    co_await check_range(&checked[at], std::min(kChecksAtOnce, checked.size() - at));
  }
  for (std::size_t i = 0; i < checked.size(); ++i) {
    list.models[i].reachability = std::move(checked[i].reachability);
  }
  co_return list;
}

std::string_view to_string(llm::Reachability::State state) {
  return kStates[static_cast<std::size_t>(state)];
}

llm::Reachability::State parse_reachability(std::string_view word) {
  const auto* found = std::find(kStates.begin(), kStates.end(), word);
  if (found == kStates.end()) return llm::Reachability::State::unreachable;
  return static_cast<llm::Reachability::State>(found - kStates.begin());
}

}  // namespace errand::engine
