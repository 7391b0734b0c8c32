package lint

import (
	"slices"
	"strings"
)

// Rule is something to look for.
type Rule struct {
	Name     string
	Doc      string // what it objects to, as a sentence
	Source   Source
	Severity Severity // the usual one of its findings
	Default  bool     // it applies unless the configuration says otherwise
	Fixable  bool     // Fix can mend some of its findings

	check func(*file) // nil for what the linter itself finds
}

// Source says where a rule comes from.
type Source string

// The sources.
const (
	Thriftcheck Source = "thriftcheck"
	Buf         Source = "buf"
	Own         Source = "own"
)

// Rules returns all rules, sorted by source and name.
func Rules() []*Rule { return slices.Clone(rules) }

// rules is set by init, since what switches rules off looks at it.
var rules []*Rule

func init() {
	rules = []*Rule{
		{"constant.ref", "A value refers to a constant or to a value of an enum that is not defined.", Thriftcheck, Error, true, false, constantRef},
		{"enum.size", "An enum has more values than the configuration allows.", Thriftcheck, Error, true, false, enumSize},
		{"field.doc.missing", "A field has no /** comment */ right above it.", Thriftcheck, Warning, false, false, fieldDocMissing},
		{"field.id.missing", "A field has no id.", Thriftcheck, Error, true, false, fieldIDMissing},
		{"field.id.negative", "A field's id is negative.", Thriftcheck, Error, true, false, fieldIDNegative},
		{"field.id.zero", "A field's id is zero.", Thriftcheck, Error, true, false, fieldIDZero},
		{"field.optional", "A field is not optional.", Thriftcheck, Warning, false, false, fieldOptional},
		{"field.requiredness", "A field is neither required nor optional.", Thriftcheck, Warning, false, false, fieldRequiredness},
		{"include.path", "An included file is not found.", Thriftcheck, Error, true, false, includePath},
		{"include.restricted", "A file includes one that the configuration keeps from it.", Thriftcheck, Error, true, false, includeRestricted},
		{"int.64bit", "An integer needs more than 32 bits, which JavaScript's numbers may not hold.", Thriftcheck, Warning, false, false, int64bit},
		{"map.key.type", "A map's keys have a type that fails in some languages, or that the configuration does not allow.", Thriftcheck, Warning, true, false, mapKeyType},
		{"map.value.type", "A map's values have a type that the configuration does not allow.", Thriftcheck, Error, true, false, mapValueType},
		{"names.reserved", "Something has a name that the configuration reserves.", Thriftcheck, Error, true, false, namesReserved},
		{"namespace.patterns", "A namespace does not match the pattern of its language.", Thriftcheck, Error, true, false, namespacePatterns},
		{"set.value.type", "A set's elements have a type that fails in some languages, or that the configuration does not allow.", Thriftcheck, Warning, true, false, setValueType},
		{"types", "A type is used that the configuration does not allow.", Thriftcheck, Error, true, false, typesAllowed},

		{"COMMENT_ENUM", "An enum has no comment.", Buf, Warning, false, false, commentEnum},
		{"COMMENT_ENUM_VALUE", "A value of an enum has no comment.", Buf, Warning, false, false, commentEnumValue},
		{"COMMENT_FIELD", "A field of a struct, union or exception has no comment.", Buf, Warning, false, false, commentField},
		{"COMMENT_MESSAGE", "A struct, union or exception has no comment.", Buf, Warning, false, false, commentMessage},
		{"COMMENT_RPC", "A method has no comment.", Buf, Warning, false, false, commentRPC},
		{"COMMENT_SERVICE", "A service has no comment.", Buf, Warning, false, false, commentService},
		{"ENUM_FIRST_VALUE_ZERO", "The first value of an enum is not 0.", Buf, Warning, false, false, enumFirstValueZero},
		{"ENUM_NO_ALLOW_ALIAS", "Two values of an enum have the same number.", Buf, Warning, true, false, enumNoAlias},
		{"ENUM_PASCAL_CASE", "An enum's name is not in PascalCase.", Buf, Warning, false, false, enumPascalCase},
		{"ENUM_VALUE_UPPER_SNAKE_CASE", "The name of an enum's value is not in UPPER_SNAKE_CASE.", Buf, Warning, false, false, enumValueUpperSnakeCase},
		{"FIELD_LOWER_SNAKE_CASE", "A field's name is not in lower_snake_case.", Buf, Warning, false, false, fieldLowerSnakeCase},
		{"FIELD_NOT_REQUIRED", "A field is required.", Buf, Warning, false, false, fieldNotRequired},
		{"FILE_LOWER_SNAKE_CASE", "A file's name is not in lower_snake_case.", Buf, Warning, false, false, fileLowerSnakeCase},
		{"IMPORT_USED", "A file includes one that it does not use, or one twice.", Buf, Warning, true, true, importUsed},
		{"MESSAGE_PASCAL_CASE", "The name of a struct, union or exception is not in PascalCase.", Buf, Warning, false, false, messagePascalCase},
		{"PACKAGE_DEFINED", "A file has no namespace.", Buf, Warning, false, false, packageDefined},
		{"PACKAGE_LOWER_SNAKE_CASE", "A part of a namespace's name is not in lower_snake_case.", Buf, Warning, false, false, packageLowerSnakeCase},
		{"SERVICE_PASCAL_CASE", "A service's name is not in PascalCase.", Buf, Warning, false, false, servicePascalCase},
		{"SERVICE_SUFFIX", "A service's name does not end with Service.", Buf, Warning, false, false, serviceSuffix},

		{"compile", "nocopy check reports something that no other rule does.", Own, Error, true, false, nil},
		{"enum.value.implicit", "A value of an enum has no number.", Own, Warning, false, true, enumValueImplicit},
		{"format", "The file is not as nocopy fmt formats it.", Own, Warning, false, true, formatted},
		{"function.async", "A method is async, the former word for oneway.", Own, Warning, true, true, functionAsync},
		{"nolint", "A nolint comment names a rule that does not exist, or none.", Own, Warning, true, false, nil},
		{"type.byte", "A type is byte, the former name of i8.", Own, Warning, false, true, typeByte},
	}
}

// byName returns a rule, nil if there is none of that name.
func byName(name string) *Rule {
	for _, r := range rules {
		if r.Name == name {
			return r
		}
	}
	return nil
}

// matches reports whether one of names is that of a rule, or one that it begins with, as "field"
// is for "field.optional". "all" is that of every rule.
func matches(rule string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return name == "all" || name == rule || strings.HasPrefix(rule, name+".") ||
			strings.HasPrefix(rule, name+"_") && name == strings.ToUpper(name)
	})
}

// isKnown reports whether a name matches some rule.
func isKnown(name string) bool {
	return slices.ContainsFunc(rules, func(r *Rule) bool { return matches(r.Name, []string{name}) })
}
