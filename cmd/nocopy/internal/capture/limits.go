package capture

import "time"

// What a capture may make this package keep. Sizes are in bytes, and those of what is kept are of
// memory.
const (
	maxPacket  = 1 << 20  // a packet; tcpdump's is 256 KiB
	maxMessage = 32 << 20 // a message, in its frame and decompressed
	maxName    = 1 << 10  // a method's name
	maxPeek    = 2 << 10  // a message's header, with its name
	maxDepth   = 64       // nested structs and containers
	maxHead    = 64 << 10 // the head of an HTTP request or response
	maxWindow  = 1 << 30  // bytes that may be on their way (RFC 7323)

	maxConns = 4096 // connections that are followed at a time

	// Notes about a connection before its first message
	maxHeld     = 2
	maxHeldText = 500

	// Segments of a connection that wait for bytes before them. If these were acknowledged, they
	// are not sent again, and can only come late because packets were captured in another order.
	maxLate        = 256
	maxLateTime    = time.Second // of the capture
	maxQueued      = 1024
	maxQueuedBytes = 1 << 20

	// Calls that wait for their replies. One may be larger.
	maxPending       = 1 << 16
	maxPendingBytes  = 32 << 20
	maxPendingOfConn = 1 << 12

	// Incomplete messages and waiting segments of all connections
	maxKept = 40 << 20

	// What compressed messages become: one, and all of them in addition to maxRatio bytes for each
	// byte of the capture
	maxInflated      = 16 << 20
	maxInflatedOfAll = 32 << 20
	maxRatio         = 32

	// How far a connection is searched that was captured from its beginning, and does not begin with
	// a message
	maxPreamble = 64 << 10
)
