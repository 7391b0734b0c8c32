package main

import (
	"net"
	"strings"
	"testing"
)

// TestRecordEnded: record's errors name no Go options once the server has ended a connection.
func TestRecordEnded(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			nc.Read(make([]byte, 4096)) // else the end may be a reset
			nc.Close()
		}
	}()
	file := t.TempDir() + "/calls.jsonl"
	proxy, stop := start(t, "record", l.Addr().String(), "-transport", "framed", "-protocol", "binary", "-idl", write(t, "shop.thrift", shopIDL), "-listen", "127.0.0.1:0", "-o", file)
	calls := write(t, "calls.jsonl", strings.Repeat("{\"method\": \"Shop.add\", \"args\": {\"a\": 1}}\n", 3))
	out, errs, _ := nocopy(t, "", "call", proxy, "-calls", calls, "-transport", "framed", "-protocol", "binary", "-idl", write(t, "shop.thrift", shopIDL))
	stop()
	if all := out + errs + readFile(t, file); strings.Contains(all, "rpc.") || !strings.Contains(all, "the connection has ended") {
		t.Error(all)
	}
}
