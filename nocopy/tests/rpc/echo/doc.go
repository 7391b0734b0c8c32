// Package echo is generated from echo.thrift: the services that the tests of package rpc call.
package echo

//go:generate go run ../../../../gen/nocopyc -o .. echo.thrift
