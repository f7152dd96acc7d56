# The C++ SDK as others install it: `cmake --install build/release --component sdk --prefix DIR`
# puts the public headers, one static library, and what find_package(errand) and pkg-config read
# into DIR.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# One archive of all parts that the public headers need.
set(sdk_parts base json sdk_api)
set(sdk_objects)
foreach(part IN LISTS sdk_parts)
  # What is not in the public headers is nobody's: a shared library that a user makes with this one
  # inside shows none of it.
  set_target_properties(errand_${part} PROPERTIES
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON POSITION_INDEPENDENT_CODE ON)
  list(APPEND sdk_objects $<TARGET_OBJECTS:errand_${part}>)
endforeach()
add_library(errand_archive STATIC ${sdk_objects})
set_target_properties(errand_archive PROPERTIES
  OUTPUT_NAME errand EXPORT_NAME errand LINKER_LANGUAGE CXX)
target_compile_features(errand_archive INTERFACE cxx_std_20)
target_include_directories(errand_archive INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
# RE2's static library: the shared one does not export the hooks that its limits need.
target_link_libraries(errand_archive PRIVATE Boost::json Threads::Threads
  $<BUILD_INTERFACE:${RE2_STATIC}> $<INSTALL_INTERFACE:-l:libre2.a>)

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
