package nocopyotel

import (
	"encoding/binary"
	"slices"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// FieldID is the id of the field that holds a call's context.
const FieldID = 8888

// The most that a map may have, as of OpenTelemetry's agent for Java.
const (
	maxPairs = 100
	maxBytes = 8 << 10 // of keys and values
)

// pair is an entry of the map.
type pair struct{ key, value string }

// carrier is the map as a propagator sees it.
type carrier struct{ pairs []pair }

// Get returns the value of key, "" if there is none.
func (c *carrier) Get(key string) string {
	for i := len(c.pairs) - 1; i >= 0; i-- { // the last of several counts
		if c.pairs[i].key == key {
			return c.pairs[i].value
		}
	}
	return ""
}

// Set sets the value of key.
func (c *carrier) Set(key, value string) {
	c.remove(key)
	c.pairs = append(c.pairs, pair{key, value})
}

// Keys returns all keys.
func (c *carrier) Keys() []string {
	keys := make([]string, len(c.pairs))
	for i, p := range c.pairs {
		keys[i] = p.key
	}
	return keys
}

func (c *carrier) remove(key string) {
	c.pairs = slices.DeleteFunc(c.pairs, func(p pair) bool { return p.key == key })
}

// read returns the map of a call's arguments; an empty one if there is none, or it is of another
// type or too large, or if the IDL declares the field, which is no context then. Its strings are
// copies.
func read(c *rpc.Call) *carrier {
	if c.Method.Args.NumberByID(FieldID) >= 0 {
		return new(carrier)
	}
	v, _ := c.Field(FieldID)
	pairs, _ := decode(v)
	return &carrier{pairs}
}

// decode returns the pairs of v, and whether it is a map of strings within the limits.
func decode(v nocopy.Value) ([]pair, bool) {
	const header, length = 6, 4
	b := v.Raw()
	if v.Type != nocopy.WireMap || len(b) < header || v.Len() > maxPairs || v.Len() < 0 {
		return nil, false
	}
	if nocopy.WireType(b[0]) != nocopy.WireString || nocopy.WireType(b[1]) != nocopy.WireString {
		return nil, false
	}
	if len(b) > header+maxPairs*2*length+maxBytes {
		return nil, false
	}
	text := string(b) // all strings are parts of it
	at, left := header, maxBytes
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

// encode returns the wire bytes of the map, without what is too much.
func (c *carrier) encode() []byte {
	pairs := slices.Clone(c.pairs)
	size := func() (n int) {
		for _, p := range pairs {
			n += len(p.key) + len(p.value)
		}
		return n
	}
	for len(pairs) > maxPairs || size() > maxBytes {
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
	b := append(make([]byte, 0, 6+8*len(pairs)+size()), byte(nocopy.WireString), byte(nocopy.WireString))
	b = binary.BigEndian.AppendUint32(b, uint32(len(pairs)))
	for _, p := range pairs {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(p.key))), p.key...)
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(p.value))), p.value...)
	}
	return b
}
