#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace errand::net {

using Address = boost::asio::ip::address;

// A network, such as 10.0.0.0/8 or fd00::/8.
struct AddressPrefix {
  Address base;
  unsigned bits = 0;

  // An address without a length is a network of one. Bits beyond the length are ignored.
  // invalid_argument: neither.
  static Result<AddressPrefix> parse(std::string_view text);
  bool contains(const Address& address) const;

  friend bool operator==(const AddressPrefix&, const AddressPrefix&) = default;
};

// The address that a host of a URL is without any look-up, in every form that one would take:
// "127.0.0.1", "::1", and also "127.1", "2130706433" and "0x7f.0.0.1".
std::optional<Address> literal_address(const std::string& host);

// Whether the host of a URL names the machine that resolves it: "localhost", and every name below
// it.
bool is_localhost(std::string_view host);

// Whether it belongs to the internet at large: not to this machine, to a private network or link,
// to many at once, or to a range that is reserved. An address of version 6 that leads to one of
// version 4 (mapped, NAT64, 6to4) is judged by that one.
bool is_public(const Address& address);

// Who decides where a name leads when a request goes through a proxy.
enum class ProxyNames : std::uint8_t {
  judged_here,   // this process looks it up, and the proxy is asked for an address that is allowed
  left_to_proxy  // an unknown name is passed on: the proxy resolves and checks it
};

// What a name leads to; nothing if the name is unknown.
using LookUp = std::function<std::vector<Address>(const std::string& name)>;

// Which addresses requests on behalf of a stranger may reach: public ones, and networks that are
// allowed by name.
class AddressRules final {
 public:
  AddressRules() = default;
  // Without `look_up`, the system is asked.
  explicit AddressRules(std::vector<AddressPrefix> allowed,
                        ProxyNames proxy_names = ProxyNames::judged_here, LookUp look_up = {})
      : allowed_(std::move(allowed)), proxy_names_(proxy_names), look_up_(std::move(look_up)) {}

  // From texts such as "127.0.0.0/8". invalid_argument: one is wrong; the message shows it.
  static Result<AddressRules> parse(const std::vector<std::string>& prefixes);

  bool is_allowed(const Address& address) const;
  ProxyNames proxy_names() const { return proxy_names_; }
  const LookUp& look_up() const { return look_up_; }

 private:
  std::vector<AddressPrefix> allowed_;
  ProxyNames proxy_names_ = ProxyNames::judged_here;
  LookUp look_up_;
};

}  // namespace errand::net
