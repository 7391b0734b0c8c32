package inspect

import (
	"encoding/hex"
	"math"
	"strconv"
	"time"
	"unicode/utf8"
)

// row is a row of a dump: some bytes and their meaning. As JSON it is an object on one line.
type row struct {
	Offset int64  `json:"offset"`
	Size   int64  `json:"size"`
	Hex    string `json:"hex,omitempty"`
	Kind   kind   `json:"kind"`
	Depth  int    `json:"depth"`
	Path   string `json:"path,omitempty"`

	ID    *int16 `json:"id,omitempty"`    // of a field
	Index *int64 `json:"index,omitempty"` // of an element or pair
	Name  string `json:"name,omitempty"`  // of a field, struct or method
	Type  string `json:"type,omitempty"`

	Value     any    `json:"value,omitempty"`
	Enum      string `json:"enum,omitempty"`      // the name of Value
	Bytes     string `json:"bytes,omitempty"`     // hex, instead of Value
	Length    *int64 `json:"length,omitempty"`    // of a string, binary or frame
	Shortened bool   `json:"shortened,omitempty"` // Value or Bytes is only its beginning
	Count     *int64 `json:"count,omitempty"`     // of elements or pairs

	Message string `json:"message,omitempty"` // a message's type
	SeqID   *int32 `json:"seqid,omitempty"`
	Strict  *bool  `json:"strict,omitempty"`
	Form    string `json:"form,omitempty"`

	Note  string `json:"note,omitempty"`
	Error string `json:"error,omitempty"`

	// Of a live connection
	Time *time.Time `json:"time,omitempty"`
	From string     `json:"from,omitempty"`
	To   string     `json:"to,omitempty"`

	raw []byte // the bytes that Hex shows
}

// kind says what a row shows.
type kind string

const (
	kindInput   kind = "input"    // the stream's form
	kindTraffic kind = "traffic"  // a direction and time of a live connection
	kindFrame   kind = "frame"    // a frame's length
	kindMessage kind = "message"  // a message's header
	kindStruct  kind = "struct"   // a bare struct begins
	kindField   kind = "field"    // a field, its header included
	kindElement kind = "element"  // of a list or set
	kindKey     kind = "key"      // of a map
	kindValue   kind = "value"    // of a map
	kindStop    kind = "stop"     // the end of a struct
	kindFault   kind = "fault"    // a fault
	kindLeftOut kind = "left out" // bytes that the dump does not have
)

// label returns the text before the type and value: id and name, or index.
func (r *row) label() string {
	switch {
	case r.ID != nil && r.Name != "":
		return strconv.Itoa(int(*r.ID)) + " " + r.Name
	case r.ID != nil:
		return strconv.Itoa(int(*r.ID))
	case r.Index != nil && r.Kind == kindElement:
		return "[" + strconv.FormatInt(*r.Index, 10) + "]"
	case r.Index != nil:
		return "[" + strconv.FormatInt(*r.Index, 10) + "] " + string(r.Kind)
	}
	return r.Name
}

// setText sets the value of a string or binary of n bytes that begins with b.
func (r *row) setText(b []byte, n int64, asText bool) {
	r.Length = &n
	r.Shortened = int64(len(b)) < n
	if !asText {
		r.Bytes = hex.EncodeToString(b)
		return
	}
	for k := 1; r.Shortened && k < utf8.UTFMax && k <= len(b); k++ {
		if last := b[len(b)-k:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				b = b[:len(b)-k]
			}
			break
		}
	}
	r.Value = string(b)
}

// setDouble sets the value of a double. NaN and infinities become texts, since JSON has no numbers
// for them.
func (r *row) setDouble(v float64) {
	switch {
	case math.IsNaN(v):
		r.Value = "NaN"
	case math.IsInf(v, 1):
		r.Value = "Infinity"
	case math.IsInf(v, -1):
		r.Value = "-Infinity"
	default:
		r.Value = v
	}
}
