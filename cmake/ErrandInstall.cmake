# The C++ SDK as others install it: `cmake --install build/release --component sdk --prefix DIR`
# puts the public headers, one static library, and what find_package(errand) and pkg-config read
# into DIR.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# One archive of all parts that the public headers need: a client of servers, and an engine.
errand_module_closure(sdk_parts sdk_client)
set(sdk_objects)
foreach(part IN LISTS sdk_parts)
  # What is not in the public headers is nobody's: a shared library that a user makes with this one
  # inside shows none of it. Nobody installs the builds with sanitizers, whose larger parts stay as
  # the compiler's cache has them.
  if(CMAKE_BUILD_TYPE STREQUAL "Release" OR part MATCHES "^(base|json|sdk_api)$")
    set_target_properties(errand_${part} PROPERTIES
      CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON POSITION_INDEPENDENT_CODE ON)
  endif()
  list(APPEND sdk_objects $<TARGET_OBJECTS:errand_${part}>)
endforeach()
add_library(errand_archive STATIC EXCLUDE_FROM_ALL ${sdk_objects})
set_target_properties(errand_archive PROPERTIES
  OUTPUT_NAME errand EXPORT_NAME errand LINKER_LANGUAGE CXX)
target_compile_features(errand_archive INTERFACE cxx_std_20)
target_include_directories(errand_archive INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
# Libraries of the system, as a program that uses the SDK links them. RE2's static library: the
# shared one does not export the hooks that its limits need.
set(sdk_libraries ssl crypto sqlite3 xml2 z absl_time absl_time_zone absl_civil_time absl_strings
  absl_base absl_raw_logging_internal dl)
target_link_libraries(errand_archive PRIVATE Boost::json Threads::Threads
  $<INSTALL_INTERFACE:-l:libre2.a>)
foreach(library IN LISTS sdk_libraries)
  target_link_libraries(errand_archive PRIVATE $<INSTALL_INTERFACE:${library}>)
endforeach()

set(sdk_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/errand)
install(TARGETS errand_archive EXPORT errandTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT sdk)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/errand DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT sdk FILES_MATCHING PATTERN "*.hpp")
install(EXPORT errandTargets NAMESPACE errand:: DESTINATION ${sdk_config_dir} COMPONENT sdk)

configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/errandConfig.cmake.in
  ${CMAKE_BINARY_DIR}/errandConfig.cmake INSTALL_DESTINATION ${sdk_config_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/errandConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/errandConfig.cmake ${CMAKE_BINARY_DIR}/errandConfigVersion.cmake
  DESTINATION ${sdk_config_dir} COMPONENT sdk)

# Relative, so that the folder may be moved.
file(RELATIVE_PATH sdk_headers_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig
  /${CMAKE_INSTALL_INCLUDEDIR})
configure_file(${CMAKE_SOURCE_DIR}/cmake/errand.pc.in ${CMAKE_BINARY_DIR}/errand.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/errand.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT sdk)
