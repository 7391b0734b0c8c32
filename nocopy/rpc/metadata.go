package rpc

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy"
)

// MetadataField is the id of the field of a call's arguments with its Metadata.
const MetadataField = 8888

// Metadata holds pairs of keys and values that are sent with a call and are not in its IDL, such
// as the time that is left ([Deadlines]) and a trace. They are in field 8888 of the arguments, a
// map<string,string>; peers that do not know it skip it. OpenTelemetry's and SkyWalking's agents
// for Java use the same field. [Call.Metadata] and [Call.SetMetadata] read and write it.
//
// If a key comes several times, the last value counts. If the field comes several times, the first
// one counts. A map of more than 100 pairs, or more than 8 KiB of keys and values, is ignored when
// received and is never sent. A field of another type is ignored. A field 8888 that the IDL
// declares belongs to the program: it is neither read nor written.
type Metadata struct{ pairs []pair }

type pair struct{ key, value string }

// The most that Metadata may have, as of OpenTelemetry's agent for Java.
const (
	maxPairs     = 100
	maxPairBytes = 8 << 10 // of keys and values
)

// Metadata returns a copy of the metadata in the call's arguments: on a server what the client has
// sent, on a client what will be sent. It is empty if there is none.
func (c *Call) Metadata() *Metadata {
	if c.Method == nil || c.Method.Args.NumberByID(MetadataField) >= 0 {
		return new(Metadata)
	}
	v, _ := c.Field(MetadataField)
	pairs, _ := decodePairs(v)
	return &Metadata{pairs}
}

// SetMetadata puts m into the call's arguments, as SetField does for one field. If m is empty, the
// arguments get none. If m is too large, its largest values are left out until it fits.
// SetMetadata does nothing and returns false if the arguments' type has a field 8888.
func (c *Call) SetMetadata(m *Metadata) bool {
	wire := m.encode()
	if wire == nil {
		return c.RemoveField(MetadataField)
	}
	return c.SetField(MetadataField, nocopy.WireMap, wire)
}

// Get returns the value of key, or "" if there is none.
func (m *Metadata) Get(key string) string {
	for _, p := range slices.Backward(m.pairs) { // the last of several counts
		if p.key == key {
			return p.value
		}
	}
	return ""
}

// Set sets the value of key.
func (m *Metadata) Set(key, value string) {
	m.Remove(key)
	m.pairs = append(m.pairs, pair{key, value})
}

// Remove removes key.
func (m *Metadata) Remove(key string) {
	m.pairs = slices.DeleteFunc(m.pairs, func(p pair) bool { return p.key == key })
}

// Keys returns all keys. Metadata from a peer may have the same key several times.
func (m *Metadata) Keys() []string {
	keys := make([]string, len(m.pairs))
	for i, p := range m.pairs {
		keys[i] = p.key
	}
	return keys
}

// Len returns the number of pairs.
func (m *Metadata) Len() int { return len(m.pairs) }

// decodePairs returns the pairs of v, and whether it is a map of strings within the limits.
func decodePairs(v nocopy.Value) ([]pair, bool) {
	const header, length = 6, 4
	b := v.Raw()
	if v.Type != nocopy.WireMap || len(b) < header || v.Len() > maxPairs || v.Len() < 0 {
		return nil, false
	}
	if nocopy.WireType(b[0]) != nocopy.WireString || nocopy.WireType(b[1]) != nocopy.WireString {
		return nil, false
	}
	if len(b) > header+maxPairs*2*length+maxPairBytes {
		return nil, false
	}
	text := string(b) // all strings are parts of it
	at, left := header, maxPairBytes
	next := func() (string, bool) {
		if len(b)-at < length {
			return "", false
		}
		n := binary.BigEndian.Uint32(b[at:])
		if n > uint32(left) || int(n) > len(b)-at-length {
			return "", false
		}
		s := text[at+length:][:n]
		at, left = at+length+int(n), left-int(n)
		return s, true
	}
	pairs := make([]pair, v.Len())
	for i := range pairs {
		key, ok1 := next()
		value, ok2 := next()
		if !ok1 || !ok2 {
			return nil, false
		}
		pairs[i] = pair{key, value}
	}
	return pairs, at == len(b)
}

// lastToGo are the keys that are left out of a map that is too large only if nothing else is left.
var lastToGo = []string{"traceparent", TimeoutKey}

