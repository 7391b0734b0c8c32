// Package server is the server's half of package rpc, below the types that programs see: it
// accepts connections, receives requests and writes the replies to them. It knows no handlers,
// interceptors or exceptions, and nothing of the client's half. ../../states.md has the states of
// requests and connections as tables.
//
// The noun is a Request. Package rpc makes it (Calls) and sets its Reply (Call):
//
//	net.Conn ─► connection ─► Calls.Begin ─► arguments ─► Call.Take, Call.Handle
//	               └──────────── Request.Reply, in order ◄───────┘
//	a request of HTTP ─► exchange ─┐
//	a message alone   ─► single   ─┴─► the same
//
//	server.go   accepting connections, and ending
//	setup.go    a connection before its first request
//	conn.go     a connection: whose turn it is to read, and its replies
//	reader.go   its Receiver, and until when it waits for requests
//	read.go     the goroutine that reads, when no request comes
//	handle.go   a request of a connection
//	request.go  what all ways of calling have in common
//	admission.go  how many calls of all connections are handled, and wait, at the same time
//	httpconn.go, exchange.go, alone.go   calls over HTTP, and as single messages
package server
