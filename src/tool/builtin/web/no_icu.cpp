// libxml2's archive refers to seven functions of ICU, which it would use for encodings that neither
// libxml2 nor the C library knows. They are never called, because all input is converted to UTF-8
// before it is parsed; ICU itself would add 32 MB to the binary. If a later libxml2 needs another
// version of ICU, the link fails.

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
