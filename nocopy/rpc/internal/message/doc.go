// Package message reads and writes the header of a Thrift message in the binary protocol. Package
// rpc and its parts call it.
//
// The noun is a Header. It comes before the struct of arguments or of a result:
//
//	strict    80 01 00 TT | length of name | name | sequence id | struct …
//	old              length of name | name | TT | sequence id | struct …
//
// It knows neither frames nor connections: those are package transport's.
package message
