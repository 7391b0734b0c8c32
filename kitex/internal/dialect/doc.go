// Package dialect has tests only: nocopyc accepts what thriftgo, Kitex's generator, accepts, and
// thriftgo accepts what the documentation shows.
package dialect
