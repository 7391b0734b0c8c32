//go:build !linux

package rpc

import (
	"net"
	"time"
)

// peerState asks the system about the other end of a connection. Here it knows nothing.
func peerState(net.Conn) (eof, reset bool) { return false, false }

// setUserTimeout does nothing here.
func setUserTimeout(net.Conn, time.Duration) {}
