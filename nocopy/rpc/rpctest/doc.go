// Package rpctest tests handlers and clients without a network: calls go through memory, from a
// Client to a Server, so that arguments, results, declared exceptions, interceptors, deadlines and
// lifetimes are as over a connection.
//
// [Serve] returns a client for a Server in a test. A handler that embeds the generated Handler
// interface and has only some of its methods is a fake service; a call of any other method is an
// internal error. A [Recorder] keeps the calls that pass through it.
//
// Nothing listens: no port and no file is used.
package rpctest
