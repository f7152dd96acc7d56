#pragma once

// Everything public lies in errand::v1, so that an object file compiled against another major
// version of these headers does not link by accident. Users write errand::Tool; the namespace is
// inline for them. Errand's own sources define ERRAND_INTERNAL and write errand::v1::Tool, because
// the program has internal types of the same names.
#ifdef ERRAND_INTERNAL
#define ERRAND_V1 v1
#else
#define ERRAND_V1 inline v1
#endif
