#include "json/schema/compiler.hpp"

#include <unordered_map>

#include "base/text.hpp"

namespace errand::json::schema {
namespace {

// The usual memory of a compiled pattern: its two programs, and a filled cache.
constexpr std::size_t kBytesPerPattern = 16 * 1024;
constexpr std::size_t kBytesPerInstruction = 32;
constexpr std::size_t kBytesPerTextByte = 4;

}  // namespace

Compiler::Compiler(const CompileOptions& options)
    : options_(options), program_(std::make_unique<Program>()), index_(*program_, options_) {
  program_->work_max = options.work_max;
}

std::size_t Compiler::bytes() const {
  return index_.bytes() * kBytesPerTextByte + index_.places().size() * sizeof(Node) +
         patterns_.size() * kBytesPerPattern + instructions_ * kBytesPerInstruction;
}

Result<std::unique_ptr<const Program>> Compiler::run(const Source& schema) {
  ERRAND_CHECK(index_.add(schema, "", {}));
  program_->root = index_.node_of(schema);
  // Following a reference may add places to the index.
  for (std::size_t i = 0; i < index_.places().size() && !error_; ++i) {
    compile(Index::Place(index_.places()[i]));
  }
  if (error_) return std::move(*error_);
  add_dynamic_targets();
  if (const Node* endless = find_endless(*program_)) {
    return Error(ErrorCode::invalid_argument,
                 "the schema refers back to itself without going into the value, so that checking "
                 "would never end")
        .pointer(program_->pointer(*endless));
  }
  return std::unique_ptr<const Program>(std::move(program_));
}

void Compiler::compile(const Index::Place& place) {
  node_ = place.node;
  const Object* schema = place.source.object();
  if (!schema) {
    node_->verdict = place.source.accepts_all() ? Verdict::always : Verdict::never;
  } else if (schema->empty()) {
    node_->verdict = Verdict::always;
  } else {
    compile_keywords(*schema);
  }
}

// Finds every $dynamicAnchor that some $dynamicRef may resolve to, in any resource.
void Compiler::add_dynamic_targets() {
  const auto& resources = index_.resources();
  for (std::size_t i = 0; i < resources.size(); ++i) {
    auto& targets = program_->resources[i].dynamic_anchors;
    for (const auto& [name, source] : resources[i].dynamic_anchors) {
      auto anchor = anchors_.find(name);
      if (anchor == anchors_.end()) continue;
      targets.emplace_back(anchor->second, index_.node_of(source));
    }
  }
}

void Compiler::fail(std::string_view suffix, std::string message) {
  fail_at(suffix, Error(ErrorCode::invalid_argument, std::move(message)));
}

void Compiler::fail_at(std::string_view suffix, const Error& error) {
  if (error_) return;
  error_ = Error(error).pointer(cat(child_pointer(program_->pointer(*node_), keyword_), suffix));
}

void Compiler::expected(std::string_view suffix, std::string_view what, const Value& found) {
  fail(suffix, cat("expected ", what, ", got ", kind_name(found)));
}

const Node* Compiler::subschema(const Value& value, std::string_view suffix) {
  if (!is_schema(value)) {
    expected(suffix, "a schema (an object or a boolean)", value);
    return nullptr;
  }
  return index_.node_of(value);
}

std::vector<const Node*> Compiler::subschema_list(const Value& value) {
  std::vector<const Node*> out;
  if (!value.is_array()) {
    expected("", "an array of schemas", value);
    return out;
  }
  for (std::size_t i = 0; i < value.get_array().size(); ++i) {
    const Value& item = value.get_array()[i];
    out.push_back(is_schema(item) ? index_.node_of(item) : subschema(item, child_pointer("", i)));
  }
  return out;
}

std::vector<std::pair<std::string, const Node*>> Compiler::subschema_map(const Value& value) {
  std::vector<std::pair<std::string, const Node*>> out;
  if (!value.is_object()) {
    expected("", "an object of schemas", value);
    return out;
  }
  out.reserve(value.get_object().size());
  for (const auto& member : value.get_object()) {
    std::string_view key(member.key().data(), member.key().size());
    out.emplace_back(key, subschema_at(member.value(), key));
  }
  return out;
}

const Node* Compiler::subschema_at(const Value& value, std::string_view key) {
  return is_schema(value) ? index_.node_of(value) : subschema(value, child_pointer("", key));
}

std::vector<std::string> Compiler::names(const Value& value, std::string_view suffix) {
  std::vector<std::string> out;
  const Array* list = value.if_array();
  if (!list) {
    expected(suffix, "an array of strings", value);
    return out;
  }
  for (std::size_t i = 0; i < list->size(); ++i) {
    const Value& item = (*list)[i];
    if (!item.is_string()) {
      expected(child_pointer(suffix, i), "a string", item);
      break;
    }
    out.emplace_back(view(item.get_string()));
  }
  return out;
}

const Pattern* Compiler::pattern(std::string_view text, std::string_view suffix) {
  if (auto known = patterns_.find(text); known != patterns_.end()) return known->second;
  if (patterns_.size() >= kSchemaPatternsMax) {
    fail_at(suffix, Error(ErrorCode::too_large,
                          cat("there are more than ", kSchemaPatternsMax, " different patterns"))
                        .reason("too_complex")
                        .limit("schemaPatterns", static_cast<std::int64_t>(kSchemaPatternsMax)));
    return nullptr;
  }
  auto compiled = Pattern::compile(text);
  // Patterns that RE2 does not support are not checked, which unchecked_patterns reports to the
  // caller.
  if (!compiled && compiled.error().code() == ErrorCode::unsupported) return nullptr;
  if (!compiled) {
    fail_at(suffix, compiled.error());
    return nullptr;
  }
  instructions_ += (*compiled)->instructions();
  if (instructions_ > kSchemaInstructionsMax) {
    fail_at(suffix,
            Error(ErrorCode::too_large, "the patterns take too much memory together")
                .reason("too_complex")
                .limit("schemaInstructions", static_cast<std::int64_t>(kSchemaInstructionsMax)));
    return nullptr;
  }
  program_->patterns.push_back(std::move(*compiled));
  const Pattern* added = program_->patterns.back().get();
  patterns_.emplace(text, added);
  return added;
}

std::optional<Target> Compiler::target(const Value& value) {
  if (!value.is_string()) {
    expected("", "a string", value);
    return {};
  }
  auto out = resolve(index_.resources()[node_->resource].uri, view(value.get_string()));
  if (!out || out->uri.size() > kSchemaUriBytesMax) {
    fail("", out ? cat("the URI is longer than ", kSchemaUriBytesMax, " bytes") : "expected a URI");
    return {};
  }
  return out;
}

std::optional<Index::Place> Compiler::find(const Target& target) {
  auto found = index_.find(target, dialect());
  if (!found) {
    // An error inside a registered document has a pointer already.
    if (found.error().pointer().empty()) {
      fail_at("", found.error());
    } else if (!error_) {
      error_ = found.error();
    }
    return {};
  }
  return *found;
}

const Node* find_endless(const Program& program) {
  struct Step {
    const Node* node;
    std::vector<const Node*> ahead;
  };
  auto next_of = [](const Node& node) {
    std::vector<const Node*> out;
    if (const Combination* all = node.combination.get()) {
      out = {all->ref, all->negated, all->condition, all->then, all->otherwise};
      for (const auto* list : {&all->all_of, &all->any_of, &all->one_of}) {
        out.insert(out.end(), list->begin(), list->end());
      }
    }
    if (node.object) {
      for (const auto& [name, schema] : node.object->dependent_schemas) out.push_back(schema);
    }
    std::erase(out, nullptr);
    return out;
  };
  enum class State { unseen, open, done };
  std::unordered_map<const Node*, State> states;
  for (const Node& start : program.nodes) {
    if (!start.combination && !start.object) continue;  // most places lead nowhere
    std::vector<Step> path;
    if (states[&start] == State::unseen) path.push_back({&start, next_of(start)});
    while (!path.empty()) {
      Step& step = path.back();
      if (step.ahead.empty()) {
        states[step.node] = State::done;
        path.pop_back();
        continue;
      }
      states[step.node] = State::open;
      const Node* next = step.ahead.back();
      step.ahead.pop_back();
      if (states[next] == State::open) return next;
      if (states[next] == State::unseen) path.push_back({next, next_of(*next)});
    }
  }
  return nullptr;
}

}  // namespace errand::json::schema
