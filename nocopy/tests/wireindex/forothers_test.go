package wireindex_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/jsonvalue"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// TestIndexForOthers: functions other than Parse read a message with an index like the same
// message without it.
func TestIndexForOthers(t *testing.T) {
	plain := largeBusiness(t, 250)
	with := withIndex(t, businessDesc, plain)
	a, err := engine.Parse(businessDesc, plain)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range [][]int{{1}, {2, 77, 1}, {4}} {
		v, err := engine.Peek(plain, path...)
		w, withErr := engine.Peek(with, path...)
		if err != nil || withErr != nil || v.Type != w.Type || !bytes.Equal(v.Raw(), w.Raw()) {
			t.Errorf("Peek %v: %v, %v", path, err, withErr)
		}
	}
	if _, err := engine.Peek(with, 3000); err == nil {
		t.Error("Peek finds what is not there")
	}
	var scan parse.Scanner
	scan.Reset(0)
	if end, _, err := scan.Scan(append(bytes.Clone(with), with...)); err != nil || end != len(with) {
		t.Errorf("Scanner: %d, %v", end, err)
	}
	for _, opts := range [][]engine.Option{nil, {engine.Lazy}, {engine.ByIndex}, {engine.RequireIndex, engine.Recycle}, {engine.WithIndex}} {
		d := nocopy.NewDecoder[businessView](inParts(with, with), opts...)
		for i := range 2 {
			v, err := d.Next()
			if err != nil {
				t.Fatalf("%v: message %d: %v", opts, i, err)
			}
			s := engine.Struct(v)
			if !render.EqualStructs(s, a, businessDesc) || !render.EqualStructs(a, s, businessDesc) || render.Text(s, businessDesc) != render.Text(a, businessDesc) {
				t.Errorf("%v: message %d reads otherwise", opts, i)
			}
			j, err := jsonvalue.MarshalValue(businessDesc, nocopy.Struct(s))
			k, plainErr := jsonvalue.MarshalValue(businessDesc, nocopy.Struct(a))
			if err != nil || plainErr != nil || !bytes.Equal(j, k) {
				t.Errorf("%v: as JSON it is %.100s not %.100s; %v, %v", opts, j, k, err, plainErr)
			}
			for id := range s.Unknown(businessDesc) {
				t.Errorf("%v: field %d is unknown", opts, id)
			}
			s.Release()
		}
		if _, err := d.Next(); err != io.EOF {
			t.Error(err)
		}
	}
}

// inParts returns a Reader of the messages, each in two parts.
func inParts(messages ...[]byte) io.Reader {
	var all []io.Reader
	for i, b := range messages {
		all = append(all, bytes.NewReader(b[:i+1]), bytes.NewReader(b[i+1:]))
	}
	return io.MultiReader(all...)
}

// businessView is the Go type of handles of structs that businessDesc describes.
type businessView engine.Struct

func (businessView) ThriftDesc() *schema.Struct { return businessDesc }
