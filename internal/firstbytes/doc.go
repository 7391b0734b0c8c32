// Package firstbytes recognizes protocols by their first bytes: a frame or a call of Thrift, TLS,
// HTTP, JSON.
//
//	00 00 00 2a  80 01 00 01 …   a frame with a call
//	82 21 …                      a call in the compact protocol
//	16 03 01 …                   TLS
//	{"id":1, …                   JSON
//
// The parser calls it for the text of an error, rpc to tell a peer of another protocol what it
// speaks, inspect to find the form of a stream. These callers have different numbers
// of bytes at hand, and check more of Thrift themselves. This package only looks at first bytes.
package firstbytes
