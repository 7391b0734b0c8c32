// Package shm is memory that two processes on one host share, for messages between them: on Linux,
// and not with the tag nounsafe. It knows nothing of what the bytes mean.
//
// # The memory
//
// Each side of a connection makes one memfd, which it alone writes, and passes it to the other
// over their unix socket, once. The other checks that it is sealed, so that it can neither shrink
// nor be written by anybody but its maker, and maps it for reading only.
//
//	memfd of A   [ returned: a word for each slot of B ][ messages of A …            ]
//	memfd of B   [ returned: a word for each slot of A ][ messages of B …            ]
//
// A message lies in one piece, a slot: [Link.Place] gives room for it, [Slot.AppendPosition] tells
// where it is. That goes to the other side over the socket, which tells what comes after what, and
// when the peer is gone. [Link.Take] checks a position and returns the bytes. When these
// are no longer needed, [Taken.Return] stores the slot's generation in the word of the slot, which
// is in the memory of the side that has received; the side that has sent looks there when it
// needs room. Room is taken where it is free at the lowest address: memory that was used just now
// is still in the processor's caches.
//
// # What a peer can do
//
// It can change its messages at any time, also while they are read: whoever does not trust it
// copies them first and looks at the copy. It can say anything in positions, which are checked,
// and in the words, which only tell it to be given less or other memory of its own use. It can
// keep all slots: then Place finds no room. It can't take memory away: whatever is mapped was
// populated by madvise first, which returns an error where an access would be a SIGBUS.
//
// It can pass descriptors of anything over the socket, at any time, also where there is no shared
// memory. Closing some of them takes as long as the peer likes. So [Reader] receives all of them,
// asks whether they are sealed memory, and has the others closed by goroutines that nobody waits
// for; [CloseConn] and [CloseListener] do the same with what nobody has read or accepted.
//
// A slot is backed by fallocate before it is written to for the first time: where there is no
// memory left, Place finds no room, and nothing is a SIGBUS either.
//
// # Threads
//
// Any number of goroutines may use a Link at the same time. Its memory stays mapped until it is
// closed, every Slot and every Taken was returned.
package shm
