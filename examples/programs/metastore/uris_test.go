package main

import (
	"net"
	"strings"
	"testing"
)

// TestURIs: a command finds the metastore that answers. If none does, the error names them all.
func TestURIs(t *testing.T) {
	var gone [2]string
	for i := range gone {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		gone[i] = l.Addr().String()
		l.Close()
	}
	addr := serveFake(t, newFake(t, 1))
	for range 10 { // the order is random
		if out, err := command(t, "thrift://"+gone[0]+", thrift://"+addr, false, "databases"); err != nil || out == "" {
			t.Error(out, err)
		}
	}
	_, err := command(t, gone[0]+",thrift://"+gone[1], false, "databases")
	if err == nil || !strings.Contains(err.Error(), gone[0]) || !strings.Contains(err.Error(), gone[1]) {
		t.Error(err)
	}
}
