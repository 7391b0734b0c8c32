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
// The client's caller fills the arguments in place. They are written from there, after a header
// that each try has of its own. Many calls may be under way on one connection; replies are matched
// by sequence id. The server receives into a block, parses header and arguments in place, and the
// handler fills the result, before which there is room for the reply's header. Replies that are
// ready at the same time are written by one writev.
//
// # Lifetimes
//
//   - A handler's args and result belong to the server and end when the handler returns, or the
//     outermost interceptor if there is one. Then their handles panic, except that Release does
//     nothing. Strings and bytes that were read from args stay valid, unless the server has
//     Recycle: then they end with the handler too.
//   - An exception that a handler returns as its error stays the handler's, and a struct that an
//     interceptor puts into a Call stays the interceptor's: the reply has a copy. See [Handler]
//     and [Call].
//   - A result refers to strings and byte slices of 4 KiB and more that are put into it: byte
//     slices must not change until the reply is written. They may come from args.
//   - The args of a client's call end when all interceptors have returned; the function that fills
//     them must not keep them. They refer to byte slices of 4 KiB and more until the call returns,
//     or, if it or a try of it was given up, until its bytes are written or dropped.
//     Strings that an interceptor reads from them stay valid, unless they are what a server with
//     Recycle has received and its handler forwards: then they end with the args.
//   - The result of a call belongs to the caller: Release gives its memory back. Without Release
//     the garbage collector frees it, which is slower. A declared exception that is a call's error
//     is a message of its own.
//
// # Errors
//
// A client's call returns an error that errors.Is and errors.As tell apart:
//
//	declared exception        its generated type
//	*ApplicationException     the server's answer, such as UnknownMethod or InternalError;
//	                          or the reply does not answer the call, such as MissingResult
//	*nocopy.Error             the reply's struct is malformed; nocopy.ErrLimit if too large
//	the context's error       the context has ended; the server may handle the call
//	ErrClientClosed           the client was closed
//	ErrNotSent                there was no connection, or it failed before all of the call had
//	                          reached the server, which has not begun to handle it
//	ErrConnLost               the connection failed; the server may have handled the call
//
// The errors of failed connections wrap the cause too: io.EOF if the server has closed the
// connection, os.ErrDeadlineExceeded after [StallTimeout], [nocopy.ErrLimit] if a reply without a
// frame is larger than [MaxFrame], [ErrVersion] or linkbuf.ErrFrameSize if it is no Thrift
// message, else the error of the net.Conn.
//
// A reply in a frame larger than [MaxFrame], or in shared memory, fails its own call only, with
// [nocopy.ErrLimit], as soon as its header has come. The rest is received and dropped, within
// [StallTimeout]; replies that come after it wait for that.
//
// [Server.Serve] returns [ErrServerClosed] after Shutdown or Close, else the listener's error. Bad
// programs panic with a text that begins with "nocopy: ".
//
// A handler's error goes to the client as an [ApplicationException] with its text, unless the
// server has HideErrors. The text of a panic never does, nor that of an error in the library, or
// of a handler's or interceptor's mistake: the client gets a fixed text and an id, under which the
// log has the rest.
//
// A call whose arguments are malformed, or whose frame is larger than MaxFrame, is answered with
// a ProtocolError, unless it is oneway; the log has the client's address. The calls after it are
// handled, since its frame tells where it ends. Without a frame its end may not be known: then
// the connection is closed. So it is when bytes are no Thrift message. A client that speaks HTTP
// or TLS is answered in that protocol.
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
// A request that is refused, since it is malformed for instance, has a reply that waits for its
// turn at once. A oneway call ends when its handler returns; its context ends with Close only, or
// when the context of Shutdown does.
//
// # A connection of a server
//
// One goroutine at a time is the reader. It reads ahead while no request may be handled: since
// Concurrency calls are under way, or since the next message can't be found or the stream has
// ended. Then it receives up to 1 MiB, to notice when the client goes
// away. If a client has sent more than that and goes away, the server notices it when a reply
// can't be written; on Linux, with TCP, within half a second if all that the client sent has
// arrived.
//
//	                         receiving               handling               ahead
//	a request comes          → handling              it waits               it waits
//	a bad one comes          is answered             it waits               it waits
//	no message comes         → ahead                 it waits               it waits
//	the handler takes 1 ms   –                       → receiving, or ahead, –
//	                                                   in another goroutine
//	a handler returns        its reply is written    its reply is written,  its reply is written,
//	                                                   → receiving, or ahead  → receiving if it may
//	nothing more comes       → ahead, contexts end   is noticed afterwards  contexts end after
//	                           after HalfCloseTimeout                         HalfCloseTimeout
//	reset, or a write fails  → closed, contexts end  is noticed afterwards  → closed, contexts end
//	Shutdown, idle, too old  is sealed, → ahead when → ahead afterwards     is sealed, → ahead when
//	                           all that came is read                          all that came is read
//	Close                    → closed, contexts end  → closed, contexts end → closed, contexts end
//	all replies are written  –                       –                      → closed, unless a
//	                                                                          request may follow
//
// Requests that a client had sent when it closed the connection are handled although no reply can
// be written any more: some may be oneway calls. After a reset they are not.
//
// From MaxConnAge on, a connection ends once it has been quiet for 50 ms: nothing is under way,
// and nothing has arrived since the last call ended. Shortly before MaxConnAgeGrace is over it
// behaves as after Shutdown; when it is over, the contexts of its calls end.
//
// A connection that ends though nothing is wrong with it is sealed first. On Linux, the system
// then drops requests that come over TCP, without acknowledging them, and refuses to take them
// on a unix socket. Those that have arrived are handled, and the connection is closed when their
// replies are written. So the client's system knows which requests were not taken in, and a
// Client sends them again on another connection. Where that can't be done, the connection is
// read until nothing has come for 2 ms and no call is under way, for half a second at most; a
// request that comes just then may be lost.
//
// When Shutdown is called, connections that wait to be accepted are accepted and served in the
// same way, on Linux. A client that connects within those 2 ms tries again after a second, over
// TCP. A connection whose handshake is not over when the listener is closed is reset by the
// system; a call that was sent on it is lost.
//
// A connection gives up its place among MaxConns when it is closed, or HalfCloseTimeout after the
// client has closed its side for sending.
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
// No byte of a queued call has been written. It has no sequence id yet, so that no reply is for
// it; if the connection fails it is unsent and goes to another one. While a call is being written,
// its bytes may be in memory that belongs to the caller again when the call returns: if it is
// answered, it waits until it is written. It returns at once when it is given up, since its
// context has ended or its interceptors have returned; its arguments are written elsewhere if they
// are changed then. Oneway stands for a oneway call that is being written; no reply is for it.
//
// A reply with a sequence id that was not given is stray. It must be for a call that is being
// written or was written: it ends the oldest of these with BAD_SEQUENCE_ID. A second reply to a
// call, one to a call that was given up, and one to a oneway call are dropped. Queued calls are
// written together, up to 64 KiB of them; a larger call is the last of those. While they are
// written it is not known which of them have reached the server, so a reply to any of them ends
// that call.
//
// A call that was being written, or was written, is unsent as well if not all of it can have
// reached the server: the write has failed before its end; or, on Linux, the server has closed the
// TCP connection, or the unix socket, before its system had taken in the last byte, or all bytes
// were read. So a call that meets a connection that the server closes, being idle or old or about
// to stop, goes to another connection.
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
// Where there are two states, the second is for when calls are queued: they are written next, or
// go to the next connection. A connection that has failed during a write ends when the write does;
// it is replaced at once. Calls wait while a connection is dialled, which follows a pause if the
// last connection failed without a reply, and fail if it can't be made. A connection that has
// reached its IdleTimeout or MaxConnAge is unconnected at once; calls that use it end on it.
//
// # Who reads a client's connection
//
//	        call          another call  reply           given up  silence
//	reader  reader        reader        unread, reader  reader    reader
//	own     –             own           unread, reader  reader    own
//	unread  own, reader   reader        –               –         reader
//
// A connection has a goroutine, the reader. Once eight calls in a row were alone on the
// connection, it leaves reading to those that follow, as long as each is alone, up to 16 KiB, and
// not oneway: such a call reads its own reply, which spares waking two goroutines. Where there
// are two states, the second is for when that does not hold. When a call that reads is given up,
// or ends while others are under way, the reader reads on; it does so, too, when there was no
// call for some 50 ms. A connection that is unread is looked at before a call is sent: if the
// server has closed it, the call goes to another one. So is one that the reader reads, after 5 ms
// without a call. Calls do not read if there are
// interceptors, with TLS, with a Dialer's connections that are no sockets, on Windows, and,
// without frames, if their context can end.
//
// # Proxies
//
// [Forward] is a [Handler] that makes each call again, with a [Caller], and answers as that does.
// [Processor.WithHandler] gives it the methods of a generated Processor, all or some; handlers of
// the program's around it look at typed arguments and results and change them. With [Server.Lazy]
// and the option [Lazy] only what they touch is indexed. Processor.WithFallback gives it the
// methods that the Processor does not have, or all, of services whose IDL the program does not
// know: they come as calls of a [RawMethod], whose args and result are structs without known
// fields, or with those that WithFallbackArgs is told of; [Call.Peek] finds a value in them. What
// is forwarded is linked, not copied, and goes out as it came, unknown fields and all. How much
// memory slow clients and slow backends can hold is bounded by MaxConns, Concurrency and MaxFrame
// of the Server, and by MaxInFlight of the Client.
//
// A Client's connections are shared by all who call with it. Where a connection stands for more,
// such as a user who has logged in, [Server.ConnContext] gives each connection a Client of its
// own, with a PoolSize of 1 and without an [IdleTimeout] and a [MaxConnAge], which a negative one
// means, and handlers take it from the context: examples/metastore.
//
// # Shared memory
//
// Where both sides ask for it ([SharedMemory]), messages of 32 KiB and more between processes of
// one Linux host, and of 16 KiB while other calls are under way, go through memory that both map;
// the unix socket carries their positions. A client asks as soon as it has connected, by a call of
// a method that other servers answer is unknown. Then, and wherever else there is none, the socket
// carries everything: on other systems, over TCP or TLS, without frames, with a Dialer whose
// connections are no *net.UnixConn, or where the system refuses it; the log has why, at level
// Debug. Each side allocates MaxShared bytes at most for what it sends, as they are needed, and
// keeps one descriptor open and two mappings for each connection. What does not fit while messages
// are not returned goes over the socket. Handlers, callers and interceptors do not notice, but for
// what [TrustPeer] says of lifetimes. With that, arguments and results are built in the memory
// that the other side reads if the last of their type was large; whatever is sent otherwise is
// copied there once.
//
// # Watching
//
// [Interceptor]s see each call. [Stats] are told what they can't see: bytes, connections, how long
// calls wait, what is refused; [ReadBlockStats] counts blocks of memory. [Health] answers health
// checks, with which Shutdown tells load balancers before it stops anything; [CheckHealth] asks
// for it. [LogCalls] logs calls, and [SampleLogs] bounds the log. The module otel has traces and
// metrics.
//
// # Beyond the IDL
//
// [Call.SetText] and its like add fields to the arguments of a call that its IDL does not know;
// [Call.Text] and its like read them. Peers that do not know them skip them. [Metadata] are pairs
// of strings in one such field. With the option [Deadlines] a client sends the time that is left
// until its context's deadline there; a [Server] with Deadlines ends the handler's context then.
//
// Read next: method.go for the descriptions that generated code gives of methods, processor.go and
// forward.go; server.go, serve.go, serverconn.go, serverread.go, request.go, handle.go and
// servertries.go; client.go, dial.go, clientconn.go, clientwrite.go, pending.go, turn.go and
// clienttries.go; field.go and metadata.go; stats.go, health.go, logcalls.go, retry.go. Below the
// two halves, which name nothing of each other: internal/transport for framing, internal/message
// for headers, internal/shared for shared memory, internal/socket for what the system knows.
package rpc
