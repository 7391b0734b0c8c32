// Package linkbuf is a chained buffer: one message's bytes, in as many pieces of memory as they
// happen to lie in.
package linkbuf
