package main

import (
	"bytes"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/thrift-gen-nocopy/internal/thriftgo/plugin"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// TestBadRequests: for input that is not a request, the response says why.
func TestBadRequests(t *testing.T) {
	good := plugin.NewRequest()
	good.SetLanguage("go")
	good.NewAST().SetFilename("testdata/shop.thrift")
	wire := good.Message().Bytes()
	for name, data := range map[string][]byte{
		"nothing": nil, "cut off": wire[:len(wire)/2], "trailer only": []byte(trailer), "no Thrift": []byte("{}"),
		"missing file": func() []byte {
			r := plugin.NewRequest()
			r.NewAST().SetFilename("missing.thrift")
			return r.Message().Bytes()
		}(),
	} {
		if res := answer(t, data); res.GetError() == "" || res.GetContents().Len() > 0 {
			t.Errorf("%s: %v", name, res)
		}
	}
	for name, data := range map[string][]byte{"plain": wire, "with a trailer": append(append(bytes.Clone(wire), 1), trailer...)} {
		if res := answer(t, data); res.GetError() != "" || res.GetContents().Len() != 3 {
			t.Errorf("%s: %s", name, res.GetError())
		}
	}
}

func answer(t *testing.T, request []byte) plugin.Response {
	t.Helper()
	var out bytes.Buffer
	if err := run(bytes.NewReader(request), &out); err != nil {
		t.Fatal(err)
	}
	res, err := plugin.ParseResponse(out.Bytes(), nocopy.ValidUTF8)
	if err != nil {
		t.Fatal(err)
	}
	return res
}
