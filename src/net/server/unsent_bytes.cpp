#include "net/server/unsent_bytes.hpp"

namespace errand::net {

void UnsentBytes::Share::leave() {
  if (bytes_ == 0) return;
  all_.used_ -= bytes_;
  bytes_ = 0;
  all_.waiting_.erase(at_);
}

void UnsentBytes::Share::set(std::size_t bytes) {
  if (is_given_up_) return;
  leave();
  if (bytes == 0) return;
  bytes_ = bytes;
  all_.used_ += bytes;
  at_ = all_.waiting_.insert(all_.waiting_.end(), this);
  all_.give_up_some();
}

void UnsentBytes::give_up_some() {
  while (used_ > bytes_max_ && waiting_.size() > 1) {
    Share* slowest = waiting_.front();
    slowest->is_given_up_ = true;
    slowest->leave();
    slowest->give_up_();
  }
}

}  // namespace errand::net
