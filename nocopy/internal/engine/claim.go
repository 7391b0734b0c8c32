package engine

import (
	"errors"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// The arguments of a client's call are used by several parties: the call owns the message, and
// each connection that writes it retains it. Release by the owner takes effect once nobody
// retains the message any more.
//
// Message.claims holds the message's generation, so that a stale handle changes nothing, and
// below that the flags and the number of those that retain the message. It is 0 if the message
// was never offered.

const (
	isOffered   = 1 << 31     // Claim makes its caller the owner
	isClaiming  = 1 << 30     // a caller of Claim is about to become the owner
	isOwned     = 1 << 29     // the message has an owner
	retainCount = isOwned - 1 // the bits of the number of those that retain the message
)

// claims returns the value of Message.claims for the handle's generation with these flags.
func (s Struct) claims(flags uint64) uint64 { return s.k>>32<<32 | flags }

// Offer makes the message available to Claim. s is its root.
func (s Struct) Offer() {
	s.alive()
	s.m.claims.Store(s.claims(isOffered))
}

// Claim makes the caller the owner of the message and reports whether it could. It succeeds if the
// message was offered and can be finished, s is its root and d its type. If several callers try,
// one succeeds. A claimed message is finished.
func (s Struct) Claim(d *schema.Struct) bool {
	if s.m == nil || !s.m.claims.CompareAndSwap(s.claims(isOffered), s.claims(isClaiming)) {
		return false
	}
	if !s.m.isRoot(s.k, d) || s.m.Check() != nil {
		s.m.claims.Store(s.claims(isOffered))
		return false
	}
	s.m.claims.Store(s.claims(isOwned))
	return true
}

// Retain keeps the message until Drop, and reports whether it could. It can as long as the message
// has an owner. It looks at nothing else, which makes it safe however stale s is.
func (s Struct) Retain() bool {
	if s.m == nil {
		return false
	}
	for {
		h := s.m.claims.Load()
		if h&^retainCount != s.claims(isOwned) {
			return false
		}
		if s.m.claims.CompareAndSwap(h, h+1) {
			return true
		}
	}
}

// Drop ends what Retain began. After the owner's Release, the last Drop releases the message.
func (s Struct) Drop() {
	if s.m.claims.Add(^uint64(0)) == s.claims(0) {
		s.m.release()
	}
}

// ClaimCopy returns the root of a copy that the caller owns. It returns an error if s can't be
// sent, or if Is reports false for s and d. Any number of goroutines may copy one message. A copy
// links the bytes if they are many, unless some of them are in the caller's memory.
func (s Struct) ClaimCopy(d *schema.Struct) (Struct, error) {
	return s.claimCopy(d, Struct.linkOrClone)
}

// ClaimToSend returns the root of a message with the same contents. The caller owns it and may
// only send and release it. Pieces of 4 KiB and more are not copied. The errors are those of
// ClaimCopy.
func (s Struct) ClaimToSend(d *schema.Struct) (Struct, error) {
	return s.claimCopy(d, func(s Struct, _ *schema.Struct) Struct {
		return Struct(s.toSend(s.m.flags&Recycle|limited, s.m.limits, 0).Root())
	})
}

// claimCopy returns what make makes of s, owned by the caller. The error tells why there is none:
// s is not the root of a message of type d, was released, or can't be sent. The message is
// retained meanwhile.
func (s Struct) claimCopy(d *schema.Struct, make func(Struct, *schema.Struct) Struct) (Struct, error) {
	switch {
	case s.m == nil:
		return Struct{}, errNotWhole
	case s.Retain(): // or its owner might release it meanwhile
		defer s.Drop()
	case s.m.claims.Load()>>32 == s.k>>32 && s.m.claims.Load() != s.claims(isOffered):
		return Struct{}, errNotWhole // its owner has released it, or has only just become it
	}
	if !s.Is(d) {
		return Struct{}, errNotWhole
	}
	if err := s.Sendable(); err != nil {
		return Struct{}, err
	}
	c := make(s, d)
	c.Offer()
	c.Claim(d)
	return c, nil
}

var errNotWhole = errors.New("not a whole message of this type, or released")

// End releases a message that was offered or claimed, unless it was released already. If it is
// retained, the last Drop releases it.
func (s Struct) End() {
	if h := s.m.claims.Load(); h == s.claims(isOffered) || h&^retainCount == s.claims(isOwned) {
		s.m.Release()
	}
}

// unclaim ends the ownership of a message that was offered or claimed. It reports whether it has
// done so and nobody retains the message.
func (m *Message) unclaim() bool {
	for {
		h := m.claims.Load()
		if h&(isOffered|isOwned) == 0 {
			releasedTwice()
			return false
		}
		left := h &^ (isOffered | isOwned)
		if m.claims.CompareAndSwap(h, left) {
			return left&retainCount == 0
		}
	}
}

// Is reports whether s is the root of an unreleased message of type d. It is false for the handle
// of an absent struct. For a message that was offered, Is looks only at its claims, since the
// message may already be used for another one.
func (s Struct) Is(d *schema.Struct) bool {
	if s.m == nil {
		return false
	}
	h := s.m.claims.Load()
	switch age := int32(uint32(h>>32) - uint32(s.k>>32)); {
	case h == 0 || age < 0: // it was not offered
	case age > 0, h&(isOffered|isOwned) == 0:
		return false
	}
	return s.k>>32 == s.m.gen && s.m.isRoot(s.k, d)
}

// isRoot reports whether k is the root's handle and d its type.
func (m *Message) isRoot(k uint64, d *schema.Struct) bool {
	return !m.frozen && uint32(k) == m.root && m.desc == d
}

// Freeze keeps the message's bytes as they are while they are being written. Later setters write
// elsewhere. Other goroutines may read the message meanwhile.
func (s Struct) Freeze() { s.m.buf.Freeze() }
