// What torch's CPU build lacks to differentiate fake CUDA tensors: somebody who answers for the device "cuda".
// Loaded before torch (LD_PRELOAD), so that torch asks here. One device, whose streams and events do nothing:
// fake tensors have no data, so no work is ever queued.
#include <optional>

#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace {

constexpr auto CUDA = c10::DeviceType::CUDA;

struct Guard : c10::impl::NoOpDeviceGuardImpl<CUDA> {
  c10::Device exchangeDevice(c10::Device) const override { return {CUDA, 0}; }
  c10::Device getDevice() const override { return {CUDA, 0}; }
  c10::Stream getStream(c10::Device) const noexcept override { return stream(); }
  c10::Stream exchangeStream(c10::Stream) const noexcept override { return stream(); }
  void record(void**, const c10::Stream&, const c10::DeviceIndex, const c10::EventFlag)
      const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }

  static c10::Stream stream() {
    return c10::Stream(c10::Stream::DEFAULT, c10::Device(CUDA, 0));
  }
};

struct Hooks : at::CUDAHooksInterface {
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
};

}  // namespace

namespace at::accelerator {
__attribute__((visibility("default"))) std::optional<c10::DeviceType> getAccelerator(bool) {
  return CUDA;
}
}  // namespace at::accelerator

namespace at::detail {
__attribute__((visibility("default"))) const CUDAHooksInterface& getCUDAHooks() {
  static Hooks hooks;
  return hooks;
}
}  // namespace at::detail

// Called once torch has been imported.
extern "C" void answer_for_cuda() {
  static Guard guard;
  c10::impl::device_guard_impl_registry[static_cast<size_t>(CUDA)].store(&guard);
}
