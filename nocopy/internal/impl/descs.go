package impl

import (
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// Define completes a descriptor with its fields in declaration order. It uses the descriptor's
// method DefineWide if the struct has enough fields to be wide, and otherwise its method Define.
func Define(d *Desc, fields []FieldDesc) {
	if len(fields) > entry.MaxDirect {
		d.DefineWide(fields...)
		return
	}
	d.Define(fields...)
}

// Files returns the IDL files of all generated packages in the program.
func Files() []*File { return schema.Files() }
