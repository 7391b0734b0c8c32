//go:build go1.27 && goexperiment.jsonv2

package jsontext

import (
	"errors"

	"encoding/json/jsontext"
	json "encoding/json/v2"
)

// The types of both packages.
type (
	Decoder        = jsontext.Decoder
	Encoder        = jsontext.Encoder
	Kind           = jsontext.Kind
	Options        = jsontext.Options
	SyntacticError = jsontext.SyntacticError
	Token          = jsontext.Token
	Value          = jsontext.Value
)

// IsDuplicateName reports whether err is that of an object that has a name twice.
func IsDuplicateName(err error) bool { return errors.Is(err, jsontext.ErrDuplicateName) }

// AllowDuplicateNames returns the option by which an object may have a name twice.
func AllowDuplicateNames(v bool) Options { return jsontext.AllowDuplicateNames(v) }

// AllowInvalidUTF8 returns the option by which strings may have bytes that are not UTF-8.
func AllowInvalidUTF8(v bool) Options { return jsontext.AllowInvalidUTF8(v) }

// AllowsInvalidUTF8 reports whether strings may have bytes that are not UTF-8, by the options of
// an Encoder or Decoder.
func AllowsInvalidUTF8(o Options) bool {
	allows, _ := json.GetOption(o, jsontext.AllowInvalidUTF8)
	return allows
}

// RejectsUnknownMembers reports whether a name that a struct does not know is an error, by the
// options of a Decoder.
func RejectsUnknownMembers(o Options) bool {
	rejects, _ := json.GetOption(o, json.RejectUnknownMembers)
	return rejects
}

// AppendUnquote appends the value of the JSON string src to dst. It appends U+FFFD for each byte
// that is not UTF-8, and then also returns an error.
func AppendUnquote(dst, src []byte) ([]byte, error) { return jsontext.AppendUnquote(dst, src) }
