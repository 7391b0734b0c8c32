//go:build !linux

package rpc

import "net"

// seal would make the system drop what comes from now on. Here it can't, and reports false.
func seal(net.Conn) bool { return false }

// acceptLeft would call f with each connection that waits to be accepted. Here it can't know.
func acceptLeft(net.Listener, func(net.Conn)) {}

// ackedBefore returns -1: what the other end has acknowledged is not known here.
func ackedBefore(net.Conn) int64 { return -1 }

// reached returns how many of the n bytes that were written to a connection that has failed may
// have reached the other end. Here all of them may.
func reached(_ net.Conn, n, _ int64, _, _ error) int64 { return n }
