// A key-value store: the service of the gRPC project's article "Optimizing gRPC", on Thrift.
namespace go kv

exception AlreadyExists {
  1: binary key
}

exception NotFound {
  1: binary key
}

service KeyValue {
  void create(1: binary key, 2: binary value) throws (1: AlreadyExists exists)
  binary retrieve(1: binary key) throws (1: NotFound missing)
  void update(1: binary key, 2: binary value) throws (1: NotFound missing)
  void delete(1: binary key) throws (1: NotFound missing)
}
