//go:build !nounsafe

package rpc_test

import (
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/shm"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// TestSharedOtherStyles: a client that asks for shared memory as clients of this package do, but
// in another style or on another transport, is answered in its style that the method is unknown.
// The connection is then as any other.
func TestSharedOtherStyles(t *testing.T) {
	const method = "nocopy.sharedMemory"
	path := serveUnix(t, &rpc.Server{SharedMemory: rpc.TrustPeer}, &handler{})
	asked := hello(1 << 20)
	args := asked[4+4+4+len(method)+4:]
	compactArgs := join([]byte{0x18}, args[6:]) // a text in field 1, of 9 bytes
	unknown := failure(method, 1)
	add, sum := strict(call, "add", 7, addArgs(40, 2)), strict(reply, "add", 7, sumResult(42))
	for name, c := range map[string]struct{ in, want, add, sum []byte }{
		"the old header": {frame(nonStrict(call, method, 0, args)), frame(nonStrict(exception, method, 0, unknown)), frame(add), frame(sum)},
		"without frames": {strict(call, method, 0, args), strict(exception, method, 0, unknown), add, sum},
		"Compact": {frame(compactly(call, method, 0, compactArgs)), frame(compactly(exception, method, 0, compactFailure(method, 1))),
			frame(add), frame(sum)},
		"THeader": {headed(0, 0, binaryHead, strict(call, method, 0, args)), headed(0, 0, binaryHead, strict(exception, method, 0, unknown)),
			headed(0, 7, binaryHead, add), headed(0, 7, binaryHead, sum)},
		"a oneway call": {frame(strict(oneway, method, 0, args)), frame(strict(exception, method, 0, unknown)), frame(add), frame(sum)},
	} {
		t.Run(name, func(t *testing.T) {
			nc := dialUnix(t, path)
			link, err := shm.New(1 << 20)
			if err != nil {
				t.Fatal(err)
			}
			defer link.Close()
			if err := shm.SendFD(nc, c.in, link.FD()); err != nil {
				t.Fatal(err)
			}
			expect(t, nc, c.want)
			for range 2 {
				send(t, nc, c.add)
				expect(t, nc, c.sum)
			}
		})
	}
	dialHostile(t, path) // which asks as it is meant
}
