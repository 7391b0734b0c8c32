// Package rpc carries calls of Thrift services over connections: servers, clients, and what
// generated code for services calls. On the wire it is Thrift's binary protocol, framed or not;
// the other side may be any Thrift library.
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
// The client fills the arguments in place and writes them from where they are, after a header of
// each try's own. Many calls may be under way on one connection; replies are matched by sequence
// id. The server receives into a block, parses header and arguments where they lie, and has the
// handler build the result behind its header; replies that are ready together leave in one
// writev.
//
// # Lifetimes
//
//   - A handler's args and result are the server's and end when it returns, or the outermost
//     interceptor does; their handles panic afterwards, but for Release, which does nothing then.
//     Strings and bytes that were read from args stay valid, unless the server was told to
//     Recycle: then they end with the handler too.
//   - An exception that a handler returns as its error stays the handler's, and what an
//     interceptor puts into a Call stays the interceptor's: the reply has a copy. See [Handler]
//     and [Call].
//   - What a handler puts into the result by reference (strings and byte slices of 4 KiB and more)
//     must stay as it is until the reply is written. Values of args may be put there.
//   - The args of a client's call end when all interceptors have returned; whoever fills them must
//     not keep them. Byte slices of 4 KiB and more that were set are referred to until the call
//     returns, or, when it or a try of it was given up, until its bytes are written or dropped.
//   - The result of a call is the caller's: Release gives its memory back. Not calling it costs
//     speed, not memory. A declared exception that comes back as the error is a message of its
//     own.
//
// # Errors
//
// A call returns the declared exception, an [*ApplicationException] (from the server, or about its
// reply), an error that wraps the context's, or one that tells what happened to the connection.
//
// A handler's error goes to the client as an [ApplicationException] with its text, unless
// [Server.HideErrors]. The text of a panic never does, nor what went wrong in the library or
// because of what a handler or an interceptor did to it: the client gets a fixed text and an id,
// under which the log has the rest. Messages that can't be understood, or are too large, are
// answered when it is known what they call; then the connection is closed. A client that speaks
// HTTP or TLS gets an answer in that. The log tells who it was.
//
// # A request in a server
//
//	                              being handled                  waiting for its   being
//	                                                             turn              written
//	the handler returns nil       → waiting: its result          –                 –
//	  a declared exception        → waiting: a copy of it        –                 –
//	  another error               → waiting: its text            –                 –
//	it panics, ends its           → waiting: an id, and a        –                 –
//	  goroutine, or has released    line in the log
//	  args or result
//	replies before it are written –                              → being written   –
//	it is written                 –                              –                 → ended
//	nothing more comes            its context ends after         –                 –
//	                                HalfCloseTimeout
//	the client is gone, or Close  its context ends               → dropped         → dropped
//	Shutdown                      goes on                        goes on           goes on
//
// What is refused waits for its turn at once. A oneway call ends when its handler returns; its
// context ends with Close only, or when Shutdown has given up.
//
// # A connection of a server
//
// One goroutine at a time is the reader. It is ahead when no request may be handled: since
// Concurrency calls are under way, since Shutdown was called, or since what came last was bad or
// the end. Then it takes in up to 1 MiB, to notice when the client goes. A client that has sent
// more than that is noticed to be gone within half a second if it is one of TCP and the server's
// system is Linux, and its kernel could deliver all that it sent; else when a reply can't be
// written.
//
//	                         receiving               handling               ahead
//	a request comes          → handling              it waits               it waits
//	a bad one comes          is answered, → ahead    it waits               it waits
//	the handler takes 1 ms   –                       → receiving, or ahead, –
//	                                                   in another goroutine
//	a handler returns        its reply is written    its reply is written,  its reply is written,
//	                                                   → receiving, or ahead  → receiving if it may
//	nothing more comes       → ahead, contexts end   is noticed afterwards  contexts end after
//	                           after HalfCloseTimeout                         HalfCloseTimeout
//	reset, or a write fails  → closed, contexts end  is noticed afterwards  → closed, contexts end
//	Shutdown                 → ahead                 → ahead afterwards     stays so
//	Close                    → closed, contexts end  → closed, contexts end → closed, contexts end
//	all replies are written  –                       –                      → closed, unless a
//	                                                                          request may follow
//
// What a client had sent when it closed the connection is handled, although no reply can be
// written any more: there may be oneway calls in it. After a reset it is not.
//
// A connection's place among MaxConns is free when it is closed, or HalfCloseTimeout after nothing
// more comes.
//
// # A call of a client on a connection
//
//	          write ends      reply            stray            fails             given up
//	queued    writing         queued           queued           finished: unsent  finished: given up
//	writing   written         answered: reply  answered: stray  answered: failed  dropped: given up
//	written   written         finished: reply  finished: stray  finished: failed  finished: given up
//	answered  finished        answered         answered         answered          dropped: given up
//	dropped   finished        dropped          dropped          dropped           dropped
//	oneway    finished: sent  oneway           oneway           answered: failed  dropped: given up
//	finished  finished        finished         finished         finished          finished
//
// Of a queued call no byte has been written. It has no sequence id yet, so that nothing that comes
// is a reply to it; if the connection fails it is unsent and goes to another one. While a call is
// being written, its bytes may be in memory that is the caller's again when it returns: it is
// answered, but waits. It returns at once when it is given up, since its context has ended or its
// interceptors have returned; what its arguments are changed to then goes elsewhere. Oneway stands
// for a oneway call that is being written; no reply is for it.
//
// A reply with a sequence id that was not given is stray. It ends the oldest call that is being
// written, or was, with BAD_SEQUENCE_ID: it must be for one of those. A second reply, one to a
// call that was given up, and one to a oneway call are dropped. What is queued is written up to
// 64 KiB at a time, and a larger call is the last of them. Which of the calls that are written
// together have begun, nobody can tell: the kernel has bytes long before the server sees them. A
// reply to any of them is taken for one.
//
// # A connection of a client
//
//	             call      dialled      not dialled  write ends     fails              Close
//	idle         writing   idle         idle         idle           unconnected        closed
//	writing      writing   writing      writing      idle, writing  failing, dialling  closed
//	failing      dialling  failing      failing      unconnected    failing            closed
//	unconnected  dialling  unconnected  unconnected  unconnected    unconnected        closed
//	dialling     dialling  writing      unconnected  dialling       dialling           closed
//	closed       closed    closed       closed       closed         closed             closed
//
// The second of two states is for when calls are queued: they are written next, or go to the next
// connection. A connection that has failed while a write is under way ends when that does; it is
// replaced at once. Calls wait while a connection is dialled, after the pause that failures have
// earned, and fail if it is not.
//
// Read next: method.go for what generated code says of a method; server.go, serverconn.go,
// serverread.go, request.go and reply.go; client.go, tries.go, pending.go and clientconn.go;
// message.go and receive.go for the wire.
package rpc
