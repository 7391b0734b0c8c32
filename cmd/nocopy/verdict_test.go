package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// getCall returns a framed call of Store.get with a key.
func getCall(key string, seqid uint32) []byte {
	return framed("get", seqid, append(append([]byte{11, 0, 1, 0, 0, 0, byte(len(key))}, key...), 0)...)
}

// item is a result of Store.get that keeps to the IDL.
var item = []byte{12, 0, 0, 11, 0, 1, 0, 0, 0, 1, 'a', 8, 0, 2, 0, 0, 0, 5, 0, 0}

// awaitReply reads a framed reply; nil if the connection has ended.
func awaitReply(nc net.Conn) []byte {
	head := make([]byte, 4)
	if _, err := io.ReadFull(nc, head); err != nil {
		return nil
	}
	body := make([]byte, binary.BigEndian.Uint32(head))
	io.ReadFull(nc, body)
	return body
}

// TestVerdict: -fail gives 100 for replies without a call and for those that are cut off, and 1 if
// nothing has shown that the server keeps to the IDL. Calls without an answer are counted.
func TestVerdict(t *testing.T) {
	idl := write(t, "kept.thrift", keptIDL)
	server := answerWith(t, func(b []byte) []byte {
		answer := reply(b, item)
		switch key := string(b[26 : len(b)-1]); key {
		case "twice":
			return append(answer, answer...)
		case "both":
			return reply(b, append(append(item[:len(item)-1:len(item)-1], 12, 0, 1, 8, 0, 1, 0, 0, 1, 0x95, 0), 0))
		case "more":
			return reply(b, append(append(item[:len(item)-1:len(item)-1], 8, 0, 3, 0, 0, 0, 1), 0))
		case "half":
			return answer[:20]
		case "silence":
			return []byte{}
		}
		return answer
	}, true)
	for _, c := range []struct {
		keys       string
		code       int
		says       string
		unanswered int
		kind, path string
	}{
		{"", 1, "no call went by", 0, "", ""}, {"fine", 0, "nothing in 1 calls breaks the IDL", 0, "", ""},
		{"twice fine", 100, "get: a reply that no call waits for (client 127.0.0.1:", 0, "stray-reply", ""},
		{"both", 100, "2 of result and exceptions are set", 0, "two-results", "reply"}, {"more", 100, "no such field (i32)", 0, "unknown-field", "reply.3"},
		{"half", 100, "", 1, "malformed", ""}, {"silence", 1, "1 of 1 calls got no answer", 1, "", ""},
	} {
		timeout := "1m" // a slow machine is no reason to fail
		if c.unanswered > 0 {
			timeout = "1s"
		}
		code, said, found := verifyInto(t, os.DevNull, server, idl, 0, func(proxy string) {
			nc, err := net.Dial("tcp", proxy)
			if err != nil {
				t.Error(err)
				return
			}
			defer nc.Close()
			nc.SetDeadline(time.Now().Add(time.Minute))
			for i, key := range strings.Fields(c.keys) {
				nc.Write(getCall(key, uint32(i+1)))
				if awaitReply(nc) == nil {
					t.Errorf("%s: no reply", c.keys)
				}
			}
		}, "-timeout", timeout)
		// The time of the call may be over before that of the message.
		if c.keys == "half" && len(found.Findings) == 0 && code == 1 {
			continue
		}
		kind, path := "", ""
		if len(found.Findings) > 0 {
			kind, path = found.Findings[0].Kind, found.Findings[0].Path
		}
		if code != c.code || !strings.Contains(said, c.says) || found.Unanswered != c.unanswered || kind != c.kind || path != c.path {
			t.Errorf("%q: %d, %d without an answer, %s %s\n%s", c.keys, code, found.Unanswered, kind, path, said)
		}
	}
	// A server that is gone. Errors on demand are answers of this tool.
	for _, method := range []string{"get", "note"} {
		gone, stop := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0")
		code, said, found := verifyInto(t, os.DevNull, gone, idl, 1, func(proxy string) {
			stop()
			nocopy(t, "", "call", proxy, method, "-idl", idl, "-transport", "framed", "-protocol", "binary")
		})
		if code != 1 || found.Unanswered != 1 || !strings.Contains(said, "1 of 1 calls got no answer") {
			t.Errorf("%s: %d %s", method, code, said)
		}
	}
}

