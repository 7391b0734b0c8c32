package main

// caller makes a call and returns the id and the size of the payload of the reply.
type caller func(id int64, payload []byte) (int64, int, error)

// peer is a library: a server that echoes, and clients.
type peer struct {
	name      string
	pipelines bool // many calls on one connection
	start     func() (addr string, err error)
	dial      func(addr string, conns, workers int) (callers []caller, stop func(), err error)
}

// overhead is the size of the arguments in Thrift without the payload.
const (
	action   = "store.put"
	overhead = 3 + (3 + 8) + (3 + 4 + len(action)) + (3 + 4) + 1 + 1
)

var peers = []peer{
	{"limit", true, startLimit, dialLimit},
	{"nocopy", true, startNocopy(false), dialNocopy(false)},
	{"nocopy/recycle", true, startNocopy(true), dialNocopy(true)},
	{"kitex", false, startKitex, dialKitex},
	{"apache", false, startApache, dialApache},
	{"grpc", true, startGRPC, dialGRPC},
}
