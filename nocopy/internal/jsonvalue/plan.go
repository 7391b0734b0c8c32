package jsonvalue

import (
	"strings"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// A plan has the facts about a type that reading needs. Plans refer to each other, so that only
// the plan of the root is looked up.
type plan struct {
	wire      nocopy.WireType
	binary    bool
	enum      *schema.Enum
	size      int         // in bytes, of a value of fixed size, else 0
	key, elem *plan       // as in schema.Type
	of        *structPlan // struct
}

type structPlan struct {
	desc     *schema.Struct
	fields   []fieldPlan
	byName   map[string]int
	required []int
	secrets  bool  // in the plan of a root: something in the message is redacted
	err      error // the struct can't be read
}

type fieldPlan struct {
	schema.JSONName
	idlName  string
	quoted   string  // the name in quotes, its usual form in a text; "" if that can't be compared
	header   [3]byte // wire type and id
	required bool
	value    *plan
}

// planOf returns the plan of the struct that d describes.
func planOf(d *schema.Struct) *structPlan {
	names := namesOf(d)
	if p := names.plan.Load(); p != nil {
		return p
	}
	c := planner{}
	p := c.structure(d)
	for of := range c {
		p.secrets = p.secrets || hasSecrets(of)
	}
	names.plan.Store(p)
	return p
}

// hasSecrets reports whether a struct, or one of its fields, is redacted.
func hasSecrets(d *schema.Struct) bool {
	redacted := d.Info().Redacted()
	for i := range d.NumFields() {
		redacted = redacted || d.FieldDesc(i).Info.Redacted()
	}
	return redacted
}

// planner makes plans. Plans may refer to each other in circles.
type planner map[*schema.Struct]*structPlan

func (c planner) structure(d *schema.Struct) *structPlan {
	if p := c[d]; p != nil {
		return p
	}
	p := &structPlan{desc: d, byName: map[string]int{}}
	c[d] = p
	names := namesOf(d)
	p.err = names.err
	for i, n := range names.fields {
		f := d.FieldDesc(i)
		t := f.Type
		quoted := `"` + n.Name + `"`
		if n.Skip || strings.ContainsRune(n.Name, '\\') {
			quoted = ""
		}
		p.fields = append(p.fields, fieldPlan{
			JSONName: n, idlName: f.Name, quoted: quoted, required: f.Req == schema.Required, value: c.value(t),
			header: [3]byte{byte(t.Wire()), byte(uint16(f.ID) >> 8), byte(f.ID)},
		})
		if !n.Skip {
			p.byName[n.Name] = i
		}
		if f.Req == schema.Required {
			p.required = append(p.required, i)
		}
	}
	return p
}

func (c planner) value(t *schema.Type) *plan {
	if t == nil {
		return nil
	}
	p := &plan{wire: t.Wire(), binary: t.Binary(), enum: t.Enum(), size: int(wire.FixedSize[t.Wire()])}
	if d := t.Struct(); d != nil {
		p.of = c.structure(d)
		return p
	}
	p.key, p.elem = c.value(t.Key()), c.value(t.Elem())
	return p
}

// find returns the number of the field that the last token names, or −1. It tries field next
// first, which is usually right.
func (p *structPlan) find(r *reader, next int) int {
	if next < len(p.fields) {
		if f := &p.fields[next]; f.quoted == string(r.raw()) {
			return next
		}
	}
	if i, ok := p.byName[string(r.text())]; ok {
		return i
	}
	return -1
}
