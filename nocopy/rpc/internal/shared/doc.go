// Package shared agrees with the other side of a connection on memory that both map, and says
// which messages are built there. Both halves of package rpc call it; messages that arrive there
// are received by package transport.
//
// The noun is a shm.Link, the memory of one connection:
//
//	client: Ask ──── call of Method, descriptor ────► Answer :server
//	            ◄─── its reply, descriptor ──────────
//
//	          Alone, Pipelined    smaller messages go over the socket
//	          Sizes.Place         room for a message that is expected to be large
//	          Own                 the slot that a message was built in
package shared
