// Package message reads and writes the header of a Thrift message. Package rpc and its parts call
// it.
//
// The noun is a Header. It comes before the struct of arguments or of a result:
//
//	strict    80 01 00 TT | length of name | name | sequence id | struct …
//	old              length of name | name | TT | sequence id | struct …
//	compact  82 | TT | sequence id | length of name | name | struct …
//
// In the compact protocol, numbers are varints, and TT has the type in its upper 3 bits and the
// protocol's version, 1, below.
//
// A THeader may come before it in a frame. The package knows neither frames nor connections: those
// are package transport's.
package message
