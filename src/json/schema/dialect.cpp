#include "json/schema/dialect.hpp"

#include "base/text.hpp"
#include "json/schema/uri.hpp"

namespace errand::json::schema {
namespace {

// At most this many metaschemas are followed from one to the next.
constexpr int kMetaschemasMax = 8;
constexpr std::string_view kVocabularies = "https://json-schema.org/draft/2020-12/vocab/";

constexpr unsigned kSeven = static_cast<unsigned>(Draft::seven);
constexpr unsigned k2020 = static_cast<unsigned>(Draft::v2020_12);

struct SubschemaKeyword {
  std::string_view name;
  Shape shape;
  unsigned drafts;
};

constexpr SubschemaKeyword kSubschemaKeywords[] = {
    {"$defs", Shape::map, k2020},
    {"additionalItems", Shape::schema, kSeven},
    {"additionalProperties", Shape::schema, kSeven | k2020},
    {"allOf", Shape::list, kSeven | k2020},
    {"anyOf", Shape::list, kSeven | k2020},
    {"contains", Shape::schema, kSeven | k2020},
    {"contentSchema", Shape::schema, k2020},
    {"definitions", Shape::map, kSeven | k2020},
    {"dependencies", Shape::map, kSeven},
    {"dependentSchemas", Shape::map, k2020},
    {"else", Shape::schema, kSeven | k2020},
    {"if", Shape::schema, kSeven | k2020},
    {"items", Shape::schema, kSeven | k2020},
    {"items", Shape::list, kSeven},
    {"not", Shape::schema, kSeven | k2020},
    {"oneOf", Shape::list, kSeven | k2020},
    {"patternProperties", Shape::map, kSeven | k2020},
    {"prefixItems", Shape::list, k2020},
    {"properties", Shape::map, kSeven | k2020},
    {"propertyNames", Shape::schema, kSeven | k2020},
    {"then", Shape::schema, kSeven | k2020},
    {"unevaluatedItems", Shape::schema, k2020},
    {"unevaluatedProperties", Shape::schema, k2020},
};

std::optional<Draft> known_draft(std::string_view uri) {
  uri = without_fragment(uri);
  if (auto scheme = uri.find("://"); scheme != std::string_view::npos) {
    if (uri.substr(0, scheme) != "http" && uri.substr(0, scheme) != "https") return {};
    uri.remove_prefix(scheme + 3);
  }
  if (uri == "json-schema.org/draft/2020-12/schema") return Draft::v2020_12;
  if (uri == "json-schema.org/draft-07/schema") return Draft::seven;
  return {};
}

// A vocabulary that is not listed is off. The value only says whether an unknown vocabulary may be
// ignored.
Result<Dialect> with_vocabularies(Dialect dialect, const Object& vocabularies) {
  dialect.applicators = dialect.unevaluated = dialect.validation = false;
  for (const auto& member : vocabularies) {
    std::string_view uri(member.key().data(), member.key().size());
    std::string_view name = uri;
    if (uri.starts_with(kVocabularies)) name.remove_prefix(kVocabularies.size());
    bool required = member.value().is_bool() && member.value().get_bool();
    if (name == "applicator") {
      dialect.applicators = true;
    } else if (name == "unevaluated") {
      dialect.unevaluated = true;
    } else if (name == "validation") {
      dialect.validation = true;
    } else if (name == "format-assertion") {
      dialect.checks_formats = true;
    } else if (required && name == uri) {
      return Error(ErrorCode::unsupported, cat("the vocabulary ", uri, " is not known"));
    }
  }
  return dialect;
}

Result<Dialect> find_within(std::string_view uri, const SchemaDocuments* documents, int depth) {
  if (auto draft = known_draft(uri)) return Dialect{.draft = *draft};
  const Value* document = documents ? documents->find(uri) : nullptr;
  const Object* metaschema = document ? document->if_object() : nullptr;
  if (!metaschema || depth == kMetaschemasMax) {
    return Error(ErrorCode::unsupported,
                 cat("the dialect ", uri, " is not known: use draft 2020-12 or draft 7"));
  }
  Dialect dialect;
  if (const Value* of = metaschema->if_contains("$schema"); of && of->is_string()) {
    std::string_view name = view(of->get_string());
    if (without_fragment(name) != without_fragment(uri)) {
      ERRAND_TRY(dialect, find_within(name, documents, depth + 1));
    }
  }
  const Value* vocabularies = metaschema->if_contains("$vocabulary");
  if (!vocabularies || !vocabularies->is_object() || dialect.draft == Draft::seven) return dialect;
  return with_vocabularies(dialect, vocabularies->get_object());
}

}  // namespace

Result<Dialect> find_dialect(std::string_view uri, const SchemaDocuments* documents) {
  return find_within(uri, documents, 0);
}

void for_each_subschema(const Object& schema, Draft draft, const VisitSubschema& visit) {
  for (const auto& keyword : kSubschemaKeywords) {
    if (!(keyword.drafts & static_cast<unsigned>(draft))) continue;
    const Value* value = schema.if_contains({keyword.name.data(), keyword.name.size()});
    if (!value) continue;
    SubschemaPath path{.keyword = keyword.name, .shape = keyword.shape};
    if (keyword.shape == Shape::schema) {
      visit(path, *value);
    } else if (const Array* list = value->if_array(); list && keyword.shape == Shape::list) {
      for (; path.index < list->size(); ++path.index) visit(path, (*list)[path.index]);
    } else if (const Object* map = value->if_object(); map && keyword.shape == Shape::map) {
      for (const auto& member : *map) {
        path.key = {member.key().data(), member.key().size()};
        visit(path, member.value());
      }
    }
  }
}

}  // namespace errand::json::schema
