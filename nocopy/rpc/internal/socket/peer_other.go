//go:build !linux

package socket

import (
	"net"
	"time"
)

// PeerState asks the system about the other end of a connection. Here it knows nothing.
func PeerState(net.Conn) (eof, reset bool) { return false, false }

// SetUserTimeout does nothing here.
func SetUserTimeout(net.Conn, time.Duration) {}
