// Package program compiles types into programs. One loop, in package parse, runs them to index the
// bytes of messages.
//
// A program has an op for each field, in the order of the IDL, then one for STOP:
//
//	struct User { 1: i64 id, 2: string name, 3: list<i64> scores }
//
//	op        header    reach  word  miss
//	fixed     0a 0001   11     2     the next op
//	text      0b 0002    7     3     the next op
//	numbers   0f 0003    8     4     the next op      a second cell has the shape of elements
//	STOP      00
//
// An op that does not meet its field stores 0 in the field's word and goes on at its miss, which
// is mostly the next field: fields may be absent. Hence every word of an entry is defined at its
// STOP. From bytes that no op foresees, the slow parser reads to the end of the struct: where STOP
// is expected, or at once if a required field is missed.
//
// New writes fields of fixed size first. A struct whose fields have another order then has a
// program for that order, too. The first op of the IDL's order that differs has a fork as its
// miss, which finds out which of the orders the struct has.
//
// The parser runs programs. The engine asks for one when it indexes what it has written itself.
package program
