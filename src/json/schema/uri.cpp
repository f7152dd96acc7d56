#include "json/schema/uri.hpp"

#include "base/text.hpp"

namespace errand::json::schema {
namespace {

// The five parts of RFC 3986; `authority` and `query` may be present and empty.
struct Parts {
  std::string_view scheme;
  std::optional<std::string_view> authority;
  std::string_view path;
  std::optional<std::string_view> query;
  std::string_view fragment;
};

// Cuts the first `mark` and the part behind it off `text`, and returns that part.
std::optional<std::string_view> cut(std::string_view& text, char mark) {
  auto at = text.find(mark);
  if (at == std::string_view::npos) return {};
  std::string_view rest = text.substr(at + 1);
  text = text.substr(0, at);
  return rest;
}

Parts split(std::string_view uri) {
  Parts parts;
  parts.fragment = cut(uri, '#').value_or("");
  parts.query = cut(uri, '?');
  auto colon = uri.find(':');
  if (colon != std::string_view::npos && is_scheme(uri.substr(0, colon))) {
    parts.scheme = uri.substr(0, colon);
    uri.remove_prefix(colon + 1);
  }
  if (uri.starts_with("//")) {
    uri.remove_prefix(2);
    auto slash = std::min(uri.find('/'), uri.size());
    parts.authority = uri.substr(0, slash);
    uri.remove_prefix(slash);
  }
  parts.path = uri;
  return parts;
}

std::string without_dot_segments(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    auto next = std::min(path.find('/', path.front() == '/' ? 1 : 0), path.size());
    std::string_view segment = path.substr(0, next);
    std::string_view name = segment.starts_with('/') ? segment.substr(1) : segment;
    bool last = next == path.size();
    if (name == "..") {
      auto slash = out.rfind('/');
      out.resize(slash == std::string::npos ? 0 : slash);
    }
    if (name == "." || name == "..") {
      if (last && segment.starts_with('/')) out.push_back('/');
    } else {
      out.append(segment);
    }
    path.remove_prefix(next);
  }
  return out;
}

std::string merged_path(const Parts& base, std::string_view path) {
  if (base.authority && base.path.empty()) return cat("/", path);
  auto slash = base.path.rfind('/');
  if (slash == std::string_view::npos) return std::string(path);
  return cat(base.path.substr(0, slash + 1), path);
}

std::string join(std::string_view scheme, std::optional<std::string_view> authority,
                 std::string_view path, std::optional<std::string_view> query) {
  std::string out;
  if (!scheme.empty()) append(out, scheme, ":");
  if (authority) append(out, "//", *authority);
  out.append(path);
  if (query) append(out, "?", *query);
  return out;
}

}  // namespace

bool is_scheme(std::string_view text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  constexpr std::string_view kMore =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.";
  return !text.empty() && kLetters.find(text.front()) != std::string_view::npos &&
         text.find_first_not_of(kMore) == std::string_view::npos;
}

std::optional<Target> resolve(std::string_view base, std::string_view reference) {
  Parts from = split(base);
  Parts to = split(reference);
  auto fragment = percent_decode(to.fragment);
  if (!fragment) return {};

  std::string uri;
  if (!to.scheme.empty()) {
    uri = join(to.scheme, to.authority, without_dot_segments(to.path), to.query);
  } else if (to.authority) {
    uri = join(from.scheme, to.authority, without_dot_segments(to.path), to.query);
  } else if (to.path.empty()) {
    uri = join(from.scheme, from.authority, from.path, to.query ? to.query : from.query);
  } else {
    std::string path = to.path.starts_with('/') ? std::string(to.path) : merged_path(from, to.path);
    uri = join(from.scheme, from.authority, without_dot_segments(path), to.query);
  }
  return Target{.uri = std::move(uri), .fragment = std::move(*fragment)};
}

std::string_view without_fragment(std::string_view uri) {
  return uri.substr(0, uri.find('#'));
}

}  // namespace errand::json::schema
