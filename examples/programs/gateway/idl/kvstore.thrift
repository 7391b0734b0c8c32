// The service of examples/programs/kvstore, with what the gateway needs to know to offer it over HTTP.

exception AlreadyExists {
  1: binary key
} (api.http_code = "409")

exception NotFound {
  1: binary key
} (api.http_code = "404")

service KeyValue {
  /** Stores a value under a new key. In JSON both are base64. */
  void create(1: binary key, 2: binary value) throws (1: AlreadyExists exists)
    (api.post = "/v1/keys")

  /** Returns the value of a key, as base64. In the path the key is text. */
  binary retrieve(1: binary key (api.path = "key")) throws (1: NotFound missing)
    (api.get = "/v1/keys/:key")

  /** Replaces the value of a key by the body of the request, whatever its bytes are. */
  void update(1: binary key (api.path = "key"), 2: binary value (api.raw_body)) throws (1: NotFound missing)
    (api.put = "/v1/keys/:key")

  /** Removes a key. */
  void delete(1: binary key (api.path = "key")) throws (1: NotFound missing)
    (api.delete = "/v1/keys/:key")
}
