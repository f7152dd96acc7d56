#include "json/schema/index.hpp"

#include <optional>

#include "base/text.hpp"

namespace errand::json::schema {
namespace {

constexpr std::size_t kBytesPerValue = 8;

Error too_large(std::string message, std::string_view limit, std::size_t max) {
  return Error(ErrorCode::too_large, std::move(message))
      .reason("too_complex")
      .limit(limit, static_cast<std::int64_t>(max));
}

Result<std::size_t> measure(const Object& object, std::size_t depth);

// The approximate size of its text; fails if it is nested too deeply.
Result<std::size_t> measure(const Value& value, std::size_t depth) {
  if (depth > kSchemaDepthMax) {
    return too_large(cat("the schema is nested deeper than ", kSchemaDepthMax, " levels"),
                     "schemaDepth", kSchemaDepthMax);
  }
  std::size_t bytes = kBytesPerValue;
  if (const auto* text = value.if_string()) {
    bytes += text->size();
  } else if (const Array* array = value.if_array()) {
    for (const Value& item : *array) {
      ERRAND_TRY(std::size_t more, measure(item, depth + 1));
      bytes += more;
    }
  } else if (const Object* object = value.if_object()) {
    return measure(*object, depth);
  }
  return bytes;
}

Result<std::size_t> measure(const Object& object, std::size_t depth) {
  std::size_t bytes = kBytesPerValue;
  for (const auto& member : object) {
    ERRAND_TRY(std::size_t more, measure(member.value(), depth + 1));
    bytes += more + member.key().size();
  }
  return bytes;
}

NodeStep step_of(const SubschemaPath& path) {
  return {.keyword = path.keyword,
          .shape = path.shape,
          .index = static_cast<std::uint32_t>(path.index),
          .key = std::string(path.key)};
}

std::string unescape(std::string_view token) {
  std::string out;
  for (std::size_t i = 0; i < token.size(); ++i) {
    bool escaped = token[i] == '~' && i + 1 < token.size();
    if (escaped && (token[i + 1] == '0' || token[i + 1] == '1')) {
      out.push_back(token[++i] == '0' ? '~' : '/');
    } else {
      out.push_back(token[i]);
    }
  }
  return out;
}

const Value* child(const Source& source, std::string_view token) {
  std::string key = unescape(token);
  return source.object() ? source.object()->if_contains(key) : nullptr;
}

const Value* child(const Value& value, std::string_view token) {
  if (value.is_object()) return child(Source(value), token);
  if (const Array* array = value.if_array()) {
    auto index = parse_integer<std::size_t>(token);
    if (index && *index < array->size()) return &(*array)[*index];
  }
  return nullptr;
}

bool hides_siblings(const Object& schema, const Dialect& dialect) {
  return dialect.draft == Draft::seven && schema.contains("$ref");
}

}  // namespace

Error Index::mistake(const Node& at, std::string_view keyword, std::string message) const {
  return Error(ErrorCode::invalid_argument, std::move(message))
      .pointer(child_pointer(program_.pointer(at), keyword));
}

Node* Index::node_of(const Source& source) const {
  auto at = nodes_.find(source.place());
  return at == nodes_.end() ? nullptr : at->second;
}

Result<void> Index::add(const Source& document, std::string_view uri, const Dialect& fallback) {
  if (document.object()) {
    ERRAND_TRY(std::size_t bytes, measure(*document.object(), 0));
    bytes_ += bytes;
  }
  if (bytes_ > kSchemaBytesMax) {
    return too_large(cat("the schema has more than ", kSchemaBytesMax, " bytes"), "schemaBytes",
                     kSchemaBytesMax);
  }
  document_ = uri;
  auto first = static_cast<std::uint32_t>(resources_.size());
  resources_.push_back({.root = document, .uri = std::string(uri), .dialect = fallback});
  program_.resources.push_back({.document = document_});
  by_uri_.emplace(uri, first);
  return walk(document, first, nullptr, {});
}

Result<void> Index::walk(const Source& source, std::uint32_t resource, const Node* parent,
                         NodeStep step) {
  if (nodes_.contains(source.place())) return {};
  if (program_.nodes.size() >= kSchemaNodesMax) {
    return too_large(cat("there are more than ", kSchemaNodesMax, " subschemas"), "schemaNodes",
                     kSchemaNodesMax);
  }
  Node& node = program_.nodes.emplace_back();
  node.parent = parent;
  node.step = std::move(step);
  node.resource = resource;
  nodes_.emplace(source.place(), &node);
  places_.push_back({.node = &node, .source = source});
  const Object* schema = source.object();
  if (!schema) return {};

  ERRAND_TRY(node.resource, identify(*schema, resource, node));
  ERRAND_CHECK(add_anchors(*schema, node.resource, node));
  Result<void> walked;
  for_each_subschema(*schema, resources_[node.resource].dialect.draft,
                     [&](const SubschemaPath& path, const Value& inner) {
                       if (!walked || !is_schema(inner)) return;
                       walked = walk(inner, node.resource, &node, step_of(path));
                     });
  return walked;
}

// The resource that a schema belongs to or begins.
Result<std::uint32_t> Index::identify(const Object& schema, std::uint32_t resource,
                                      const Node& at) {
  bool is_root = resources_[resource].root == schema;
  if (is_root) {
    if (const Value* name = schema.if_contains("$schema")) {
      if (!name->is_string()) return mistake(at, "$schema", "expected a string");
      auto dialect = find_dialect(view(name->get_string()), options_.documents);
      if (!dialect) {
        return Error(dialect.error()).pointer(child_pointer(program_.pointer(at), "$schema"));
      }
      resources_[resource].dialect = *dialect;
    }
  }
  Dialect dialect = resources_[resource].dialect;
  const Value* id = schema.if_contains("$id");
  if (!id || hides_siblings(schema, dialect)) return resource;
  if (!id->is_string()) return mistake(at, "$id", "expected a string");
  std::string_view text = view(id->get_string());
  auto target = resolve(resources_[resource].uri, text);
  if (!target) return mistake(at, "$id", "expected a URI");
  if (target->uri.size() > kSchemaUriBytesMax) {
    return mistake(at, "$id", cat("the URI is longer than ", kSchemaUriBytesMax, " bytes"));
  }
  if (!target->fragment.empty()) {
    if (dialect.draft != Draft::seven) return mistake(at, "$id", "expected a URI without fragment");
    // In draft 7 a fragment in "$id" names an anchor.
    resources_[resource].anchors.emplace(target->fragment, schema);
    if (without_fragment(text).empty()) return resource;
  }
  if (is_root) {
    resources_[resource].uri = target->uri;
    by_uri_.emplace(target->uri, resource);
    return resource;
  }
  return add_resource(schema, std::move(target->uri), dialect, at);
}

Result<std::uint32_t> Index::add_resource(const Object& schema, std::string uri,
                                          const Dialect& inherited, const Node& at) {
  if (resources_.size() >= kSchemaResourcesMax) {
    return too_large(cat("there are more than ", kSchemaResourcesMax, " subschemas with an $id"),
                     "schemaResources", kSchemaResourcesMax);
  }
  auto added = static_cast<std::uint32_t>(resources_.size());
  if (!by_uri_.emplace(uri, added).second) {
    return mistake(at, "$id", cat("another schema is called ", uri, " too"));
  }
  resources_.push_back({.root = schema, .uri = std::move(uri), .dialect = inherited});
  program_.resources.push_back({.document = document_});
  if (const Value* name = schema.if_contains("$schema"); name && name->is_string()) {
    auto dialect = find_dialect(view(name->get_string()), options_.documents);
    if (!dialect) {
      return Error(dialect.error()).pointer(child_pointer(program_.pointer(at), "$schema"));
    }
    resources_[added].dialect = *dialect;
  }
  return added;
}

Result<void> Index::add_anchors(const Object& schema, std::uint32_t resource, const Node& at) {
  Resource& in = resources_[resource];
  if (in.dialect.draft == Draft::seven) return {};
  for (std::string_view keyword : {"$anchor", "$dynamicAnchor"}) {
    const Value* value = schema.if_contains({keyword.data(), keyword.size()});
    if (!value) continue;
    if (!value->is_string()) return mistake(at, keyword, "expected a string");
    std::string name(view(value->get_string()));
    auto [known, added] = in.anchors.emplace(name, schema);
    if (!added && known->second != schema) {
      return mistake(at, keyword, cat("there are two anchors \"", name, "\""));
    }
    if (keyword == "$dynamicAnchor") in.dynamic_anchors.emplace(std::move(name), schema);
  }
  return {};
}

Result<Index::Place> Index::find(const Target& target, const Dialect& fallback) {
  auto known = by_uri_.find(target.uri);
  if (known == by_uri_.end()) {
    const Value* document = options_.documents ? options_.documents->find(target.uri) : nullptr;
    if (!document || !is_schema(*document)) {
      return Error(ErrorCode::invalid_argument,
                   cat("there is no schema ", target.uri, "; nothing is ever fetched"));
    }
    ERRAND_CHECK(add(*document, target.uri, fallback));
    known = by_uri_.find(target.uri);
  }
  std::uint32_t resource = known->second;
  if (target.fragment.empty() || target.fragment.starts_with('/')) {
    return follow(resource, target.fragment);
  }
  const auto& anchors = resources_[resource].anchors;
  auto anchor = anchors.find(target.fragment);
  if (anchor == anchors.end()) {
    return Error(ErrorCode::invalid_argument,
                 cat("there is no anchor \"", target.fragment, "\" in ",
                     target.uri.empty() ? "the schema" : target.uri));
  }
  return Place{.node = node_of(anchor->second), .source = anchor->second};
}

Result<Index::Place> Index::follow(std::uint32_t resource, std::string_view pointer) {
  Source place = resources_[resource].root;
  const Node* known = node_of(place);
  std::string_view behind = pointer;  // the part of the pointer behind the node `known`
  std::string_view rest = pointer;
  const Value* at = nullptr;  // null at the root
  while (!rest.empty()) {
    rest.remove_prefix(1);
    std::string_view token = rest.substr(0, rest.find('/'));
    rest.remove_prefix(token.size());
    at = at ? child(*at, token) : child(place, token);
    if (!at) break;
    if (const Node* node = node_of(*at)) {
      known = node;
      behind = rest;
    }
  }
  if (!pointer.empty() && (!at || !is_schema(*at))) {
    return Error(ErrorCode::invalid_argument, cat("there is no schema at #", pointer));
  }
  if (at) place = *at;
  if (known && !behind.empty()) {
    document_ = program_.resources[known->resource].document;
    ERRAND_CHECK(walk(place, known->resource, known, {.key = std::string(behind)}));
  }
  return Place{.node = node_of(place), .source = place};
}

}  // namespace errand::json::schema
