// Package hyper is Protocol Buffers by hyperpb, which parses into an arena by tables that it
// compiles at run time, and reads by protoreflect. It cannot build or change messages.
package hyper
