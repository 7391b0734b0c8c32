// Package dialect has only tests: nocopyc accepts the IDL that thriftgo, Kitex's generator,
// accepts, and thriftgo accepts the IDL in the documentation.
package dialect
