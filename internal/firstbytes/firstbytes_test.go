package firstbytes

import (
	"slices"
	"testing"
)

// TestPrefixes: TLS and HTTP are known from as few bytes as the functions say, and nothing that
// follows changes it.
func TestPrefixes(t *testing.T) {
	for _, test := range []struct {
		name, text string
		least      int
		is         func([]byte) bool
	}{
		{"client hello", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 2, IsTLS},
		{"alert", "\x15\x03\x01\x00\x02\x02\x46", 5, IsTLS},
		{"request", "TRACE / HTTP/1.1\r\n", 4, IsHTTP},
		{"response", "HTTP/1.1 200 OK\r\n", 5, IsHTTP},
		{"HTTP/2", "PRI * HTTP/2.0\r\n", 4, IsHTTPRequest},
		{"compact call", "\x82\x21\x07\x03add", 2, BeginsCompactCall},
	} {
		for n := range len(test.text) + 1 {
			if got := test.is([]byte(test.text[:n])); got != (n >= test.least) {
				t.Errorf("%s, %d bytes: %v", test.name, n, got)
			}
		}
	}
	for _, text := range []string{
		"\x16\x03\x05",                 // no such version
		"\x16\x03\x01\x00\x02\x01",     // a record too short for a hello
		"\x16\x03\x01\x02\x00\x03",     // no hello
		"\x15\x03\x01\x00\x03\x02",     // no alert
		"\x17\x03\x03\x00\x20\x00",     // data that does not end with the bytes
		"GIT / HTTP/1.1", "get / HTTP", // no methods
		"\x82\x22\x07\x03add", "\x82\xa1", // of version 2, and of kind 5
	} {
		b := []byte(text)
		if IsTLS(b) || IsHTTP(b) || BeginsCompactCall(b) {
			t.Errorf("%q is taken for something", text)
		}
	}
}

// TestFieldTypes: a call without a version is followed by the header of a field or by a STOP.
func TestFieldTypes(t *testing.T) {
	types := []byte{0, 2, 3, 4, 6, 8, 10, 11, 12, 13, 14, 15, 16}
	for next := range 256 {
		call := append([]byte("\x00\x00\x00\x03add\x01\x00\x00\x00\x01"), byte(next), 0)
		if got, want := IsCall(call), slices.Contains(types, byte(next)); got != want {
			t.Errorf("type %d: %v", next, got)
		}
	}
}
