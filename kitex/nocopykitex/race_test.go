// What tests with the race detector do without.

//go:build race

package nocopykitex_test

import "github.com/cloudwego/kitex/pkg/rpcinfo"

// Kitex's gRPC client looks at what it knows of a call when the stream ends: after the call, when
// that may have been given to another.
func init() { rpcinfo.EnablePool(false) }
