// Package nocopyotel gives Thrift services of package rpc traces, metrics and baggage, by
// OpenTelemetry:
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
// Plain Thrift has no place for a call's context. It goes where OpenTelemetry's and SkyWalking's
// agents for Java have it: in field 8888 of the arguments, a map<string,string> just before their
// STOP, which every peer that does not know it skips. Replies carry nothing. Keys are those of the
// propagator, such as traceparent, tracestate and baggage, and [TimeoutKey]. As these agents do, a
// server looks for the field among the arguments' own fields only, takes the first if it comes
// again, and of a key that comes again the last value; it ignores a map of more than 100 pairs or
// of more than 8 KiB of keys and values. It never looks into other types than map<string,string>.
// A client sends no larger map either: what is too much is left out, baggage first.
//
// Interceptors neither decode nor copy arguments for that, and change none: a client's adds the
// field when they are written. A proxy whose calls are forwarded passes the map on as it is; with
// [Client] on its way out it replaces the keys that it knows and passes on the others. If the IDL
// declares a field 8888 of its own, of whatever type, it is left alone: no context is sent, or
// read from it.
//
// # Deadlines
//
// If a call's context has a deadline, the client sends the time that is left, and the server gives
// it to the handler's context: see [TimeoutKey].
//
// # Spans and metrics
//
// Names and attributes are those of OpenTelemetry's semantic conventions for RPC, 1.43: spans are
// called Service/method; rpc.system.name is apache_thrift; the histograms are
// rpc.server.call.duration and rpc.client.call.duration, in seconds. rpc.response.status_code is
// OK, the name of a declared exception, the type of a TApplicationException such as
// INTERNAL_ERROR, or what has kept the client from an answer: CANCELLED, DEADLINE_EXCEEDED,
// CONNECTION_LOST, NOT_SENT, CLIENT_CLOSED, MALFORMED.
//
// A declared exception is an error of the client's span. It is none of the server's, which has
// answered as its IDL says. All else that is not OK is an error of both. Both have an event
// "exception" for either kind.
//
// A method known by name only, as to a proxy without IDL, is called _OTHER, and its span has the
// name as rpc.method_original: whoever calls could otherwise invent metrics without bound. Those
// in [Options].Methods have their names. The spans of such methods do not tell declared
// exceptions.
package nocopyotel
