package reflection

import (
	"iter"

	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
)

// Range is All.
//
// Deprecated: Use All.
//
//go:fix inline
func (m Message) Range() iter.Seq2[descriptor.Field, Value] { return m.All() }

// GetID is GetByID.
//
// Deprecated: Use GetByID.
//
//go:fix inline
func (m Message) GetID(id int16) (Value, error) { return m.GetByID(id) }

// HasID is HasByID.
//
// Deprecated: Use HasByID.
//
//go:fix inline
func (m Message) HasID(id int16) bool { return m.HasByID(id) }

// SetID is SetByID.
//
// Deprecated: Use SetByID.
//
//go:fix inline
func (m Message) SetID(id int16, v any) error { return m.SetByID(id, v) }

// UnsetID is UnsetByID.
//
// Deprecated: Use UnsetByID.
//
//go:fix inline
func (m Message) UnsetID(id int16) error { return m.UnsetByID(id) }
