// Package nocopykitex carries calls of nocopy's messages through Kitex
// (github.com/cloudwego/kitex): they are received and sent without copies, with Kitex's discovery,
// load balancing, retries, circuit breaking and tracing around them. Programs call the packages
// that "nocopyc -kitex" makes for services, and this one for options and in middlewares.
//
//	svr := store.NewServer(handler, server.WithServiceAddr(addr)) // handler as for rpc.Server
//	err := svr.Run()
//
//	cl, err := store.NewClient("store", client.WithHostPorts(addr))
//	res, err := cl.Get(ctx, func(args kv.StoreGetArgs) { args.SetKey(key) })
//
// # The way of a call
//
// Kitex asks arguments and results to write and read themselves. What is written of a message is
// its wire bytes: pieces of more than 4 KiB by reference, others copied together. What is
// received is moved once, from the connection's buffers into memory of the message's own, and
// parsed and edited there. With [ServerRecycle] and [ClientRecycle] not even that: a message of 8
// KiB and more is a slice of netpoll's buffers, which are counted by reference. A message without
// a length, unframed, is scanned for its end as it arrives.
//
// Streams and messages of Kitex's FastCodec copy a message once in each direction, since Kitex has
// one []byte for each there. So does its gRPC transport.
//
// # Lifetimes
//
//   - A handler's args and result end when it returns, as with package rpc. Strings and bytes that
//     were read from args stay valid. Middlewares get them from [Args] and [Result] before
//     and after that.
//   - A client's arguments are encoded before Kitex is called and never change: retries and backup
//     requests may encode them at any time, also after the call has returned. Byte slices of 4 KiB
//     and more that were put into them are referred to, and must not be changed.
//   - The result of a client's call belongs to the caller; Release gives its memory back, but for
//     what was received.
//
// With [ServerRecycle] all memory of a call goes back when it has ended, and what was read from
// its arguments ends with it. That includes the arguments of calls that its handler makes with
// its context: so a proxy forwards messages that it has received without copying them. If one of
// these calls was given up, and so may still be being sent, everything is left to the garbage
// collector. Calls that are made with another context must not get strings or bytes that were
// read from args.
//
// With [ClientRecycle] what was read from a result ends when that is released.
//
// # Errors
//
// A declared exception is the error of a client's call, as in package rpc, and an
// *rpc.ApplicationException of type MissingResult if there is neither that nor a result. Others
// are Kitex's: kerrors.IsTimeoutError, *remote.TransError and the like. A handler's
// *rpc.ApplicationException is sent with its type; its panics and other errors are Kitex's to
// answer, which sends their texts.
//
// Arguments that are malformed are answered with a PROTOCOL_ERROR, which has offset and path.
package nocopykitex
