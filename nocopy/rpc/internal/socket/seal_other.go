//go:build !linux

package socket

import (
	"net"
	"time"
)

// Seal reports false: it can't make this system drop the data that comes from now on.
func Seal(net.Conn) bool { return false }

// AcceptLeft would call f with each connection that waits to be accepted. Here it can't know.
func AcceptLeft(net.Listener, time.Duration, func(net.Conn)) {}

// AckedBefore returns -1: this system does not tell which bytes the other end has acknowledged.
func AckedBefore(net.Conn) int64 { return -1 }

// MayKnow reports false: Reached knows nothing here.
func MayKnow(net.Conn) bool { return false }

// Reached returns how many of the n bytes that were written to a connection that has failed may
// have reached the other end. Here all of them may.
func Reached(_ net.Conn, n, _ int64, _, _ error) int64 { return n }
