#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "base/result.hpp"
#include "llm/fallback_model.hpp"
#include "llm/model.hpp"
#include "run/usage.hpp"

namespace errand::engine {

// A model that callers may name.
struct CatalogModel {
  ModelInfo info;
  std::string label;
  std::optional<std::int64_t> context_window_tokens;
  std::optional<Pricing> pricing;
  std::shared_ptr<llm::Model> model;
  // The models that `model` asks one after the other, this one first; empty if it is alone.
  std::vector<llm::NamedModel> chain = {};
};

// Models that come and go while the server runs, such as those of an Ollama beside it. Lives on the
// engine's home.
class ModelSource {
 public:
  virtual ~ModelSource() = default;
  // The ids of the models that are there, the best first. Takes a moment at most; a source that
  // cannot be reached has none.
  virtual Task<std::vector<std::string>> list() = 0;
  // The model of an id that is, or was, listed; nothing for an id that cannot be one of its own.
  virtual std::optional<CatalogModel> make(std::string_view id) = 0;
  // Whether callers may name this id although the source does not list it.
  virtual bool may_be_named(std::string_view id) const = 0;
  // For a caller who asked in vain: what the source knows about such a name; empty if nothing.
  virtual std::string advice(std::string_view asked) const = 0;
};

// Where a catalog finds models at run time, if anywhere. They are listed behind the first
// `position` of the other models.
struct CatalogSource {
  std::unique_ptr<ModelSource> models;
  std::size_t position = 0;
};

// The models of this server: the models that it was built with, and the models of a source. Lives
// on the engine's home. A model that is not listed is forgotten when room is needed and only the
// catalog holds its `model`; the next resolve() of its name makes a new one.
class Catalog final {
 public:
  // How many models a source may bring; later ones are not listed.
  static constexpr std::size_t kFoundMax = 1000;
  // How many models that are not listed may be in use at once; further names are refused.
  static constexpr std::size_t kNamedMax = 1000;

  // `default_id` must be one of the models' ids, or empty for the first, be it a found one.
  Catalog(std::vector<CatalogModel> models, std::string default_id, CatalogSource source = {});

  // Whether what `asked` means depends on what the source has.
  bool depends_on_source(std::string_view asked) const;
  // Asks the source, if there is one.
  Task<void> refresh();

  // By catalog id, "platform:ID", "provider:ID[:VENDOR]", "PROVIDER:VENDOR", "PROVIDER/VENDOR", or
  // the vendor's id where only one model has it; empty asks for the default. Knows the models that
  // the last refresh found, and the models that callers of the source may name. The pointer is
  // valid up to the next resolve(), find() or refresh(), and for as long as its `model` is shared.
  // invalid_argument with reason "invalid_model": no model fits; or several do, which are named as
  // candidates; or there would be more than kNamedMax named models.
  Result<const CatalogModel*> resolve(std::string_view asked);
  // By catalog id, for a run that was created with it: also a model that the source does not list.
  // The pointer is valid for as long as a pointer from resolve().
  const CatalogModel* find(std::string_view id);

  // The model of a run: the one with this id, and behind it, before its own fallback models, that
  // of another id. Without that one, or if it is unknown, just the first. nullptr: it is unknown.
  std::shared_ptr<llm::Model> find_with_fallback(const std::string& id, const std::string& fallback,
                                                 Log& log);

  // All of them, the preferred ones first.
  std::vector<const CatalogModel*> models() const;
  const std::string& default_id() const;

 private:
  const CatalogModel* find_listed(std::string_view id) const;
  const CatalogModel* find_in_source(std::string_view id);
  Result<const CatalogModel*> find_named(std::string_view asked);
  Error unknown_model(std::string_view asked, std::size_t matches) const;
  // Makes a model of the source, if there is room or room can be made. nullptr: it is none of the
  // source's, or all kNamedMax are in use.
  const CatalogModel* make_model(std::string_view id);
  void forget_unused();

  std::vector<CatalogModel> models_;
  std::string default_id_;
  CatalogSource source_;
  std::map<std::string, CatalogModel, std::less<>> made_;  // by the source
  std::vector<const CatalogModel*> listed_;                // found by the last refresh
  // Models with the fallback models of runs; kNamedMax and those in use.
  std::map<std::pair<std::string, std::string>, std::shared_ptr<llm::Model>> with_fallback_;
};

}  // namespace errand::engine
