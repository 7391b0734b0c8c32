//go:build go1.27 && goexperiment.jsonv2

package jsontext

import (
	"errors"

	"encoding/json/jsontext"
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

// AppendUnquote appends what the JSON string src stands for to dst.
func AppendUnquote(dst, src []byte) ([]byte, error) { return jsontext.AppendUnquote(dst, src) }
