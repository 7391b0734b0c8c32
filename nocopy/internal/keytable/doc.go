// Package keytable finds keys among many: of maps, and elements of sets and lists. It knows no
// message. A map or list is the number of its entry; what its keys are, a Keys says.
//
//	Finder   the tables of a message, by entry; a filter for the map that is being filled; and by
//	         entry of a struct or container: the key or element that it belongs to
//	Table    finds pairs by the hash of their key; of several with one key it finds the last
//	Set      numbers; the next one is found in a few steps
//	filter   a bit for each of 4,096 hashes: most keys of a new map are found to be new by it
//
// Lookups only read a message, so that several goroutines may make them at once: the Finder has a
// lock for its tables. Package engine calls this one, and passes its message as Keys.
package keytable
