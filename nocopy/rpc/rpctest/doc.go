// Package rpctest tests handlers and clients without a network: calls go through memory, from a
// Client to a Server, so that arguments, results, declared exceptions, interceptors, deadlines and
// lifetimes are as over a connection.
//
// [Serve] returns a client for a Server in a test. A fake service embeds the generated
// UnimplementedXHandler and has only the methods that the test needs; calls of others are answered
// as unknown methods. A [Recorder] keeps the calls that pass through it.
//
// Serve also reports required fields that were never set and would be sent empty.
//
// Nothing listens: no port and no file is used.
package rpctest
