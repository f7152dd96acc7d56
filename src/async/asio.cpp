// In builds for tests, Boost.Asio's own functions are compiled once, here, and not in every file
// that uses them (BOOST_ASIO_SEPARATE_COMPILATION in CMakeLists.txt).

#ifdef BOOST_ASIO_SEPARATE_COMPILATION
#include <boost/asio/impl/src.hpp>
#endif
