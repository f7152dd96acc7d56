#include "room/access/storage_grant.hpp"

#include <algorithm>
#include <utility>

#include "json/fields.hpp"
#include "room/access/grant_fields.hpp"

namespace errand::room {
namespace {

std::string without_slashes(std::string_view path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  if (path == ".") path = {};
  return std::string(path);
}

constexpr auto kActionNames = {std::string_view("list"), std::string_view("read"),
                               std::string_view("write"), std::string_view("delete"),
                               std::string_view("presign")};

std::optional<FileAction> action_of(std::string_view name) {
  const auto* found = std::find(kActionNames.begin(), kActionNames.end(), name);
  if (found == kActionNames.end()) return std::nullopt;
  return static_cast<FileAction>(found - kActionNames.begin());
}

bool rule_covers(const StorageGrant::FileRule& rule, std::string_view path) {
  if (path != rule.path && !(rule.recursive && is_below(path, rule.path))) return false;
  return std::none_of(rule.excluded_paths.begin(), rule.excluded_paths.end(),
                      [&](const std::string& excluded) { return is_below(path, excluded); });
}

bool has_action(const StorageGrant::FileRule& rule, FileAction action) {
  return std::find(rule.actions.begin(), rule.actions.end(), action) != rule.actions.end();
}

bool path_rule_allows(const StorageGrant::PathRule& rule, FileAction action) {
  switch (action) {
    case FileAction::list:
    case FileAction::read: return true;
    case FileAction::write:
    case FileAction::delete_: return !rule.read_only;
    case FileAction::presign: return false;
  }
  return false;
}

Result<StorageGrant::PathRule> parse_path_rule(const json::Value& value, std::string_view pointer) {
  json::Fields in(value, pointer);
  StorageGrant::PathRule rule{.path = without_slashes(in.text("path"))};
  rule.read_only = flag_of(in, "read_only", "readOnly").value_or(false);
  return in.finish(std::move(rule));
}

Result<StorageGrant::FileRule> parse_file_rule(const json::Value& value, std::string_view pointer) {
  json::Fields in(value, pointer);
  StorageGrant::FileRule rule{.path = without_slashes(in.text("path"))};
  rule.recursive = in.optional_flag("recursive").value_or(false);
  for (const std::string& name : texts_of(in, "actions", "actions").value_or(GrantedNames())) {
    // Actions of newer clients are left out: this server could not perform them.
    if (auto action = action_of(name)) rule.actions.push_back(*action);
  }
  auto excluded = texts_of(in, "excluded_paths", "excludedPaths").value_or(GrantedNames());
  for (const std::string& path : excluded) rule.excluded_paths.push_back(without_slashes(path));
  return in.finish(std::move(rule));
}

}  // namespace

std::optional<std::string> storage_path(std::string_view path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  if (path.starts_with("./")) path.remove_prefix(2);
  if (path.ends_with('/')) path.remove_suffix(1);
  if (path.empty() || path == ".") return std::string();
  for (std::string_view rest = path; !rest.empty();) {
    std::string_view segment = rest.substr(0, rest.find('/'));
    if (segment.empty() || segment == "." || segment == "..") return std::nullopt;
    const bool is_last = segment.size() == rest.size();
    rest.remove_prefix(is_last ? rest.size() : segment.size() + 1);
    if (!is_last && rest.empty()) return std::nullopt;
  }
  const bool is_plain = std::none_of(path.begin(), path.end(), [](char c) {
    return c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (!is_plain) return std::nullopt;
  return std::string(path);
}

bool is_below(std::string_view path, std::string_view top) {
  if (top.empty()) return true;
  return path.starts_with(top) && (path.size() == top.size() || path[top.size()] == '/');
}

Result<StorageGrant> StorageGrant::parse(const json::Object& grant) {
  StorageGrant parsed;
  json::Value value(grant);
  json::Fields in(value, "");
  if (const json::Array* paths = in.optional_array("paths")) {
    parsed.paths_.emplace();
    for (std::size_t i = 0; i < paths->size(); ++i) {
      auto pointer = json::child_pointer("/paths", i);
      ERRAND_TRY(PathRule rule, parse_path_rule((*paths)[i], pointer));
      parsed.paths_->push_back(std::move(rule));
    }
  }
  if (const json::Object* files = in.optional_object("files")) {
    parsed.files_.emplace();
    json::Value policy(*files);
    json::Fields files_in(policy, "/files");
    if (const json::Array* rules = files_in.optional_array("paths")) {
      for (std::size_t i = 0; i < rules->size(); ++i) {
        auto pointer = json::child_pointer("/files/paths", i);
        ERRAND_TRY(FileRule rule, parse_file_rule((*rules)[i], pointer));
        parsed.files_->push_back(std::move(rule));
      }
    }
    ERRAND_CHECK(files_in.finish());
  }
  return in.finish(std::move(parsed));
}

bool StorageGrant::allows(FileAction action, std::string_view path) const {
  if (files_) {
    return std::any_of(files_->begin(), files_->end(), [&](const FileRule& rule) {
      return has_action(rule, action) && rule_covers(rule, path);
    });
  }
  if (!paths_) return action != FileAction::presign;
  auto rule = std::find_if(paths_->begin(), paths_->end(),
                           [&](const PathRule& one) { return is_below(path, one.path); });
  return rule != paths_->end() && path_rule_allows(*rule, action);
}

bool StorageGrant::allows_tree(FileAction action, std::string_view path) const {
  if (files_) {
    return std::any_of(files_->begin(), files_->end(), [&](const FileRule& rule) {
      bool excludes =
          std::any_of(rule.excluded_paths.begin(), rule.excluded_paths.end(),
                      [&](const std::string& excluded) { return is_below(excluded, path); });
      return rule.recursive && !excludes && has_action(rule, action) && rule_covers(rule, path);
    });
  }
  if (!paths_) return action != FileAction::presign;
  // An earlier rule than the one that covers the path may forbid a part of the tree.
  for (const PathRule& rule : *paths_) {
    if (is_below(path, rule.path)) return path_rule_allows(rule, action);
    if (is_below(rule.path, path) && !path_rule_allows(rule, action)) return false;
  }
  return false;
}

bool StorageGrant::allows_listing(std::string_view folder) const {
  if (allows(FileAction::list, folder)) return true;
  if (files_) {
    return std::any_of(files_->begin(), files_->end(), [&](const FileRule& rule) {
      return has_action(rule, FileAction::list) && is_below(rule.path, folder);
    });
  }
  return paths_ && std::any_of(paths_->begin(), paths_->end(),
                               [&](const PathRule& rule) { return is_below(rule.path, folder); });
}

}  // namespace errand::room
