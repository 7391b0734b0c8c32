package audit

import "slices"

// A Policy says which changes matter. Each has all findings of the one before it.
type Policy string

// The policies.
const (
	PolicyWire     Policy = "WIRE"      // what breaks peers that speak binary or compact
	PolicyWireJSON Policy = "WIRE_JSON" // also what breaks those that speak JSON with names
	PolicySource   Policy = "SOURCE"    // also what breaks code that uses generated code
	PolicyFile     Policy = "FILE"      // everything: also moves to another file, and changed values
)

// Policies are the policies, the weakest first.
var Policies = []Policy{PolicyWire, PolicyWireJSON, PolicySource, PolicyFile}

// Has reports whether a policy has the findings of another.
func (p Policy) Has(other Policy) bool {
	return slices.Index(Policies, other) <= slices.Index(Policies, p)
}

// Policy returns the weakest policy that has the finding.
func (f Finding) Policy() Policy { return f.Breaks.policy() }

// policy returns the weakest policy for which the set is a breach.
func (b Breaks) policy() Policy {
	for i, p := range Policies {
		if b&(1<<i) != 0 {
			return p
		}
	}
	return PolicyFile // compatible
}

// A Rule is a kind of change and its policy. A kind whose changes break different things has a
// Rule for each policy: a finding belongs to the one of its kind and policy.
type Rule struct {
	Kind   string `json:"rule"`
	Policy Policy `json:"policy"`
	When   string `json:"when"`
}

// Rules are all rules.
var Rules = []Rule{
	{"arguments-changed", PolicySource, "a method has a new argument, or another order of them"},
	{"const-removed", PolicySource, "a constant is gone or renamed"},
	{"const-type-changed", PolicySource, "a constant has another type"},
	{"const-value-changed", PolicyFile, "a constant has another value"},
	{"default-changed", PolicyFile, "a field that is not sent has another value"},
	{"enum-removed", PolicySource, "an enum is gone or renamed"},
	{"enum-value-changed", PolicyWire, "a value has another number"},
	{"enum-value-removed", PolicyWire, "a value is gone, and no other has its number"},
	{"enum-value-renamed", PolicyWireJSON, "a number has another name"},
	{"exception-added", PolicyWire, "a method throws what old clients do not see"},
	{"extends-changed", PolicyWire, "a service extends another one, and a method is lost"},
	{"extends-changed", PolicySource, "a service extends another one, and has all methods"},
	{"field-added-between", PolicyFile, "a new field's id may have been another field's"},
	{"field-id-changed", PolicyWire, "a field has another id"},
	{"field-id-reused", PolicyWire, "a new field's id was another field's"},
	{"field-removed", PolicyWire, "a required field, one of a union, or a thrown exception is gone"},
	{"field-removed", PolicyWireJSON, "another field is gone"},
	{"field-renamed", PolicyWireJSON, "an id has another name"},
	{"field-renamed", PolicySource, "an id has another name, and the same in JSON by its annotations"},
	{"field-type-changed", PolicyWire, "bytes are read as something else"},
	{"field-type-changed", PolicyWireJSON, "JSON is read as something else, bytes are not"},
	{"field-type-changed", PolicySource, "values are read alike, and the type is another one"},
	{"http-place-changed", PolicyWireJSON, "a field is elsewhere in HTTP requests by its annotations"},
	{"json-name-changed", PolicyWireJSON, "a field has another name in JSON by its annotations"},
	{"method-moved", PolicySource, "a method is now that of a service that its own extends"},
	{"method-removed", PolicyWire, "a method is gone or renamed"},
	{"moved", PolicySource, "a definition is in another file, with another Go or Java namespace"},
	{"moved", PolicyFile, "a definition is in another file, with the same namespaces"},
	{"namespace-added", PolicySource, "generated code moves to a new namespace"},
	{"namespace-changed", PolicySource, "a namespace has another name"},
	{"namespace-removed", PolicySource, "a namespace is gone"},
	{"oneway-changed", PolicyWire, "a method is oneway now, or no longer"},
	{"required-field-added", PolicyWire, "a new field is required"},
	{"requiredness-changed", PolicyWire, "a field became required, or was"},
	{"requiredness-changed", PolicySource, "a field became optional, or was"},
	{"return-type-changed", PolicyWire, "bytes of a result are read as something else"},
	{"return-type-changed", PolicyWireJSON, "JSON of a result is read as something else, bytes are not"},
	{"return-type-changed", PolicySource, "results are read alike, and the type is another one"},
	{"route-removed", PolicyWireJSON, "a method is no longer at an HTTP route"},
	{"service-removed", PolicyWire, "a service is gone or renamed"},
	{"struct-kind-changed", PolicyWire, "a struct or exception became a union, or was one"},
	{"struct-kind-changed", PolicySource, "a struct became an exception, or was one"},
	{"struct-removed", PolicySource, "a struct, union or exception is gone or renamed"},
	{"typedef-changed", PolicyWire, "bytes of a typedef are read as something else"},
	{"typedef-changed", PolicyWireJSON, "JSON of a typedef is read as something else, bytes are not"},
	{"typedef-changed", PolicySource, "values of a typedef are read alike, and the type is another one"},
	{"typedef-name-changed", PolicySource, "a type is the same by another name"},
	{"typedef-removed", PolicySource, "a typedef is gone or renamed"},
	{"union-field-added", PolicyWire, "a union has a field that old programs do not see"},
}

// kinds returns the names of the rules, each once.
func kinds() (all []string) {
	for _, r := range Rules {
		all = append(all, r.Kind)
	}
	return slices.Compact(all)
}
