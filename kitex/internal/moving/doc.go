// Package moving has the code of docs/kitex.md: a service on Kitex with the code of Kitex's own
// generator, and with that of nocopyc. The test compares it with the page, and runs it.
package moving
