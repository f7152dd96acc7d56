#include "json/schema/format_net.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "base/ascii.hpp"
#include "json/schema/uri.hpp"

namespace errand::json::schema {
namespace {

constexpr std::size_t kHostnameBytesMax = 253;
constexpr std::size_t kLabelBytesMax = 63;
constexpr std::string_view kUnreservedMarks = "-._~";
constexpr std::string_view kSubDelimiters = "!$&'()*+,;=";
constexpr std::string_view kAtomMarks = "!#$%&'*+-/=?^_`{|}~";

bool is_beyond_ascii(char c) {
  return static_cast<unsigned char>(c) >= 0x80;
}

bool contains(std::string_view set, char c) {
  return set.find(c) != std::string_view::npos;
}

// Cuts off the part before the first `mark`, and the mark. Without a mark, all of the text is the
// part.
std::string_view cut_front(std::string_view& text, char mark) {
  auto at = std::min(text.find(mark), text.size());
  std::string_view front = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return front;
}

bool is_label(std::string_view label) {
  return !label.empty() && label.size() <= kLabelBytesMax && label.front() != '-' &&
         label.back() != '-' && std::all_of(label.begin(), label.end(), [](char c) {
           return is_letter(c) || is_digit(c) || c == '-';
         });
}

// Counts the groups of an IPv6 address between colons; an IPv4 address at the end counts as two.
std::optional<int> count_groups(std::string_view text, bool may_end_in_ipv4) {
  if (text.empty()) return 0;
  int count = 0;
  bool more = true;
  while (more) {
    more = contains(text, ':');
    std::string_view group = cut_front(text, ':');
    if (!more && may_end_in_ipv4 && contains(group, '.')) {
      if (!is_ipv4(group)) return {};
      return count + 2;
    }
    if (group.empty() || group.size() > 4 || !std::all_of(group.begin(), group.end(), is_hex)) {
      return {};
    }
    if (++count > 8) return {};
  }
  return count;
}

bool is_quoted_local(std::string_view local) {
  if (local.size() < 2 || local.front() != '"' || local.back() != '"') return false;
  local = local.substr(1, local.size() - 2);
  for (std::size_t i = 0; i < local.size(); ++i) {
    auto c = static_cast<unsigned char>(local[i]);
    if (c == '\\' && ++i < local.size()) continue;
    if (c < 0x20 || c == 0x7F || c == '"' || c == '\\') return false;
  }
  return true;
}

bool is_dotted_local(std::string_view local) {
  if (local.empty() || local.back() == '.') return false;
  while (!local.empty()) {
    std::string_view atom = cut_front(local, '.');
    if (atom.empty() || !std::all_of(atom.begin(), atom.end(), [](char c) {
          return is_letter(c) || is_digit(c) || contains(kAtomMarks, c) || is_beyond_ascii(c);
        })) {
      return false;
    }
  }
  return true;
}

bool is_mail_domain(std::string_view domain) {
  if (domain.starts_with("[IPv6:") && domain.ends_with(']')) {
    return is_ipv6(domain.substr(6, domain.size() - 7));
  }
  if (domain.starts_with('[') && domain.ends_with(']')) {
    return is_ipv4(domain.substr(1, domain.size() - 2));
  }
  // Letters beyond ASCII are accepted as they are: which of them a registry allows is the
  // registry's decision.
  std::string ascii(domain);
  std::replace_if(ascii.begin(), ascii.end(), is_beyond_ascii, 'x');
  return is_hostname(ascii);
}

// Whether the text has only unreserved characters, escapes, and characters of `more`.
bool is_made_of(std::string_view text, std::string_view more, Letters letters) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      if (i + 2 >= text.size() || !is_hex(text[i + 1]) || !is_hex(text[i + 2])) return false;
      i += 2;
      continue;
    }
    bool fits = is_letter(c) || is_digit(c) || contains(kUnreservedMarks, c) ||
                contains(kSubDelimiters, c) || contains(more, c) ||
                (letters == Letters::unicode && is_beyond_ascii(c));
    if (!fits) return false;
  }
  return true;
}

