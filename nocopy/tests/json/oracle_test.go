// Comparing JSON, as jsontext reads it, with the values that it should have.

package nocopyjson_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/internal/jsontext"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
)

// An oracle compares JSON, which jsontext reads, with the expected values. A difference panics
// with a *mismatch.
type oracle struct{ dec jsontext.Decoder }

type mismatch struct{ text string }

// compare returns an error unless text is JSON with unique names and has the values of rec.
func compare(text []byte, rec *referee.Record) (err error) {
	var o oracle
	o.dec.Reset(bytes.NewBuffer(text))
	defer func() {
		if m, ok := recover().(*mismatch); ok {
			err = fmt.Errorf("%s: %s", o.dec.StackPointer(), m.text)
		}
	}()
	o.record(rec)
	if _, err := o.dec.ReadToken(); err != io.EOF {
		return fmt.Errorf("after the end: %v", err)
	}
	return nil
}

func (o *oracle) next() jsontext.Token {
	t, err := o.dec.ReadToken()
	if err != nil {
		panic(&mismatch{err.Error()})
	}
	return t
}

// want reads a token, which must equal text.
func (o *oracle) want(text string) {
	if t := o.next(); t.String() != text {
		panic(&mismatch{fmt.Sprintf("%s %q, want %q", t.Kind(), t.String(), text)})
	}
}

func (o *oracle) record(r *referee.Record) {
	o.want("{")
	for i, f := range r.Type.Fields {
		if r.Fields[i] == nil || r.Type.Union && r.Last != i+1 {
			continue
		}
		o.want(f.Name)
		o.value(f.Type, r.Fields[i])
	}
	o.want("}")
}

func (o *oracle) value(t *referee.Type, v referee.Value) {
	switch v := v.(type) {
	case *referee.Record:
		o.record(v)
	case *referee.List:
		o.want("[")
		for _, x := range v.Elems {
			o.value(t.Elem, x)
		}
		o.want("]")
	case *referee.Map:
		if t.Key.IsContainer() {
			o.want("[")
			for _, p := range v.Live() {
				o.want("[")
				o.value(t.Key, p.Key)
				o.value(t.Elem, p.Value)
				o.want("]")
			}
			o.want("]")
			return
		}
		o.want("{")
		for _, p := range v.Live() {
			o.leaf(t.Key, p.Key, true)
			o.value(t.Elem, p.Value)
		}
		o.want("}")
	default:
		o.leaf(t, v, false)
	}
}

func (o *oracle) leaf(t *referee.Type, v referee.Value, key bool) {
	tok := o.next()
	want, quoted := "", true
	switch v := v.(type) {
	case referee.Float:
		f := math.Float64frombits(uint64(v))
		if quoted = key || math.IsNaN(f) || math.IsInf(f, 0); !quoted || !math.IsNaN(f) {
			got, err := strconv.ParseFloat(tok.String(), 64)
			if err != nil || math.Float64bits(got) != uint64(v) {
				panic(&mismatch{fmt.Sprintf("%s for %v", tok, f)})
			}
			want = tok.String()
		} else {
			want = "NaN"
		}
		if math.IsInf(f, 0) {
			want = strings.ReplaceAll(strings.TrimPrefix(fmt.Sprint(f), "+"), "Inf", "Infinity")
		}
	case bool:
		want, quoted = strconv.FormatBool(v), key
	case string:
		want = v
	case referee.Bytes:
		want = base64.StdEncoding.EncodeToString([]byte(v))
	case int8:
		want, quoted = itoa(int64(v)), key
	case int16:
		want, quoted = itoa(int64(v)), key
	case int32:
		if want = colors[v]; want == "" || !t.Enum {
			want, quoted = itoa(int64(v)), key
		}
	case int64:
		want, quoted = itoa(v), key
	default: // a uuid
		u := fmt.Sprintf("%x", v)
		b, err := hex.DecodeString(u)
		if err != nil || len(b) != 16 {
			panic(err)
		}
		want = u[:8] + "-" + u[8:12] + "-" + u[12:16] + "-" + u[16:20] + "-" + u[20:]
	}
	if (tok.Kind() == '"') != quoted || tok.String() != want {
		panic(&mismatch{fmt.Sprintf("%s %q, want %q", tok.Kind(), tok, want)})
	}
}
