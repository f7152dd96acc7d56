#include "net/address_rules.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/address_v6.hpp>
#include <utility>

#include "base/text.hpp"

namespace errand::net {
namespace {

namespace ip = boost::asio::ip;

struct Network4 {
  std::uint32_t base;
  unsigned bits;
};
// The IPv4 ranges that the IANA registry of special-purpose addresses calls not globally reachable,
// and those for many receivers or for none.
constexpr auto kNotPublic4 = std::to_array<Network4>({
    {0x00000000, 8},   // this network
    {0x0A000000, 8},   // private
    {0x64400000, 10},  // shared by customers of a carrier
    {0x7F000000, 8},   // this machine
    {0xA9FE0000, 16},  // this link; where clouds keep their metadata
    {0xAC100000, 12},  // private
    {0xC0000000, 24},  // protocols
    {0xC0000200, 24},  // documentation
    {0xC0586300, 24},  // relays of 6to4
    {0xC0A80000, 16},  // private
    {0xC6120000, 15},  // benchmarks
    {0xC6336400, 24},  // documentation
    {0xCB007100, 24},  // documentation
    {0xE0000000, 4},   // multicast
    {0xF0000000, 4},   // reserved, and broadcast
});

struct Network6 {
  std::uint16_t first;  // the first two groups
  std::uint16_t second;
  unsigned bits;
};
// Ranges within 2000::/3; no IPv6 address outside of it is public.
constexpr auto kNotPublic6 = std::to_array<Network6>({
    {0x2001, 0x0000, 23},  // protocols, Teredo
    {0x2001, 0x0db8, 32},  // documentation
    {0x3fff, 0x0000, 20},  // documentation
});

bool shares_prefix(const auto& a, const auto& b, unsigned bits) {
  for (std::size_t i = 0; i < bits; ++i) {
    unsigned mask = 0x80U >> (i % 8);
    if ((a[i / 8] & mask) != (b[i / 8] & mask)) return false;
  }
  return true;
}

bool is_public4(const ip::address_v4& address) {
  std::uint32_t number = address.to_uint();
  return std::none_of(kNotPublic4.begin(), kNotPublic4.end(), [&](const Network4& network) {
    return (number ^ network.base) >> (32 - network.bits) == 0;
  });
}

// The IPv4 address that an IPv6 address is translated to.
std::optional<ip::address_v4> inner_address(const ip::address_v6& address) {
  auto bytes = address.to_bytes();
  auto at = [&](std::size_t i) {
    return ip::address_v4({bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]});
  };
  constexpr ip::address_v6::bytes_type kNat64 = {0x00, 0x64, 0xff, 0x9b};
  if (address.is_v4_mapped() || shares_prefix(bytes, kNat64, 96)) return at(12);
  if (bytes[0] == 0x20 && bytes[1] == 0x02) return at(2);
  return {};
}

bool is_public6(const ip::address_v6& address) {
  if (auto inner = inner_address(address)) return is_public4(*inner);
  auto bytes = address.to_bytes();
  if (bytes[0] >> 5U != 1) return false;
  std::uint32_t number = std::uint32_t{bytes[0]} << 24U | std::uint32_t{bytes[1]} << 16U |
                         std::uint32_t{bytes[2]} << 8U | bytes[3];
  return std::none_of(kNotPublic6.begin(), kNotPublic6.end(), [&](const Network6& network) {
    std::uint32_t base = std::uint32_t{network.first} << 16U | network.second;
    return (number ^ base) >> (32 - network.bits) == 0;
  });
}

std::optional<Address> parse_address(std::string_view text) {
  boost::system::error_code error;
  Address address = ip::make_address(std::string(text), error);
  if (error) return {};
  return address;
}

}  // namespace

Result<AddressPrefix> AddressPrefix::parse(std::string_view text) {
  std::size_t slash = std::min(text.find('/'), text.size());
  auto base = parse_address(text.substr(0, slash));
  unsigned most = base && base->is_v4() ? 32 : 128;
  std::optional<unsigned> bits = most;
  if (slash < text.size()) bits = parse_integer<unsigned>(text.substr(slash + 1));
  if (!base || !bits || *bits > most) {
    return Error(ErrorCode::invalid_argument, cat("\"", text, "\" is not a network"))
        .hint("it looks like 10.0.0.0/8 or fd00::/8");
  }
  return AddressPrefix{.base = *base, .bits = *bits};
}

bool AddressPrefix::contains(const Address& address) const {
  if (base.is_v4() != address.is_v4()) return false;
  if (base.is_v4()) return shares_prefix(base.to_v4().to_bytes(), address.to_v4().to_bytes(), bits);
  return shares_prefix(base.to_v6().to_bytes(), address.to_v6().to_bytes(), bits);
}

std::optional<Address> literal_address(const std::string& host) {
  if (auto address = parse_address(host)) return address;
  in_addr old_form{};
  if (::inet_aton(host.c_str(), &old_form) == 0) return {};
  return Address(ip::address_v4(ntohl(old_form.s_addr)));
}

bool is_localhost(std::string_view host) {
  constexpr std::string_view kName = "localhost";
  if (host.ends_with('.')) host.remove_suffix(1);
  if (host.size() < kName.size()) return false;
  std::string_view before = host.substr(0, host.size() - kName.size());
  return equals_ignoring_case(host.substr(before.size()), kName) &&
         (before.empty() || before.ends_with('.'));
}

bool is_public(const Address& address) {
  return address.is_v4() ? is_public4(address.to_v4()) : is_public6(address.to_v6());
}

Result<AddressRules> AddressRules::parse(const std::vector<std::string>& prefixes) {
  std::vector<AddressPrefix> allowed;
  for (const std::string& text : prefixes) {
    ERRAND_TRY(AddressPrefix prefix, AddressPrefix::parse(text));
    allowed.push_back(std::move(prefix));
  }
  return AddressRules(std::move(allowed));
}

bool AddressRules::is_allowed(const Address& address) const {
  if (is_public(address)) return true;
  std::optional<Address> inner;
  if (address.is_v6()) {
    if (auto found = inner_address(address.to_v6())) inner = *found;
  }
  return std::any_of(allowed_.begin(), allowed_.end(), [&](const AddressPrefix& prefix) {
    return prefix.contains(address) || (inner && prefix.contains(*inner));
  });
}

}  // namespace errand::net
