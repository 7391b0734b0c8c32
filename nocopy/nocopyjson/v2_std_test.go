// The second version of encoding/json, of the Go release or as a module.

//go:build go1.27 && goexperiment.jsonv2

package nocopyjson_test

import json "encoding/json/v2"

func marshalV2(v any) ([]byte, error)   { return json.Marshal(v) }
func unmarshalV2(b []byte, v any) error { return json.Unmarshal(b, v) }
