// Package impl is for the packages of the library that work on messages of any type or carry them:
// rpc, reflection, messages, dynamic and others. It gives names to functions of the engine that
// generated code does not need. Those that it needs are in thriftimpl, and stay as they are in all
// versions 1.x. Names of this package may change at any time.
package impl

import (
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// What this package has in common with thriftimpl, where it is described.
type (
	Desc      = schema.Struct
	Type      = schema.Type
	FieldDesc = schema.FieldDesc
	File      = schema.File
	Struct    = engine.Struct
)

// The limits of a message whose nocopy.Limits are 0, and the largest MaxDepth.
const (
	DefaultMaxBytes = wire.DefaultMaxBytes
	DefaultMaxDepth = wire.DefaultMaxDepth
	MostDepth       = wire.MostDepth
)

// Requiredness reports whether the IDL declares a field required or optional.
type Requiredness = schema.Requiredness

// DefaultReq is for a field that is declared neither required nor optional.
const DefaultReq = schema.DefaultReq
