package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestUnknownException: a reply with an exception that the IDL does not know is a failure that
// names its field. Headers, and a newer server's return value, are none.
func TestUnknownException(t *testing.T) {
	idl := write(t, "s.thrift", "service S { void risky(), i32 add() }")
	for _, c := range []struct {
		method, result, stdout, stderr string
		code                           int
	}{
		{"risky", "\x00", "null", "", 0},
		{"risky", "\x08\x00\x00\x00\x00\x00\x01\x00", "null", "", 0},
		{"risky", "\x0c\x00\x00\x00\x00", "null", "", 0},
		{"risky", "\x0d\x22\xb8\x0b\x0b\x00\x00\x00\x01\x00\x00\x00\x01k\x00\x00\x00\x01v\x00", "null", "", 0},
		{"risky", "\x0c\x00\x03\x00\x00", "", "the reply to S.risky is an exception that the IDL does not know, in field 3", 1},
		{"add", "\x08\x00\x00\x00\x00\x00\x07\x00", "7", "", 0},
		{"add", "\x0c\x00\x03\x00\x00", "", "the reply to S.add is an exception that the IDL does not know, in field 3", 1},
		{"add", "\x00", "", "the reply to S.add has neither a result nor an exception that the IDL knows", 1},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "application/x-thrift")
			io.WriteString(w, "\x80\x01\x00\x02\x00\x00\x00"+string(rune(len(c.method)))+c.method+"\x00\x00\x00\x01"+c.result)
		}))
		stderr := c.stderr
		if stderr != "" {
			stderr = "nocopy: " + s.URL + ": " + stderr
		}
		want(t, c.code, c.stdout, stderr, "call", s.URL, "S."+c.method, "-idl", idl, "-protocol", "binary")
		s.Close()
	}
}
