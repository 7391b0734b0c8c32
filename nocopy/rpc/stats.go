package rpc

import (
	"time"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/linkbuf"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/stats"
)

// Stats are functions that a Server calls to count events, and a Client that has them as an
// option. Any of them may be nil. Without Stats nothing is measured. The goroutines that carry
// calls call them, several at the same time. They must neither wait nor end their goroutine. A
// panic is recovered; the first one is logged. Stats must not be changed once they are in use.
type Stats struct {
	// Conns is called with 1 when a connection was made, and with −1 when nothing uses it any more.
	Conns func(delta int)
	// InFlight is called with 1 and −1. On a server, these mark when the outermost interceptor, or
	// the handler if there is none, is called and returns. On a client, they mark when a call, or a
	// try of it, gets its place among MaxInFlight, and when it ends.
	InFlight func(delta int)
	// Queued is called once per call, with the time that it has waited. On a server, that is the time
	// from the arrival of its last byte until it is handled. On a client, it is the time until the
	// call is written: waiting for a place among MaxInFlight, for a connection, and for other calls
	// to be written. A client's call that is never written is not counted.
	Queued func(time.Duration)
	// Received is called with the number of bytes read from a connection. Sent is called with the
	// number of bytes written, and how many of them were sent without copying. Both include headers,
	// frames, and messages in shared memory. With TLS they count bytes before encryption. Over HTTP,
	// they count the bodies of requests and responses.
	Received func(bytes int)
	Sent     func(linkbuf.Stats)
	// Converted is called with the number of bytes in Thrift Binary of a struct that was received or
	// sent in another form, such as the compact protocol. They were copied, and Sent does not count
	// them as sent without copying.
	Converted func(bytes int)
	// Refused is called on a server when a message is not handled, with the type of the answer, such
	// as UnknownMethod. Interceptors do not see such messages.
	Refused func(ExceptionType)
}

func (s *Stats) apply(o *options) {
	if s == nil {
		panic("nocopy: a nil *rpc.Stats as an Option")
	}
	o.stats = s.hook(o.warn)
}

// BlockStats counts the blocks of memory for messages in this process, both recycled blocks and
// those left to the garbage collector.
type BlockStats struct {
	Taken    uint64 // from the pools, or made because they were empty
	Returned uint64 // to the pools; others are in use or left to the garbage collector
}

// ReadBlockStats returns the counts since the first Server or Client in the process got Stats.
func ReadBlockStats() BlockStats {
	taken, returned := chain.Blocks()
	return BlockStats{Taken: taken, Returned: returned}
}

// hook returns a Hook that calls the functions of s; nil if s is nil. The first panic is logged
// with log.
func (s *Stats) hook(log func(what string, args ...any)) *stats.Hook {
	if s == nil {
		return nil
	}
	f := stats.Functions{Conns: s.Conns, InFlight: s.InFlight, Queued: s.Queued, Received: s.Received, Sent: s.Sent, Converted: s.Converted}
	if refused := s.Refused; refused != nil {
		f.Refused = func(t int32) { refused(ExceptionType(t)) }
	}
	return stats.New(f, func(args ...any) { log("a function of Stats panicked", args...) })
}
