// Package header has the pairs of names and values that travel with a call or a reply: which
// there may be, how many, and their bytes in a field of a struct. Transports that have a place of
// their own for them, such as THeader and HTTP, read and fill Lists.
package header
