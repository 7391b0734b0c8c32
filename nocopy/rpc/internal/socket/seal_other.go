//go:build !linux

package socket

import (
	"crypto/tls"
	"net"
	"time"
)

// Seal reports false: it can't make this system drop the data that comes from now on.
func Seal(net.Conn) bool { return false }

// AcceptLeft would call f with each connection that waits to be accepted. Here it can't know.
func AcceptLeft(net.Listener, time.Duration, func(net.Conn)) {}

// Count returns nc. This system does not say which bytes the other end has acknowledged.
func Count(nc net.Conn, _ *tls.Config) net.Conn { return nc }

// uncounted returns nc.
func uncounted(nc net.Conn) net.Conn { return nc }

// Begin returns -1, and does nothing.
func Begin(net.Conn) int64 { return -1 }

// Wrote does nothing.
func Wrote(net.Conn, int64) {}

// MayKnow reports false: Reached knows nothing here.
func MayKnow(net.Conn) bool { return false }

// Reached returns how many of the n bytes that were written to a connection that has failed may
// have reached the other end. Here all of them may.
func Reached(_ net.Conn, n, _ int64, _, _ error) int64 { return n }
