// Package nocopyotel adds OpenTelemetry's traces, metrics and baggage to services of package rpc:
//
//	srv := &rpc.Server{
//		Processor:    greet.NewGreeterProcessor(handler),
//		Interceptors: []rpc.Interceptor{nocopyotel.Server(nocopyotel.Options{})},
//		Stats:        nocopyotel.ServerStats(nocopyotel.Options{}),
//	}
//	cl, err := rpc.Dial(ctx, "tcp", addr, rpc.Interceptors(nocopyotel.Client(nocopyotel.Options{})))
//
// # On the wire
//
// A client sends the context in headers of the call, see rpc.SetHeader. HTTP and THeader have a
// place for headers. Plain Thrift has none; the headers are then in field 8888 of the arguments,
// as OpenTelemetry's and SkyWalking's agents for Java send them. The field is a map<string,string>
// just before the STOP. Peers that do not know it skip it. Replies carry no context. Keys are
// those of the propagator, such as traceparent, tracestate and baggage, and rpc.TimeoutKey. As
// with these agents, a server reads only the arguments' own fields. Of several fields 8888 it
// takes the first, and of several values for a key the last. It ignores fields of other types, and
// maps of more than 100 pairs or 8 KiB of keys and values. A client sends no larger map: it omits
// the largest keys of the context first, such as baggage.
//
// Interceptors do not decode, copy or change arguments for this. A client adds the field when it
// writes the arguments. A proxy forwards the map unchanged. If the proxy's client has the
// interceptor [Client], it replaces the keys that it knows and keeps the others. If the IDL
// declares a field 8888, no context is sent, and none is read from it.
//
// # Deadlines
//
// If a call's context has a deadline, the client sends the remaining time, and the handler's
// context ends after it. See rpc.TimeoutKey.
//
// # Spans and metrics
//
// Names and attributes are those of OpenTelemetry's semantic conventions for RPC, 1.43: spans are
// called Service/method; rpc.system.name is apache_thrift; the histograms are
// rpc.server.call.duration and rpc.client.call.duration, in seconds. rpc.response.status_code is
// OK, the name of a declared exception, or the type of a TApplicationException such as
// INTERNAL_ERROR, or LOAD_SHEDDING if the server had too many calls. Without an answer it is the
// reason: CANCELLED, DEADLINE_EXCEEDED, CONNECTION_LOST, NOT_SENT, CLIENT_CLOSED, MALFORMED.
//
// A declared exception is an error in the client's span. In the server's span it is not, because
// the server has answered as its IDL says. Every other status except OK is an error in both. Both
// spans have an event "exception" for each of these cases.
//
// A proxy without IDL knows methods only by their names. Such a method is called _OTHER, and its
// span has the name as rpc.method_original. Otherwise clients could create any number of metrics
// by inventing names. Methods in [Options].Methods keep their names. The spans of such methods do
// not show declared exceptions.
package nocopyotel
