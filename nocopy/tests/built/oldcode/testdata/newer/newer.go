// Package newer begins as code does that a later version of nocopyc generates.
package newer

import impl "github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"

const _ = impl.UpgradeNocopythriftToV1_999 // undefined? go get github.com/nocopythrift/nocopythrift@v1.999.0

// OrderDesc is in code of each version.
var OrderDesc = impl.NewStructDesc("Order")
