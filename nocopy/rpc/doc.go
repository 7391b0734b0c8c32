// Package rpc carries calls of Thrift services over connections: servers, clients, and what generated code for services
// calls. On the wire it is Thrift's binary protocol, framed or not; the other side may be any Thrift library.
//
//	srv := &rpc.Server{Processor: kv.NewStoreProcessor(handler)}
//	err := srv.Serve(listener)
//
//	cl, err := rpc.Dial(ctx, "tcp", addr)
//	store := kv.NewStoreClient(cl)
//	res, err := store.Get(ctx, func(args kv.StoreGetArgs) { args.SetKey(key) })
//
// # The way of a call
//
// The client fills the arguments in place, behind room for the message's header and the frame's length, and writes them
// from where they are. Many calls may be under way on one connection; replies are matched by sequence id.
// The server receives into a block, parses header and arguments where they lie, and has the handler
// build the result behind its header; replies that are ready together leave in one writev.
//
// # Lifetimes
//
//   - A handler's args and result end when it returns; their handles panic afterwards. Strings and bytes that were read from
//     args stay valid, unless the server was told to Recycle: then they end with the handler too.
//   - What a handler puts into the result by reference (strings and byte slices of 4 KiB and more) must stay as it is until
//     the reply is written. Values of args may be put there.
//   - The args of a client's call end when the function that fills them returns; byte slices of 4 KiB and more
//     that it set are referred to until the call returns, or, when the context has ended a call early, until its bytes are written or dropped.
//   - The result of a call is the caller's: Release gives its memory back. Not calling it costs speed, not memory.
//     A declared exception that comes back as the error is a message of its own.
//
// # Errors
//
// A call returns the declared exception, an [*ApplicationException] (from the server, or about its reply), an error
// that wraps the context's, or one that tells what happened to the connection.
//
// Read next: method.go for what generated code says of a method; server.go, serverconn.go and request.go; client.go and clientconn.go; message.go and receive.go for
// the wire.
package rpc
