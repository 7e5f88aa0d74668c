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

ssize_t sendmsg(int socket, const struct msghdr *message, int flags)
{
    static ssize_t (*real)(int, const struct msghdr *, int);
    if (!real)
        real = dlsym(RTLD_NEXT, "sendmsg");
    if (!lost(socket))
        return real(socket, message, flags);
    ssize_t bytes = 0;
    for (size_t part = 0; part < message->msg_iovlen; ++part)
        bytes += message->msg_iov[part].iov_len;
    return bytes;
}

ssize_t sendto(int socket, const void *data, size_t size, int flags, const struct sockaddr *to,
               socklen_t length)
{
    static ssize_t (*real)(int, const void *, size_t, int, const struct sockaddr *, socklen_t);
    if (!real)
        real = dlsym(RTLD_NEXT, "sendto");
    return lost(socket) ? (ssize_t)size : real(socket, data, size, flags, to, length);
}
