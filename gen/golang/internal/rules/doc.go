// Package rules makes Validate methods of the annotations of an IDL whose names begin with "vt.".
// Only the generator calls it.
//
// The noun is a rule: a condition in Go, in which a zero byte stands for the value, and what it
// demands in words:
//
//	1: i32 age (vt.ge = "18") ──read──► \x00 >= 18, "a value >= 18" ──write──► if !(v >= 18) { … }
//	             annotation, an expression: "18", $field, @function
//
// rule.go has the noun, expression.go what values are compared with, read.go makes rules of
// annotations, write.go methods of rules, and rules.go does both for all files, since the method
// of a struct calls those of the structs in its fields.
package rules
