// Package socket asks the system about connections, and tells it what to do with them, beyond what
// package net has. Package rpc and its parts call it.
//
// The noun is a net.Conn of unknown type:
//
//	*tls.Conn ─► the program's own ─► *net.TCPConn or *net.UnixConn ─► the system's socket
//	             may panic            Underlying                       what is asked here
//
// If there is no such socket, or the system is not Linux, the answer is that nothing is known.
// Nothing here reads a connection of its own accord. conn.go is for all systems; each of the other
// files has a twin for systems without its calls.
package socket
