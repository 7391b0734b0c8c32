// Package client is the client's half of package rpc, below the types that programs see: it sends
// messages and receives the replies to them. It knows no handlers, interceptors or exceptions, and
// nothing of the server's half. ../../states.md has the states of calls and connections as tables,
// which the tests walk.
//
// The noun is a Carrier. Package rpc gives it a Call and parses the Reply:
//
//	Call ─► Pool  ─► connection ─► pending ─► a batch of calls ─► net.Conn
//	                     └──────── Reply, by its sequence id ◄────────┘
//	     ─► HTTP  ─► http.Client: a POST for each call, read once
//	     ─► Alone ─► a function of the program
//
//	pool.go    places for connections: which one a call gets, dialling anew
//	dial.go    making a connection, and ending it when it is idle or old
//	conn.go    a connection: its calls, how they end, why it fails
//	write.go   queued calls are written, in batches
//	turn.go    which goroutine reads replies
//	pending.go a call on a connection, and its bytes
package client
