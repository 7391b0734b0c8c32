package rpc

import (
	"github.com/nocopythrift/nocopythrift/internal/shm"
)

// SharedMemory lets messages go through memory that client and server share, if both ask for it.
// It needs Linux 5.14, unix sockets, and frames, and does not work with TLS. Its value says how a
// side treats the messages that it receives; the other side may choose differently. With the zero
// value the socket carries all bytes. It also carries them when no memory can be shared or the
// memory is full, and messages smaller than 32 KiB (16 KiB while other calls are under way).
type SharedMemory uint8

const (
	// CopyFromPeer copies a received message out of the shared memory before looking at it. The
	// message therefore stays as it was checked, whatever the peer does.
	CopyFromPeer SharedMemory = 1 + iota

	// TrustPeer uses received messages where they are, for peers that are trusted like this process
	// itself. The peer could change them at any time. It can't make this process read or write other
	// memory, but it can make it see values that were never checked, and panic. Messages to the peer
	// are built where it can see them, including values that are replaced before sending.
	//
	// TrustPeer implies Recycle, for all connections and also for the arguments of a client's calls.
	// Using values that were read from a message after its end may fault and end the process.
	// Messages that are not released keep their room. So do arguments of a call that was not made
	// because the function that fills them panicked.
	TrustPeer
)

func (m SharedMemory) apply(o *options) { o.shared = m }

// MaxShared limits the bytes of messages that each side of a connection has in shared memory at
// the same time. Further messages go over the socket. Memory that was used once stays with the
// connection. 0 means 32 MiB. The least is 64 KiB, the most 1 GiB.
type MaxShared int

func (n MaxShared) apply(o *options) { o.maxShared = int(n) }

const defaultMaxShared = 32 << 20

// mostLingering is for how many connections that have ended messages may keep the memory before
// new ones copy what they receive, also with TrustPeer.
const mostLingering = 64

// trusts reports whether messages of a new connection are used where they lie.
func (m SharedMemory) trusts() bool { return m == TrustPeer && shm.Lingering() < mostLingering }
