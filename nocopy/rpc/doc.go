// Package rpc serves and calls Thrift services over TCP, unix sockets and HTTP, in Thrift's binary
// or compact protocol, framed, unframed or in THeader. The peer may use any Thrift library.
//
// A server handles calls with the methods of a handler:
//
//	srv := &rpc.Server{Processor: kv.NewStoreProcessor(handler)}
//	err := srv.Serve(listener)
//
// A client is a pool of connections to one address. Any number of goroutines may use it:
//
//	client, err := rpc.Dial(ctx, "tcp", addr)
//	store := kv.NewStoreClient(client)
//	res, err := store.Get(ctx, func(args kv.StoreGetArgs) { args.SetKey(key) })
//	if err != nil {
//		return err
//	}
//	defer res.Release()
//	fmt.Println(res.GetSuccess())
//
// [Server.Shutdown] stops a server: it returns when all calls have been answered.
// [Server.Interceptors] and the option [Interceptors] wrap every call. [LogCalls] logs calls, and
// [Retry] repeats those that failed. The fields of [Server] and the [Option] values limit time,
// memory and connections; their zero values are safe. The guide is docs/services.md. states.md has
// the states of calls and connections, for contributors.
//
// # Settings
//
// A Server has fields, and a Client is made with options. Settings of both have one name, and mean
// the same. The zero value of each is a good default.
//
//	              fields of a Server                options of Dial
//	calls         Processor, Interceptors,          Interceptors, Deadlines
//	              Deadlines, HideErrors
//	connections   Wires, TLS, SASL, ConnContext,    Unframed, THeader, Protocol, TLS, SASL,
//	              Unordered                         Dialer, OneConnection
//	limits        MaxConns, MaxFrame, Limits,       PoolSize, MaxFrame, Limits,
//	              Concurrency                       MaxInFlight
//	time          ReadTimeout, WriteTimeout,        DialTimeout, StallTimeout,
//	              IdleTimeout, MaxConnAge,          IdleTimeout, MaxConnAge,
//	              MaxConnAgeGrace, KeepAlive,       KeepAlive
//	              HalfCloseTimeout, DrainTime
//	memory        Recycle, Lazy,                    Recycle, Lazy, LazyMethods,
//	              SharedMemory, MaxShared           SharedMemory, MaxShared
//	observation   Logger, Stats, Health, Describe   Logger, *Stats
//
// DialHTTP takes some of these options, and HTTPClient.
//
// # Lifetimes
//
//   - The args and the result of a handler belong to the server. They end when the handler
//     returns, or when the outermost interceptor does. After that their handles panic, but Release
//     does nothing. Strings and bytes that were read from args stay valid. With Recycle they end
//     with the handler.
//   - An exception that a handler returns as its error stays the handler's. A struct that an
//     interceptor puts into a Call stays the interceptor's. The reply has a copy. See [Handler]
//     and [Call].
//   - A result refers to byte slices of 4 KiB or more that are set in it. They must not change
//     until the reply is written. They may come from args.
//   - The args of a client's call end when all interceptors have returned. The function that fills
//     them must not keep them. They refer to byte slices of 4 KiB or more until the call returns.
//     If the call, or one of its tries, was given up, they do so until its bytes are written or
//     dropped.
//   - Strings that a client's interceptor reads from args stay valid. One exception: if a server
//     with Recycle received the args, and its handler forwards them, they end with the args.
//   - The result of a call belongs to the caller, who should Release it. Otherwise the garbage
//     collector frees it, which is slower. A declared exception that is a call's error is a
//     message of its own.
//
// # Errors of calls
//
// errors.Is and errors.As tell the errors of a client's call apart:
//
//	declared exception        its generated type
//	*ApplicationException     the server's answer, such as UnknownMethod or InternalError;
//	                          or the reply does not answer the call, such as MissingResult
//	ErrBadReply               the reply is malformed, too large, or one to another call
//	*nocopy.Error             the reply's struct is malformed; nocopy.ErrLimit if too large
//	the context's error       the context has ended; the server may handle the call
//	ErrClientClosed           the client was closed
//	ErrNotSent                there was no connection, or it failed before all of the call had
//	                          reached the server, which has not begun to handle it
//	ErrNotHandled             the server has too many calls, and has not begun to handle this one;
//	                          errors.As also finds the answer
//	ErrConnLost               the connection failed; the server may have handled the call
//	*HTTPError                over HTTP, the status is not 200
//
// The error of a failed connection also wraps the cause:
//
//   - io.EOF, if the server closed the connection;
//   - os.ErrDeadlineExceeded, after [StallTimeout];
//   - [nocopy.ErrLimit], if an unframed reply is larger than [MaxFrame];
//   - [ErrVersion] or linkbuf.ErrFrameSize, if the bytes are not a Thrift message;
//   - the error of the net.Conn in other cases.
//
// A framed reply larger than [MaxFrame] fails only its own call, with [nocopy.ErrLimit], as soon
// as its header has arrived. So does one in shared memory. The rest of the reply is received and
// dropped, within [StallTimeout]. Replies after it wait for that.
//
// # Errors in a server
//
// [Server.Serve] returns [ErrServerClosed] after Shutdown or Close, and the listener's error
// otherwise. Mistakes in the program panic with a text that begins with "nocopy: ".
//
// A handler's error goes to the client as an [ApplicationException] with its text. With HideErrors
// the text is replaced. The client never gets the text of a panic, of an error in the library, or
// of a mistake of a handler or interceptor. It gets a fixed text and an id. The log has the rest
// under this id.
//
// A call with malformed arguments, or in a frame larger than MaxFrame, is answered with a
// ProtocolError, unless it is oneway. The log has the client's address. Later calls are handled,
// since the frame says where the bad call ends. An unframed call may have no known end. Then the
// connection is closed. It is also closed when the bytes are not a Thrift message. A client that
// speaks TLS, or HTTP where that is not accepted, is answered in that protocol.
//
// # HTTP
//
// A connection that begins with a request of HTTP is served by net/http: each POST holds a call,
// and its response the reply. [HTTPHandler] and [Server.ServeHTTP] are for routers of the
// program's, [DialHTTP] makes calls. Headers of calls and replies are HTTP's. Interceptors,
// limits, forwarding, fallbacks and health checks are as on other connections. These fields of the
// Server mean something else or nothing:
//
//   - HalfCloseTimeout: a client that closes its side for sending counts as gone at once.
//   - Concurrency: HTTP/1.1 has one call at a time, and oneway calls whose handlers still run.
//   - Unordered: HTTP/2 has no order, HTTP/1.1 has no other.
//   - SASL: there are no calls over HTTP.
//
// A call that is refused because of MaxInFlight is answered with the status 503.
//
// Shutdown and Close end connections as net/http does: a request that arrives just then may be
// lost, and its client can't know.
//
// # Single messages
//
// [Server.ServeMessage] turns the bytes of a call into the bytes of its reply, however they came:
// in a packet of UDP, a queue, a frame of a WebSocket. [NewCaller] is the client's side.
//
// # Proxies
//
// [Forward] is a [Handler] that makes each call again, with a [Caller], and returns the reply.
// Forwarded arguments and results are linked, not copied. Unknown fields are forwarded as well.
//
// [Processor.WithHandler] uses a handler for all or some methods of a generated Processor. A
// handler that calls Forward may read and change the typed arguments before, and the result after.
// With [Server.Lazy] and the option [Lazy] only the parts that it touches are indexed.
//
// Processor.WithFallback uses a handler for methods that the Processor does not have. The program
// needs no IDL for them. They arrive as calls of a [RawMethod], whose args and result have no
// known fields, except those that WithFallbackArgs declares. [Call.Peek] finds a value in them.
//
// MaxConns, Concurrency, MaxInFlight and MaxFrame of the Server, and MaxInFlight of the Client,
// bound how much memory slow clients and slow backends can hold.
//
// All callers share the connections of a Client. Where a connection has a state, such as a user
// who has logged in, [Server.ConnContext] gives each incoming connection a Client of its own, with
// [OneConnection], and handlers take it from the context. See examples/programs/metastore.
//
// # Shared memory
//
// Processes on one Linux host can exchange large messages through memory that both map, if both
// sides ask for it ([SharedMemory]). It carries messages of 32 KiB or more, and of 16 KiB or more
// while other calls are under way. The unix socket carries their positions.
//
// A client asks as soon as it has connected, by calling a method that other servers answer as
// unknown. The socket carries all messages if the server refuses. It also does so on other
// systems, over TCP or TLS, without frames, with a Dialer whose connections are not *net.UnixConn,
// and where the system refuses the memory. The log has the reason, at level Debug.
//
// Each side allocates at most MaxShared bytes for what it sends, as needed. It keeps one
// descriptor and two mappings per connection. When this memory is full, messages go over the
// socket. Handlers, callers and interceptors notice nothing, except the lifetimes that [TrustPeer]
// describes. With TrustPeer, arguments and results are built in the shared memory if the last
// message of their type was large. All other messages are copied there once.
//
// # Watching
//
// An [Interceptor] sees each call. [Stats] counts events that interceptors can't see: bytes,
// connections, waiting and refused calls. [ReadBlockStats] counts blocks of memory. [Health]
// answers health checks; Shutdown uses it to tell load balancers before it stops. [CheckHealth] is
// such a check. [LogCalls] logs calls, and [SampleLogs] bounds the log. The module otel has traces
// and metrics.
//
// # Fields without IDL
//
// [Call.SetText] and similar methods add fields to a call's arguments that its IDL does not have.
// [Call.Text] and similar methods read them. Peers that do not know the fields skip them.
//
// # Headers
//
// [SetHeader] makes calls with a context send a pair of name and value, [Header] returns the value
// in the handler. [SetReplyHeader] and [ReceiveHeaders] are for replies. Headers travel on every
// wire, if need be in a field without IDL. With the option [Deadlines], a client sends the time
// left until its context's deadline in a header. A [Server] with Deadlines ends the handler's
// context when this time is over. The module otel sends traces in headers.
package rpc
