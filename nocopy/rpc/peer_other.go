//go:build !linux

package rpc

import (
	"net"
	"time"
)

// peerState asks the system about the other end of a connection. Here it knows nothing.
func peerState(net.Conn) (eof, reset bool) { return false, false }

// hasBytes reports whether bytes have arrived that were not read. Here it knows nothing.
func hasBytes(net.Conn) bool { return false }

// setUserTimeout does nothing here.
func setUserTimeout(net.Conn, time.Duration) {}
