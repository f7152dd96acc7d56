#include "json/schema/node.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace errand::json::schema {

const Property* ObjectRules::find(std::string_view name) const {
  auto before = [](const Property& property, std::string_view wanted) {
    if (property.name.size() != wanted.size()) return property.name.size() < wanted.size();
    return property.name < wanted;
  };
  auto at = std::lower_bound(properties.begin(), properties.end(), name, before);
  return at != properties.end() && at->name == name ? &*at : nullptr;
}

namespace {

void append_step(std::string& out, const NodeStep& step) {
  if (step.keyword.empty()) {
    out.append(step.key);
    return;
  }
  out = child_pointer(out, step.keyword);
  if (step.shape == Shape::map) out = child_pointer(out, step.key);
  if (step.shape == Shape::list) out = child_pointer(out, step.index);
}

}  // namespace

std::string Program::pointer(const Node& node) const {
  std::vector<const Node*> path;
  for (const Node* at = &node; at; at = at->parent) path.push_back(at);
  std::string out;
  const std::string& document = resources[node.resource].document;
  if (!document.empty()) append(out, document, "#");
  for (auto at = path.rbegin(); at != path.rend(); ++at) append_step(out, (*at)->step);
  return out;
}

}  // namespace errand::json::schema
