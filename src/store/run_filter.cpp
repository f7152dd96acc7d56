#include "store/run_filter.hpp"

#include <algorithm>

#include "json/parse.hpp"

namespace errand {
namespace {

bool has_member(const json::Object& object, const std::pair<std::string, std::string>& wanted) {
  const json::Value* found = object.if_contains(wanted.first);
  return found && found->is_string() && json::view(found->get_string()) == wanted.second;
}

}  // namespace

bool matches_status(const RunFilter& filter, RunStatus status) {
  if (!filter.status) return true;
  if (*filter.status == RunStatus::running && status == RunStatus::waiting) return true;
  return *filter.status == status;
}

bool matches_metadata(const Labels& wanted, std::string_view metadata) {
  if (wanted.empty()) return true;
  auto parsed = json::parse(metadata);
  if (!parsed || !parsed->is_object()) return false;
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](const auto& pair) { return has_member(parsed->get_object(), pair); });
}

Labels labels_of(std::string_view metadata) {
  Labels labels;
  if (metadata == "{}") return labels;
  auto parsed = json::parse(metadata);
  if (!parsed || !parsed->is_object()) return labels;
  for (const auto& member : parsed->get_object()) {
    if (!member.value().is_string()) continue;
    labels.emplace_back(std::string(member.key()),
                        std::string(json::view(member.value().get_string())));
  }
  return labels;
}

}  // namespace errand
