package kerberos

import (
	"errors"
	"fmt"
	"net"
)

// This file has the last step of a login, in which both sides agree on a layer, RFC 4752, section
// 3.

// maxWrapped is the most bytes that a side says it can take in one token. The field has 3 bytes.
// Like Apache's library, we neither split larger messages nor refuse them: MaxFrame is the limit.
const maxWrapped = 1<<24 - 1

// appendLayers appends an offer of layers, or the choice of one.
func appendLayers(b []byte, layers QOP) []byte {
	size := maxWrapped
	if layers == Auth {
		size = 0 // section 3.1: it must be 0 without a layer
	}
	return append(b, byte(layers), byte(size>>16), byte(size>>8), byte(size))
}

// readLayers reads an offer, or the beginning of a choice, after which there may be a name.
func readLayers(b []byte, choice bool) (QOP, error) {
	if len(b) < 4 || len(b) > 4 && !choice {
		return 0, fmt.Errorf("kerberos: layers in %d bytes, not 4", len(b))
	}
	return QOP(b[0]) & (Auth | AuthInt | AuthConf), nil
}

// layer is the agreed layer.
type layer struct {
	context *securityContext
	sealed  bool
}

func (l layer) wrap(message []byte) ([]byte, error) { return l.context.wrap(message, l.sealed) }
func (l layer) unwrap(token []byte) ([]byte, error) { return l.context.unwrap(token, l.sealed) }

// secure returns the connection that protects messages after a login, nil for Auth.
func secure(nc net.Conn, c *securityContext, agreed QOP, maxFrame int) net.Conn {
	if agreed == Auth {
		return nil
	}
	return protect(nc, layer{c, agreed == AuthConf}, maxFrame)
}

var errLoginOver = errors.New("kerberos: a response after the end of a login")
