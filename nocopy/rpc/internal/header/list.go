package header

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Pair is a header. The case of letters in Key is as it was set or received; it does not count.
type Pair struct{ Key, Value string }

// List holds the headers of a request or a reply. Several may have the same key: the last counts.
type List []Pair

// Limits of a List, as of OpenTelemetry's agent for Java.
const (
	MaxPairs = 100
	MaxBytes = 8 << 10 // of keys and values
)

// Get returns the value of key, "" if there is none.
func (l List) Get(key string) string {
	for _, p := range slices.Backward(l) {
		if SameKey(p.Key, key) {
			return p.Value
		}
	}
	return ""
}

// Has reports whether there is a header with this key.
func (l List) Has(key string) bool {
	return slices.ContainsFunc(l, func(p Pair) bool { return SameKey(p.Key, key) })
}

// With returns a copy of l in which key has this value and comes last.
func (l List) With(key, value string) List {
	c := make(List, 0, len(l)+1)
	for _, p := range l {
		if !SameKey(p.Key, key) {
			c = append(c, p)
		}
	}
	return append(c, Pair{key, value})
}

// All iterates over keys and values.
func (l List) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, p := range l {
			if !yield(p.Key, p.Value) {
				return
			}
		}
	}
}

// Size returns how many bytes keys and values have.
func (l List) Size() (n int) {
	for _, p := range l {
		n += len(p.Key) + len(p.Value)
	}
	return n
}

// TooLarge reports whether l has more than a List may have.
func (l List) TooLarge() bool { return len(l) > MaxPairs || l.Size() > MaxBytes }

// Add adds a pair that was received, and reports whether there was room for it.
func (l *List) Add(key, value string) bool {
	if len(*l) == MaxPairs || l.Size()+len(key)+len(value) > MaxBytes {
		return false
	}
	*l = append(*l, Pair{key, value})
	return true
}

// lastToGo are the keys that are left out of a list that is too large only if nothing else is
// left.
var lastToGo = []string{"traceparent", TimeoutKey}

// TimeoutKey is the key of the time that is left for a call.
const TimeoutKey = "thrift-timeout"

// Merge returns the headers of own, and the headers of others whose keys own does not have. If
// they do not fit, the largest headers of others are left out. Headers of own with an empty value
// are left out too, and headers of others that can't be sent on every wire.
func Merge(others, own List) List {
	all := make(List, 0, len(others)+len(own))
	for _, p := range others {
		if !own.Has(p.Key) && Check(p.Key, p.Value) == nil {
			all = append(all, p)
		}
	}
	n := len(all)
	for _, p := range own {
		if p.Value != "" {
			all = append(all, p)
		}
	}
	for n > 0 && all.TooLarge() {
		largest := 0
		for i, p := range all[:n] {
			if weight(p) >= weight(all[largest]) {
				largest = i
			}
		}
		all = slices.Delete(all, largest, largest+1)
		n--
	}
	return all
}

// Fitting returns those headers of l for which there is room. The largest are left out. It sorts
// l.
func Fitting(l List) List {
	slices.SortFunc(l, func(a, b Pair) int { return cmp.Or(weight(a)-weight(b), strings.Compare(a.Key, b.Key)) })
	var fitting List
	for _, p := range l {
		if !fitting.Add(p.Key, p.Value) {
			break
		}
	}
	return fitting
}

// weight is larger for a pair that is to go first.
func weight(p Pair) int {
	if slices.ContainsFunc(lastToGo, func(key string) bool { return SameKey(key, p.Key) }) {
		return 0
	}
	return len(p.Key) + len(p.Value) + 1
}

// SameKey reports whether a and b are the same, without regard to the case of ASCII letters.
func SameKey(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if a[i] != b[i] && lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// reserved are keys, in lower case, whose values HTTP itself sets: they say where a message
// ends, what it is, or are for one connection.
var reserved = []string{
	"accept", "accept-encoding", "connection", "content-encoding", "content-length", "content-type", "date", "expect", "host", "keep-alive",
	"proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
}

// IsReserved reports whether HTTP itself sets the value of key.
func IsReserved(key string) bool {
	return slices.ContainsFunc(reserved, func(r string) bool { return SameKey(r, key) })
}

// Check returns an error if a header can't be sent on every wire.
func Check(key, value string) error {
	const marks = "!#$%&'*+-.^_`|~"
	for _, c := range []byte(key) {
		if l := lower(c); (l < 'a' || l > 'z') && (c < '0' || c > '9') && strings.IndexByte(marks, c) < 0 {
			return fmt.Errorf("header %q: its name has %q, which HTTP does not allow", shortened(key), rune(c))
		}
	}
	for _, c := range []byte(value) {
		if c < ' ' && c != '\t' || c == 0x7f {
			return fmt.Errorf("header %s: its value has %q, which HTTP does not allow", shortened(key), rune(c))
		}
	}
	switch {
	case key == "":
		return fmt.Errorf("a header without a name")
	case IsReserved(key):
		return fmt.Errorf("header %s: HTTP has a meaning of its own for this name", key)
	case value != "" && (isSpace(value[0]) || isSpace(value[len(value)-1])):
		return fmt.Errorf("header %s: its value begins or ends with a space, which HTTP drops", shortened(key))
	}
	return nil
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

func shortened(key string) string { return key[:min(len(key), 64)] }
