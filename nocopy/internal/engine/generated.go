package engine

// GenerateThisCodeAgainWithNocopyc appears in the compiler's error for code that an older version
// generated: what such code refers to as a constant is a variable of this type.
type GenerateThisCodeAgainWithNocopyc struct{}
