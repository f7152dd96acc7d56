// The functions of Boost.Asio's TLS streams, compiled here once; async/asio.cpp does the same for
// the rest.

#ifdef BOOST_ASIO_SEPARATE_COMPILATION
#include <boost/asio/ssl/impl/src.hpp>
#endif
