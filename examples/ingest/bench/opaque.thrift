// Requests that the server's handler decodes itself: Thrift Binary for Kitex's structs, Protocol
// Buffers for prompb.
namespace go opaque

service Opaque {
  void write(1: binary request)
}