// TestRecordCounts: the file has the calls that are counted, those without an answer at the end
// included, and -n of them, not more.
func TestRecordCounts(t *testing.T) {
	idl := write(t, "kept.thrift", keptIDL)
	file := filepath.Join(t.TempDir(), "calls.jsonl")
	lines := func() int { return strings.Count(readFile(t, file), "\n") }
	const clients = 5
	calls := func(proxy string, arrived <-chan bool) {
		for i := range clients {
			nc, err := net.Dial("tcp", proxy)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { nc.Close() })
			nc.Write(getCall(fmt.Sprint(i), 1))
		}
		for range clients {
			<-arrived
		}
	}
	arrived, answer := make(chan bool), make(chan bool)
	server := answerWith(t, func(b []byte) []byte {
		arrived <- true
		<-answer
		return reply(b, item)
	}, true)
	code, said, found := verifyInto(t, file, server, idl, 0, func(proxy string) { calls(proxy, arrived) })
	if code != 1 || lines() != clients || found.Calls != clients || found.UnderWay != clients || found.Unanswered != 0 || !strings.Contains(said, "\n5 calls recorded\n") ||
		!strings.Contains(said, "nothing in 5 calls breaks the IDL, 5 under way when") || strings.Count(readFile(t, file), `"failed":"the recording ended before the answer"`) != clients {
		t.Errorf("%d, %d lines, %+v\n%s", code, lines(), found, said)
	}
	os.Remove(file)
	code, said, found = verifyInto(t, file, server, idl, 1, func(proxy string) { calls(proxy, arrived); close(answer) })
	if code != 0 || lines() != 1 || found.Calls != 1 || !strings.Contains(said, "\n1 calls recorded\n") {
		t.Errorf("%d, %d lines, %+v\n%s", code, lines(), found, said)
	}
}

// TestRecordHalf: half a line at a file's end is not appended to. A recording that could not be
// written is an error, and has no more after the line that failed.
func TestRecordHalf(t *testing.T) {
	idl := write(t, "kept.thrift", keptIDL)
	server, _ := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0")
	half := write(t, "half.jsonl", `{"method":"Store.get","ar`)
	if _, errs, code := nocopy(t, "", "record", server, "-listen", "127.0.0.1:0", "-idl", idl, "-o", half, "-append"); code != 1 || !strings.Contains(errs, "half.jsonl does not end with the end of a line") {
		t.Errorf("%d %s", code, errs)
	}
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip(err)
	}
	code, said, found := verifyInto(t, "/dev/full", server, idl, 0, func(proxy string) {
		for range 2 {
			nocopy(t, "", "call", proxy, "get", "-idl", idl, "-transport", "framed", "-protocol", "binary")
		}
	}, "-append")
	if code != 1 || found.Calls != 2 || !strings.Contains(said, "\n0 calls recorded\n") || !strings.Contains(said, "the recording lacks 2 of 2 calls: write /dev/full") {
		t.Errorf("%d %s", code, said)
	}
}

// TestRecordMaxFrame: -max-frame is for calls and replies.
func TestRecordMaxFrame(t *testing.T) {
	idl := write(t, "kept.thrift", keptIDL)
	server, _ := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0")
	for bytes, want := range map[string]int{"1000": 1, "100000": 0} {
		proxy, _ := start(t, "record", server, "-listen", "127.0.0.1:0", "-idl", idl, "-o", os.DevNull, "-max-frame", bytes)
		if _, errs, code := nocopy(t, "", "call", proxy, "only", "-raw", "2:str="+strings.Repeat("x", 50_000), "-transport", "framed", "-protocol", "binary"); (code == 0) != (want == 0) {
			t.Errorf("-max-frame %s: %d %s", bytes, code, errs)
		}
	}
}

// TestAnswersOfBytes: a mock leaves lines out whose calls are bytes, and says which.
func TestAnswersOfBytes(t *testing.T) {
	idl, answers := write(t, "kept.thrift", keptIDL), write(t, "answers.jsonl", `{"method":"Store.get","failed":"it is not UTF-8","rawArgs":"AA==","rawReply":"AA=="}
{"method":"Store.get","result":{"name":"b","count":7}}
`)
	addr, stop := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0", "-answers", answers)
	if out, errs, code := nocopy(t, "", "call", addr, "get"); code != 0 || !strings.Contains(out, `"count": 7`) {
		t.Errorf("%d %s%s", code, out, errs)
	}
	if _, errs := stop(); !strings.Contains(errs, "answers.jsonl: left out, since they have bytes that do not fit the IDL, or were recorded without it: lines 1\n") {
		t.Error(errs)
	}
	only := write(t, "bytes.jsonl", `{"method":"get","rawArgs":"AA==","rawReply":"AA=="}`)
	if _, errs, code := nocopy(t, "", "mock", "-idl", idl, "-listen", "127.0.0.1:0", "-answers", only); code != 1 || !strings.Contains(errs, "bytes.jsonl has no answers: it was recorded without IDL") {
		t.Errorf("%d %s", code, errs)
	}
}
