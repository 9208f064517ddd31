#include "ir/support/files/mapped_file.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mtf {
namespace {

// Where files are mapped in this process. The handler of a signal gets no argument of ours, so that
// this is the one thing here that all of the process shares; it reads it without a lock.
struct MappedPlace {
  std::atomic<std::uintptr_t> begin{0};  // 0: nothing is there
  std::atomic<std::uintptr_t> end{0};
  std::atomic<bool> is_torn{false};
};
constexpr std::size_t kMostPlaces = 1024;
constinit std::array<MappedPlace, kMostPlaces> places{};
constinit std::mutex places_change;
struct sigaction before_us {};

std::uintptr_t page_size() {
  return static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
}

// From the page that is missing on, the place is filled with zeros.
bool is_mended(MappedPlace& place, std::uintptr_t at) {
  const std::uintptr_t begin = place.begin.load();
  const std::uintptr_t end = place.end.load();
  if (begin == 0 || at < begin || at >= end) {
    return false;
  }
  const std::uintptr_t page = at / page_size() * page_size();
  place.is_torn = true;
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return ::mmap(reinterpret_cast<void*>(page), end - page, PROT_READ,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

void on_bus_error(int /*signal*/, siginfo_t* info, void* /*context*/) {
  const int error = errno;
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (MappedPlace& place : places) {
    if (is_mended(place, at)) {
      errno = error;
      return;
    }
  }
  static_cast<void>(::sigaction(SIGBUS, &before_us, nullptr));  // it happens again, and is theirs
}

void watch_bus_errors() {
  static const bool done = [] {
    struct sigaction ours {};
    ours.sa_sigaction = on_bus_error;
    ours.sa_flags = SA_SIGINFO | SA_RESTART;
    return ::sigaction(SIGBUS, &ours, &before_us) == 0;
  }();
  static_cast<void>(done);
}

// kMostPlaces: there is no room.
std::size_t watch(const void* pages, std::size_t bytes) {
  const std::lock_guard lock(places_change);
  watch_bus_errors();
  for (std::size_t i = 0; i < kMostPlaces; ++i) {
    if (places[i].begin.load() == 0) {
      places[i].is_torn = false;
      const auto begin = reinterpret_cast<std::uintptr_t>(pages);
      places[i].end = begin + bytes;
      places[i].begin = begin;
      return i;
    }
  }
  return kMostPlaces;
}

}  // namespace

MappedFile::MappedFile(const std::string& path, std::int64_t first, std::int64_t bytes)
    : path_(path), bytes_(bytes), place_(kMostPlaces) {
  struct stat status {};
  file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file_ < 0 || ::fstat(file_, &status) != 0) {
    problem_ = std::string("cannot be opened: ") + std::strerror(errno);
  } else if (!S_ISREG(status.st_mode)) {
    problem_ = "is not a file";
  } else if (!look(begun_) || begun_.size < first + bytes) {
    problem_ = "ended while it was read";
  } else {
    map(first);
  }
}

void MappedFile::map(std::int64_t first) {
  const auto page = static_cast<std::int64_t>(page_size());
  const std::int64_t before = first % page;
  page_bytes_ = static_cast<std::size_t>(before + bytes_);
  void* pages = ::mmap(nullptr, page_bytes_, PROT_READ, MAP_SHARED, file_, first - before);
  if (pages == MAP_FAILED) {
    problem_ = std::string("cannot be mapped: ") + std::strerror(errno);
    return;
  }
  pages_ = pages;
  place_ = watch(pages, page_bytes_);
  if (place_ == kMostPlaces) {
    problem_ = "is one file too many: " + std::to_string(kMostPlaces) + " are mapped";
    return;
  }
  data_ = static_cast<const std::byte*>(pages) + before;
}

MappedFile::~MappedFile() {
  if (place_ != kMostPlaces) {
    places[place_].begin = 0;
  }
  if (pages_ != nullptr) {
    ::munmap(pages_, page_bytes_);
  }
  if (file_ >= 0) {
    ::close(file_);
  }
}

bool MappedFile::look(Look& look) const {
  struct stat status {};
  if (::fstat(file_, &status) != 0) {
    return false;
  }
  look = {.size = status.st_size,
          .seconds = status.st_mtim.tv_sec,
          .nanoseconds = status.st_mtim.tv_nsec};
  return true;
}

std::string MappedFile::change() const {
  Look now;
  if (places[place_].is_torn || !look(now) || now.size < begun_.size) {
    return "was cut short while it was in use";
  }
  return now == begun_ ? "" : "was changed while it was in use";
}

}  // namespace mtf
