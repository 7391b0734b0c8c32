// Package shop is generated from shop.thrift: types for the tests of nocopyjson.
package shop

//go:generate go run ../../../../gen/nocopyc -o .. shop.thrift
