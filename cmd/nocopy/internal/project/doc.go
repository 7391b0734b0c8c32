// Package project reads the project file, nocopy.yaml, and fills with it what a command line
// leaves open: addresses of targets, flags, files.
//
// find.go finds and opens the file, parse.go reads it, section.go has the keys. fill.go completes
// command lines, and passed.go those of commands that parse their arguments themselves. secret.go
// decides which variables of the environment go to which address. command.go is nocopy config.
//
// The file is data, perhaps that of a stranger: nothing in it is run, its paths stay in its
// folder, and a variable goes to an address only after the user has allowed it.
package project
