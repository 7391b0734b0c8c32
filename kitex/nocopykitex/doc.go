// Package nocopykitex sends nocopy's messages through Kitex (github.com/cloudwego/kitex), without
// copies, and with Kitex's discovery, load balancing, retries, circuit breaking and tracing.
// Programs call the packages that "nocopyc -kitex" generates for services. They use this package
// for options and in middlewares.
//
//	svr := store.NewServer(handler, server.WithServiceAddr(addr)) // handler as for rpc.Server
//	err := svr.Run()
//
//	cl, err := store.NewClient("store", client.WithHostPorts(addr))
//	res, err := cl.Get(ctx, func(args kv.StoreGetArgs) { args.SetKey(key) })
//
// # The way of a call
//
// Kitex asks arguments and results to write and read themselves. Writing passes on the message's
// wire bytes: pieces of more than 4 KiB by reference, others copied together. Reading copies the
// bytes once, from the connection's buffers into the message's own memory, and parses and edits
// them there. With [ServerRecycle] and [ClientRecycle], a message of 8 KiB or more is not copied:
// it is a slice of netpoll's reference-counted buffers. An unframed message has no length; it is
// scanned for its end while it arrives.
//
// Streams, Kitex's FastCodec and its gRPC transport copy a message once in each direction, because
// Kitex uses one []byte per message there.
//
// # Lifetimes
//
//   - A handler's args and result end when it returns, as with package rpc. Strings and bytes that
//     were read from args stay valid. Middlewares get args and result from [Args] and [Result],
//     before and after that.
//   - A client's arguments are encoded before Kitex is called and never change: retries and backup
//     requests may encode them at any time, also after the call has returned. They refer to byte
//     slices of 4 KiB and more that were set in them; these must not change.
//   - The result of a client's call belongs to the caller; Release gives its memory back, except
//     the received bytes.
//
// With [ServerRecycle] all memory of a call is recycled when the call has ended. Strings and bytes
// that were read from its arguments end with it. This includes the arguments of calls that the
// handler makes with its context, which lets a proxy forward received messages without copying
// them. If one of these calls was given up, it may still be sending; everything is then left to
// the garbage collector. Calls with another context must not get strings or bytes that were read
// from args.
//
// With [ClientRecycle] strings and bytes that were read from a result end when it is released.
//
// # Errors
//
// A client's call returns a declared exception as its error, as in package rpc. If there is
// neither an exception nor a result, the error is an *rpc.ApplicationException of type
// MissingResult. Other errors are Kitex's: kerrors.IsTimeoutError, *remote.TransError and the
// like. A handler's *rpc.ApplicationException is sent with its type. Kitex answers panics and
// other errors, and sends their texts.
//
// Malformed arguments are answered with a PROTOCOL_ERROR that has offset and path.
package nocopykitex
