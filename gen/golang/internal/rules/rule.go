package rules

// structRules are the rules that a struct's Validate method checks.
type structRules struct {
	fields   []*valueRules // in the order of the fields
	asserts  []rule
	patterns []patternVar
	needed   bool // there is something to check, here or in a field's type
}

// valueRules are the rules for a value.
type valueRules struct {
	rules     []rule
	skip      bool // what structs in the value demand is not checked
	notNil    bool // the field must be set
	key, elem *valueRules
}

// A rule is a condition in Go, in which \x00 stands for the value, and what it demands in words.
type rule struct {
	cond, want string
	report     string   // "Value", "Size" or "Text": the function that makes the error
	got        string   // its last argument, if there is one
	isSwitch   bool     // cond is the cases of a switch
	parts      []string // the conditions that cond joins, of several in or not_in
}

// patternVar is a variable that holds a regular expression.
type patternVar struct{ Name, Expr string }

// part returns the rules for the keys of a map, or for the elements of a container. What skips a
// container skips what is in it.
func (r *valueRules) part(key bool) *valueRules {
	if r == nil {
		return nil
	}
	inner := r.elem
	if key {
		inner = r.key
	}
	if r.skip {
		if inner == nil {
			return &valueRules{skip: true}
		}
		with := *inner
		with.skip = true
		return &with
	}
	return inner
}
