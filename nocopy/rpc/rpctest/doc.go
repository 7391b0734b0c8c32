// Package rpctest tests handlers and clients without a network. Calls go from a Client to a Server
// through memory. Arguments, results, declared exceptions, interceptors, deadlines and lifetimes
// behave as over a connection.
//
// [Serve] returns a client for a Server in a test. A fake service embeds the generated
// UnimplementedXHandler and has only the methods that the test needs. Calls of other methods are
// answered as unknown. A [Recorder] keeps the calls that pass through it.
//
// Required fields that were never set, and would be sent empty, are errors of the test.
//
// It uses no ports and no files.
package rpctest
