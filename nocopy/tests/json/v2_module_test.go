// The second version of encoding/json, from the Go release or a module.

//go:build !go1.27 || !goexperiment.jsonv2

package nocopyjson_test

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

type optionV2 = json.Options

var (
	rejectUnknown = json.RejectUnknownMembers(true)
	allowInvalid  = jsontext.AllowInvalidUTF8(true)
	allowRepeated = jsontext.AllowDuplicateNames(true)
)

func marshalV2(v any, opts ...optionV2) ([]byte, error)   { return json.Marshal(v, opts...) }
func unmarshalV2(b []byte, v any, opts ...optionV2) error { return json.Unmarshal(b, v, opts...) }
