// Copyright 2026 repsq_ros maintainers
//
// Licensed under the Apache License, Version 2.0 (the "License");
// you may not use this file except in compliance with the License.
// You may obtain a copy of the License at
//
//     http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS,
// WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
// See the License for the specific language governing permissions and
// limitations under the License.

/* A network that loses one datagram in fifty, for one process: LD_PRELOAD this. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/socket.h>

static int lost(int socket)
{
  int type = 0;
  socklen_t size = sizeof type;
  return getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_DGRAM &&
         random() % 50 == 0;
}

ssize_t sendmsg(int socket, const struct msghdr * message, int flags)
{
  static ssize_t (* real)(int, const struct msghdr *, int);
  if (!real) {
    real = dlsym(RTLD_NEXT, "sendmsg");
  }
  if (!lost(socket)) {
    return real(socket, message, flags);
  }
  ssize_t bytes = 0;
  for (size_t part = 0; part < message->msg_iovlen; ++part) {
    bytes += message->msg_iov[part].iov_len;
  }
  return bytes;
}

ssize_t sendto(
  int socket, const void * data, size_t size, int flags, const struct sockaddr * to,
  socklen_t length)
{
  static ssize_t (* real)(int, const void *, size_t, int, const struct sockaddr *, socklen_t);
  if (!real) {
    real = dlsym(RTLD_NEXT, "sendto");
  }
  return lost(socket) ? (ssize_t)size : real(socket, data, size, flags, to, length);
}
