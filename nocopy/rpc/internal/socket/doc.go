// Package socket asks the system about connections, and tells it what to do with them, beyond what
// package net has. Package rpc and its parts call it.
//
// The noun is a net.Conn, of which it is not known what it is:
//
//	*tls.Conn ─► the program's own ─► *net.TCPConn or *net.UnixConn ─► the system's socket
//	             may panic            Underlying                       what is asked here
//
// Where there is no such socket, or on other systems than Linux, the answer is that nothing is
// known. Nothing here reads a connection of its own accord. conn.go has what holds for all
// systems; the other files have a twin for those that lack it.
package socket
