#include "llm/demo/fill.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "llm/demo/candidates.hpp"
#include "llm/demo/property.hpp"

namespace errand::llm {
namespace {

// Bounds for schemas that refer to themselves: what lies deeper, or comes later, is null.
constexpr int kDepthMax = 32;
constexpr int kValuesMax = 1000;

// Walks a schema and puts a value wherever the prompt has one.
class Filler final {
 public:
  // With `answer`, nothing is left open: what the prompt does not say is made up.
  Filler(const json::Object& root, Candidates candidates, std::optional<std::string> answer = {})
      : root_(root), candidates_(std::move(candidates)), answer_(std::move(answer)) {}

  // Gives a property its value before everything else is filled.
  void fix(const Property& property, const Candidate& candidate) {
    fixed_ = property.schema;
    fixed_value_ = candidate.value;
  }

  json::Object fill_object(const json::Object& schema, std::string_view prefix) {
    json::Object filled;
    for (const Property& property : properties_of(schema, root_)) {
      std::string path = cat(prefix, property.name);
      std::optional<json::Value> value = fill(property, path);
      if (value) {
        filled[property.name] = std::move(*value);
      } else if (property.is_required) {
        missing_.push_back(std::move(path));
      }
    }
    return in_order_of(schema, std::move(filled));
  }

  std::optional<json::Value> fill(const Property& property, std::string_view path) {
    if (++values_ > kValuesMax || depth_ >= kDepthMax) return json::Value();
    ++depth_;
    std::optional<json::Value> value = find(property, path);
    if (!value && property.is_required) value = without_prompt(property);
    --depth_;
    return value;
  }

  std::vector<std::string> take_missing() { return std::move(missing_); }

 private:
  std::optional<json::Value> find(const Property& property, std::string_view path) {
    if (const json::Value* value = property.schema->if_contains("const")) return *value;
    if (property.schema == fixed_) return fixed_value_;
    if (property.type == "object") return find_object(property, path);
    if (property.type == "array") return find_array(property, path);
    CandidateList found = candidates_.find(property);
    if (found.empty()) return {};
    candidates_.use(found.front());
    return found.front().value;
  }

  // An optional object is left out unless the prompt has all that it requires.
  std::optional<json::Value> find_object(const Property& property, std::string_view path) {
    std::size_t missing_before = missing_.size();
    Candidates before = candidates_;
    std::optional<std::string> answer = property.is_required ? answer_ : std::nullopt;
    std::swap(answer, answer_);
    json::Object filled = fill_object(*property.schema, cat(path, "."));
    std::swap(answer, answer_);
    if (property.is_required) return filled;
    bool is_whole = !filled.empty() && missing_.size() == missing_before;
    missing_.resize(missing_before);
    if (is_whole) return filled;
    candidates_ = std::move(before);
    return {};
  }

  std::optional<json::Value> find_array(const Property& property, std::string_view path) {
    Property item = items_of(property, root_);
    json::Array out;
    if (item.type == "object" || item.type == "array") {
      item.is_required = false;
      if (auto one = find(item, path)) out.push_back(std::move(*one));
    }
    for (const Candidate& one : candidates_.find(item)) {
      if (out.size() == count_member(*property.schema, "maxItems", kCountMax)) break;
      candidates_.use(one);
      out.push_back(one.value);
    }
    if (out.empty() || out.size() < count_member(*property.schema, "minItems", 0)) return {};
    return out;
  }

  std::optional<json::Value> without_prompt(const Property& property) {
    if (const json::Value* value = property.schema->if_contains("default")) return *value;
    if (!answer_) return {};
    if (property.type == "array") {
      Property item = items_of(property, root_);
      item.is_required = true;
      json::Array out;
      for (std::size_t i = 0; i < count_member(*property.schema, "minItems", 0); ++i)
        out.push_back(fill(item, "").value_or(nullptr));
      return out;
    }
    bool takes_answer = property.want == Want::message && property.type == "string" &&
                        !property.schema->contains("enum") &&
                        !property.schema->contains("maxLength");
    if (takes_answer) return json::Value(*answer_);
    return smallest_scalar(property);
  }

  // The order of filling is of no interest to readers.
  static json::Object in_order_of(const json::Object& schema, json::Object filled) {
    const json::Value* members = schema.if_contains("properties");
    if (!members || !members->is_object()) return filled;
    json::Object out;
    for (const auto& member : members->get_object()) {
      if (json::Value* value = filled.if_contains(member.key()))
        out[member.key()] = std::move(*value);
    }
    return out;
  }

  const json::Object& root_;
  Candidates candidates_;
  std::optional<std::string> answer_;
  const json::Object* fixed_ = nullptr;
  json::Value fixed_value_;
  std::vector<std::string> missing_;
  int depth_ = 0;
  int values_ = 0;
};

bool is_enum(const Property& property) {
  return property.schema->contains("enum");
}

// The property that may ask for several calls: the only one of its kind that is required, or, if
// none is required, the first. Nothing where several values cannot be told apart from one.
std::optional<Property> repeated_property(const std::vector<Property>& properties) {
  auto rank = [](const Property& one) { return one.is_required ? (is_enum(one) ? 1 : 0) : 2; };
  std::optional<Property> found;
  for (const Property& property : properties) {
    bool is_single = property.type != "object" && property.type != "array" &&
                     property.type != "boolean" && property.want != Want::message;
    if (!is_single) continue;
    bool is_alike = found && rank(*found) == rank(property) && found->type == property.type &&
                    found->want == property.want;
    if (is_alike && property.is_required) return {};
    if (!found || rank(property) < rank(*found)) found = property;
  }
  return found;
}

// Values for a property, other than words that an enum beside it means.
CandidateList values_for(const Property& property, const std::vector<Property>& properties,
                         Candidates candidates) {
  for (const Property& other : properties) {
    CandidateList words = is_enum(other) ? candidates.find(other) : CandidateList();
    if (other.name != property.name && !words.empty()) candidates.use(words.front());
  }
  CandidateList values = candidates.find(property);
  if (values.size() > kCallsMax) values.resize(kCallsMax);
  return values;
}

}  // namespace

FilledCalls fill_calls(const ToolDecl& tool, const std::vector<Piece>& pieces) {
  const json::Object& schema = *tool.input_schema;
  Candidates candidates(pieces, split_words(tool.name));
  std::vector<Property> properties = properties_of(schema, schema);
  std::optional<Property> repeated = repeated_property(properties);
  CandidateList values;
  if (repeated) values = values_for(*repeated, properties, candidates);
  FilledCalls out;
  if (values.size() < 2) {
    Filler filler(schema, std::move(candidates));
    out.arguments.push_back(filler.fill_object(schema, ""));
    out.missing = filler.take_missing();
    return out;
  }
  for (const Candidate& value : values) candidates.use(value);
  for (const Candidate& value : values) {
    Filler filler(schema, candidates);
    filler.fix(*repeated, value);
    json::Object arguments = filler.fill_object(schema, "");
    bool is_new =
        std::find(out.arguments.begin(), out.arguments.end(), arguments) == out.arguments.end();
    if (is_new) out.arguments.push_back(std::move(arguments));
    out.missing = filler.take_missing();
  }
  return out;
}

json::Value make_instance(const json::Object& schema, std::vector<Piece> pieces,
                          std::string_view answer) {
  Property whole = whole_schema(schema, schema, "answer");
  Filler filler(schema, Candidates(std::move(pieces), {}), std::string(answer));
  return filler.fill(whole, "").value_or(nullptr);
}

}  // namespace errand::llm