// encode returns the wire bytes of the map, without what is too much; nil if it is empty.
func (m *Metadata) encode() []byte {
	pairs := slices.Clone(m.pairs)
	size := func() (n int) {
		for _, p := range pairs {
			n += len(p.key) + len(p.value)
		}
		return n
	}
	for len(pairs) > maxPairs || size() > maxPairBytes {
		largest := 0
		weight := func(p pair) int {
			if slices.Contains(lastToGo, p.key) {
				return 0
			}
			return len(p.key) + len(p.value) + 1
		}
		for i := range pairs {
			if weight(pairs[i]) >= weight(pairs[largest]) {
				largest = i
			}
		}
		pairs = slices.Delete(pairs, largest, largest+1)
	}
	if len(pairs) == 0 {
		return nil
	}
	b := append(make([]byte, 0, 6+8*len(pairs)+size()), byte(nocopy.WireString), byte(nocopy.WireString))
	b = binary.BigEndian.AppendUint32(b, uint32(len(pairs)))
	for _, p := range pairs {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(p.key))), p.key...)
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(p.value))), p.value...)
	}
	return b
}

// TimeoutKey is the key in Metadata of the time that was left for a call when it was sent. The
// value has the form of grpc-timeout: one to eight digits and a unit, H, M, S, m, u or n for hours
// to nanoseconds.
const TimeoutKey = "thrift-timeout"

// Timeout returns the time that is left for the call, and whether m has it. It has none if there
// is no TimeoutKey, or if its value has another form. A time that is longer than a Duration can
// hold gives the longest Duration.
func (m *Metadata) Timeout() (time.Duration, bool) { return parseTimeout(m.Get(TimeoutKey)) }

// SetTimeout sets the time that is left for the call, rounded up to eight digits. If d is
// negative, it sets 0.
func (m *Metadata) SetTimeout(d time.Duration) { m.Set(TimeoutKey, formatTimeout(d)) }

// WithTimeout returns a copy of ctx that ends after the time in m. If ctx ends earlier, or m has
// no time, it ends with ctx. The caller must call cancel to free resources, as with
// context.WithTimeout.
func (m *Metadata) WithTimeout(ctx context.Context) (_ context.Context, cancel context.CancelFunc) {
	d, ok := m.Timeout()
	if !ok || d == math.MaxInt64 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, d)
}

var timeoutUnits = []struct {
	name byte
	unit time.Duration
}{{'n', time.Nanosecond}, {'u', time.Microsecond}, {'m', time.Millisecond}, {'S', time.Second}, {'M', time.Minute}, {'H', time.Hour}}

const maxDigits = 8

// formatTimeout returns d, rounded up, in the smallest unit in which it has up to eight digits.
func formatTimeout(d time.Duration) string {
	d = max(d, 0)
	for _, u := range timeoutUnits {
		n := d / u.unit
		if d%u.unit > 0 {
			n++
		}
		if n < 1e8 {
			return strconv.FormatInt(int64(n), 10) + string(u.name)
		}
	}
	panic("unreachable: a Duration has fewer than 1e8 hours")
}

// parseTimeout returns the time that s is, and whether it is one.
func parseTimeout(s string) (time.Duration, bool) {
	if len(s) < 2 || len(s) > maxDigits+1 {
		return 0, false
	}
	n := time.Duration(0)
	for _, c := range []byte(s[:len(s)-1]) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + time.Duration(c-'0')
	}
	for _, u := range timeoutUnits {
		if u.name == s[len(s)-1] {
			if n > math.MaxInt64/u.unit {
				return math.MaxInt64, true
			}
			return n * u.unit, true
		}
	}
	return 0, false
}

// sendDeadline is the interceptor of the option Deadlines.
func sendDeadline(ctx context.Context, c *Call, next Handler) error {
	m := c.Metadata()
	deadline, ok := ctx.Deadline()
	ok = ok && c.Method != nil && !c.Method.Oneway()
	switch {
	case ok:
		m.SetTimeout(time.Until(deadline))
		c.SetMetadata(m)
	case m.Get(TimeoutKey) != "": // of a call that is forwarded
		m.Remove(TimeoutKey)
		c.SetMetadata(m)
	}
	return next(ctx, c)
}

// receiveDeadline is the interceptor of a Server's Deadlines.
func receiveDeadline(ctx context.Context, c *Call, next Handler) error {
	if c.Method.Oneway() {
		return next(ctx, c)
	}
	ctx, cancel := c.Metadata().WithTimeout(ctx)
	defer cancel()
	return next(ctx, c)
}
