// Settings for tests with the race detector.

//go:build race

package nocopykitex_test

import "github.com/cloudwego/kitex/pkg/rpcinfo"

// Kitex's gRPC client reads its RPCInfo when the stream ends. That is after the call, when the
// pool may have given the RPCInfo to another call.
func init() { rpcinfo.EnablePool(false) }