// "v1.anything": an address of a version that does not exist yet.
bool is_future_address(std::string_view text) {
  if (!text.starts_with('v') && !text.starts_with('V')) return false;
  text.remove_prefix(1);
  std::string_view version = cut_front(text, '.');
  return !version.empty() && std::all_of(version.begin(), version.end(), is_hex) && !text.empty() &&
         !contains(text, '%') && is_made_of(text, ":", Letters::ascii);
}

bool is_authority(std::string_view authority, Letters letters) {
  if (auto at = authority.rfind('@'); at != std::string_view::npos) {
    if (!is_made_of(authority.substr(0, at), ":", letters)) return false;
    authority.remove_prefix(at + 1);
  }
  std::string_view port;
  if (authority.starts_with('[')) {
    auto end = authority.find(']');
    if (end == std::string_view::npos) return false;
    std::string_view address = authority.substr(1, end - 1);
    if (!is_ipv6(address) && !is_future_address(address)) return false;
    port = authority.substr(end + 1);
    if (!port.empty() && port.front() != ':') return false;
    port.remove_prefix(port.empty() ? 0 : 1);
  } else {
    port = authority;
    if (!is_made_of(cut_front(port, ':'), "", letters)) return false;
  }
  return std::all_of(port.begin(), port.end(), is_digit);
}

}  // namespace

bool is_ipv4(std::string_view text) {
  if (std::count(text.begin(), text.end(), '.') != 3 || text.back() == '.') return false;
  while (!text.empty()) {
    std::string_view octet = cut_front(text, '.');
    if (octet.empty() || octet.size() > 3 || (octet.size() > 1 && octet.front() == '0'))
      return false;
    if (!std::all_of(octet.begin(), octet.end(), is_digit)) return false;
    if (octet.size() == 3 && octet > "255") return false;
  }
  return true;
}

bool is_ipv6(std::string_view text) {
  auto gap = text.find("::");
  if (gap == std::string_view::npos) return count_groups(text, true) == 8;
  auto before = count_groups(text.substr(0, gap), false);
  auto after = count_groups(text.substr(gap + 2), true);
  return before && after && *before + *after < 8;
}

bool is_hostname(std::string_view text) {
  if (text.empty() || text.size() > kHostnameBytesMax || text.back() == '.') return false;
  while (!text.empty()) {
    if (!is_label(cut_front(text, '.'))) return false;
  }
  return true;
}

bool is_email(std::string_view text, Letters letters) {
  bool international = std::any_of(text.begin(), text.end(), is_beyond_ascii);
  if (international && letters == Letters::ascii) return false;
  auto at = text.rfind('@');
  if (at == std::string_view::npos) return false;
  std::string_view local = text.substr(0, at);
  return (is_dotted_local(local) || is_quoted_local(local)) && is_mail_domain(text.substr(at + 1));
}

bool is_uri(std::string_view text, Letters letters, Reference reference) {
  std::string_view rest = text;
  std::string_view fragment;
  if (auto hash = rest.find('#'); hash != std::string_view::npos) {
    fragment = rest.substr(hash + 1);
    rest = rest.substr(0, hash);
  }
  std::string_view query;
  if (auto mark = rest.find('?'); mark != std::string_view::npos) {
    query = rest.substr(mark + 1);
    rest = rest.substr(0, mark);
  }
  if (!is_made_of(fragment, ":@/?", letters) || !is_made_of(query, ":@/?", letters)) return false;

  // A colon before the first slash ends a scheme, even where a relative reference could be meant.
  auto colon = rest.find(':');
  if (colon != std::string_view::npos && colon < rest.find('/')) {
    if (!is_scheme(rest.substr(0, colon))) return false;
    rest.remove_prefix(colon + 1);
  } else if (reference == Reference::absolute) {
    return false;
  }
  if (rest.starts_with("//")) {
    rest.remove_prefix(2);
    auto slash = std::min(rest.find('/'), rest.size());
    if (!is_authority(rest.substr(0, slash), letters)) return false;
    rest.remove_prefix(slash);
  }
  return is_made_of(rest, ":@/", letters);
}

}  // namespace errand::json::schema
