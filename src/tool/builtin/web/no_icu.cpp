// libxml2's archive asks for seven functions of ICU, which it would use for encodings that neither
// it nor the C library knows. All that is parsed here is UTF-8 before, so that they are never
// called; ICU itself would add 32 MB to the binary. Should a later ICU be asked for, the link
// fails.

extern "C" {

namespace {
constexpr int kUnsupported = 16;  // U_UNSUPPORTED_ERROR
}

void* ucnv_open_72(const char*, int* status) {
  *status = kUnsupported;
  return nullptr;
}
void ucnv_close_72(void*) {}
void ucnv_setToUCallBack_72(void*, void*, const void*, void*, const void**, int* status) {
  *status = kUnsupported;
}
void ucnv_setFromUCallBack_72(void*, void*, const void*, void*, const void**, int* status) {
  *status = kUnsupported;
}
void UCNV_TO_U_CALLBACK_STOP_72() {}
void UCNV_FROM_U_CALLBACK_STOP_72() {}
void ucnv_convertEx_72(void*, void*, char**, const char*, const char**, const char*, void*, void**,
                       void**, const void*, signed char, signed char, int* status) {
  *status = kUnsupported;
}

}  // extern "C"
