// Boost.Asio's own functions, compiled here once instead of in every file that uses them
// (BOOST_ASIO_SEPARATE_COMPILATION in CMakeLists.txt).

#include <boost/asio/impl/src.hpp>
