// Boost.Asio's own functions, compiled here once instead of in every file that uses them, which is
// what builds for tests do to save time (BOOST_ASIO_SEPARATE_COMPILATION in CMakeLists.txt).

#ifdef BOOST_ASIO_SEPARATE_COMPILATION
#include <boost/asio/impl/src.hpp>
#endif
