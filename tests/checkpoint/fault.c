// Preloaded: on rank MTF_FAULT_RANK, the MTF_FAULT_AT-th call that changes a file beside a
// checkpoint fails as on a full or broken disk. MTF_FAULT_AT=0 counts them on standard error.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static long calls;

static int is_of_checkpoint(int file) {
  char link[64];
  char path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t size = readlink(link, path, sizeof path - 1);
  if (size <= 0) {
    return 0;
  }
  path[size] = 0;
  return strstr(path, "safetensors") != NULL;
}

static int fails(void) {
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  const char* wanted = getenv("MTF_FAULT_RANK");
  const char* at = getenv("MTF_FAULT_AT");
  if (at == NULL || strcmp(rank == NULL ? "0" : rank, wanted == NULL ? "0" : wanted) != 0) {
    return 0;
  }
  ++calls;
  if (atol(at) == 0) {
    fprintf(stderr, "fault call %ld\n", calls);
  }
  return atol(at) == calls;
}

ssize_t pwrite64(int file, const void* data, size_t size, off_t at) {
  if (is_of_checkpoint(file) && fails()) {
    errno = ENOSPC;
    return -1;
  }
  ssize_t (*real)(int, const void*, size_t, off_t) = dlsym(RTLD_NEXT, "pwrite64");
  // Short, so that whoever writes has to go on.
  return real(file, data, is_of_checkpoint(file) && size > 100 ? size / 2 + 1 : size, at);
}

ssize_t pwrite(int file, const void* data, size_t size, off_t at) {
  return pwrite64(file, data, size, at);
}

int fsync(int file) {
  if (is_of_checkpoint(file) && fails()) {
    errno = EIO;
    return -1;
  }
  int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
  return real(file);
}

int rename(const char* from, const char* to) {
  if (strstr(to, "safetensors") != NULL && fails()) {
    errno = EIO;
    return -1;
  }
  int (*real)(const char*, const char*) = dlsym(RTLD_NEXT, "rename");
  return real(from, to);
}
