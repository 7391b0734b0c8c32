// Package moving has the code of docs/kitex.md: a service on Kitex as its own generator makes it,
// and as nocopyc does. The test compares it with that page, and runs it.
package moving
