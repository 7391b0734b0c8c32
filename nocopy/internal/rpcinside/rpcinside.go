// Package rpcinside lets the tests of package rpc that are in another module see a little of its
// inside. Package rpc sets the variables before any test runs. Programs have no use for them.
package rpcinside

// A Client is the state of an rpc.Client.
type Client struct {
	InFlight int // calls in flight
	Using    int // uses of connections by calls
	Queued   int // calls that wait for others to be written
	Writing  int // calls that are being written
	Linked   int // connections with shared memory
}

var (
	// OfClient returns the state of an *rpc.Client.
	OfClient func(client any) Client
	// OfServer returns how many connections an *rpc.Server serves and how many slots are taken.
	OfServer func(server any) (conns, slots int)
	// Methods returns how many methods an rpc.Caller by MultiplexedCaller keeps.
	Methods func(caller any) int
	// AloneBefore points to how many two-way calls, one after the other, must have been alone on a
	// connection before calls read their own replies.
	AloneBefore *int
	// KnowsUnread reports whether a client knows which calls had not arrived when the server closed
	// a TCP connection.
	KnowsUnread bool
)
