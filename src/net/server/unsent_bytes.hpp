#pragma once

#include <cstddef>
#include <functional>
#include <list>

namespace errand::net {

// Memory of answers and streams that wait because their clients do not take them, over all
// connections of a server. Past the limit, the client that has taken nothing for the longest is
// given up; the only client that waits never is. Lives on the server's home and outlives its
// shares.
class UnsentBytes final {
 public:
  explicit UnsentBytes(std::size_t bytes_max) : bytes_max_(bytes_max) {}
  UnsentBytes(const UnsentBytes&) = delete;
  UnsentBytes& operator=(const UnsentBytes&) = delete;

  // What waits for one client; given back on destruction.
  class Share final {
   public:
    // `give_up` is called at most once, and counts nothing any more: the bytes are gone with it. It
    // destroys no share at once.
    Share(UnsentBytes& all, std::function<void()> give_up)
        : all_(all), give_up_(std::move(give_up)) {}
    ~Share() { leave(); }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    // Says how many bytes are held for the client, which has just taken some. May give up other
    // clients.
    void set(std::size_t bytes);

   private:
    friend UnsentBytes;
    void leave();

    UnsentBytes& all_;
    const std::function<void()> give_up_;
    std::size_t bytes_ = 0;
    bool is_given_up_ = false;
    std::list<Share*>::iterator at_ = {};  // only with bytes
  };

  std::size_t used() const { return used_; }

 private:
  void give_up_some();

  const std::size_t bytes_max_;
  std::size_t used_ = 0;
  std::list<Share*> waiting_;  // the client that has taken nothing for the longest comes first
};

}  // namespace errand::net
