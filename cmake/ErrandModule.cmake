# errand_module(NAME [APART] [FOLDERS dir...] [DEPENDS module...] [LINK library...])
#
# Library errand_NAME from src/<folder>/*.cpp, and, if there are any *_test.cpp beside them, the
# test program NAME_test, registered with ctest. FOLDERS defaults to NAME.
#
# A release (CMAKE_UNITY_BUILD) compiles the files of a folder in groups, which takes a third less time: names in their
# unnamed namespaces must differ within a folder. Those of a module that is APART need not.
set(ERRAND_GROUP_MAX 8)

function(errand_module name)
  cmake_parse_arguments(arg "APART" "" "FOLDERS;DEPENDS;LINK" ${ARGN})
  if(NOT arg_FOLDERS)
    set(arg_FOLDERS ${name})
  endif()

  set(sources)
  set(tests)
  foreach(folder IN LISTS arg_FOLDERS)
    file(GLOB found CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${folder}/*.cpp)
    file(GLOB found_tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${folder}/*_test.cpp)
    list(APPEND sources ${found})
    list(APPEND tests ${found_tests})
  endforeach()
  if(tests)
    list(REMOVE_ITEM sources ${tests})
  endif()

  set(visibility PUBLIC)
  if(sources)
    add_library(errand_${name} STATIC ${sources})
    set_target_properties(errand_${name} PROPERTIES UNITY_BUILD_MODE GROUP)
  else()
    add_library(errand_${name} INTERFACE)
    set(visibility INTERFACE)
  endif()
  if(CMAKE_UNITY_BUILD AND NOT arg_APART)
    errand_group_sources(${sources})
  endif()
  target_include_directories(errand_${name} ${visibility} ${CMAKE_SOURCE_DIR}/src)
  foreach(dependency IN LISTS arg_DEPENDS)
    target_link_libraries(errand_${name} ${visibility} errand_${dependency})
  endforeach()
  target_link_libraries(errand_${name} ${visibility} ${arg_LINK})

  if(tests)
    errand_test(${name}_test SOURCES ${tests} LINK errand_${name})
  endif()
endfunction()

# errand_group_sources(file...): groups of at most ERRAND_GROUP_MAX files of the same folder.
function(errand_group_sources)
  foreach(source IN LISTS ARGN)
    get_filename_component(folder ${source} DIRECTORY)
    string(MAKE_C_IDENTIFIER "${folder}" key)
    math(EXPR n_${key} "${n_${key}} + 1")
    math(EXPR group "${n_${key}} / ${ERRAND_GROUP_MAX}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${key}_${group})
  endforeach()
endfunction()

# errand_test(NAME SOURCES file... LINK library...): a GoogleTest program, one ctest entry.
function(errand_test name)
  cmake_parse_arguments(arg "APART" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${arg_LINK} GTest::gtest GTest::gtest_main)
  # A third of the time to compile a test went into optimizing what runs for a moment.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Debug>:-O0>)
  add_test(NAME ${name} COMMAND ${name})
endfunction()
