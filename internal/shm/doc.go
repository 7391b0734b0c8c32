// Package shm provides memory that two processes on one host share, for messages between them. It
// works on Linux, without the tag nounsafe. The bytes may have any meaning.
//
// # The memory
//
// Each side of a connection makes one memfd, which only it writes, and passes it once to the other
// side over their unix socket. The other side checks that the memfd is sealed, so that it cannot
// shrink and only its maker can write it, and maps it read-only.
//
//	memfd of A   [ returned: a word for each slot of B ][ messages of A …            ]
//	memfd of B   [ returned: a word for each slot of A ][ messages of B …            ]
//
// A message lies in one piece, a slot. [Link.Place] returns room for it, and [Slot.AppendPosition]
// encodes its position. The position is sent over the socket, which preserves the order of
// messages and shows when the peer is gone. The receiver calls [Link.Take], which checks the
// position and returns the bytes. When they are no longer needed, [Taken.Return] stores the slot's
// generation in the word of the slot, which is in the receiver's memory. The sender looks there
// when it needs room. Place takes the free room at the lowest address, since recently used memory
// is still in the processor's caches.
//
// # What a peer can do
//
// It can change its messages at any time, even while they are read. A program that does not trust
// the peer copies a message first and reads the copy. The peer can send any position: Take checks
// it. It can store anything in the words: they only decide which room for messages to this peer is
// used again. It can keep all slots: Place then finds no room. It cannot take memory away: madvise
// populates memory before it is used, and returns an error where an access would be a SIGBUS.
//
// It can pass descriptors of anything over the socket at any time, even if no shared memory is in
// use. Closing some descriptors takes as long as the peer likes. [Reader] therefore receives all
// descriptors, keeps sealed memory, and has the others closed by goroutines that nobody waits for.
// [CloseConn] and [CloseListener] do the same with descriptors in bytes that were never read, and
// on connections that were never accepted.
//
// fallocate allocates the memory of a slot before the first write. If no memory is left, Place
// finds no room, and there is no SIGBUS here either.
//
// # Threads
//
// Any number of goroutines may use a Link at the same time. Its memory stays mapped until it is
// closed and every Slot and every Taken was returned.
package shm
