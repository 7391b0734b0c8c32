//go:build !go1.27 || !goexperiment.jsonv2

package jsontext

import "github.com/go-json-experiment/json/jsontext"

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

// ErrDuplicateName is in the error of an object that has a name twice.
var ErrDuplicateName = jsontext.ErrDuplicateName

// AllowDuplicateNames returns the option that says whether an object may have a name twice.
func AllowDuplicateNames(v bool) Options { return jsontext.AllowDuplicateNames(v) }
