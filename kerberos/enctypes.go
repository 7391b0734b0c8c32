package kerberos

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
)

// encryptionTypes are those that a client asks for, and takes. All are AES.
type encryptionTypes struct {
	permitted []int32 // permitted_enctypes in krb5.conf
	initial   []int32 // default_tkt_enctypes
	others    []int32 // default_tgs_enctypes
}

// allAES is in the order of MIT's library.
var allAES = []int32{etypeID.AES256_CTS_HMAC_SHA1_96, etypeID.AES128_CTS_HMAC_SHA1_96, etypeID.AES256_CTS_HMAC_SHA384_192, etypeID.AES128_CTS_HMAC_SHA256_128}

// encryptionTypesOf returns the types that krb5.conf allows. RC4 and DES are never among them.
func encryptionTypesOf(conf *config.Config) (e encryptionTypes, err error) {
	have, unset := conf.LibDefaults, config.New().LibDefaults
	e.permitted = typesOf(have.PermittedEnctypes, unset.PermittedEnctypes, allAES)
	e.initial = typesOf(have.DefaultTktEnctypes, unset.DefaultTktEnctypes, e.permitted)
	e.others = typesOf(have.DefaultTGSEnctypes, unset.DefaultTGSEnctypes, e.permitted)
	for name, types := range map[string][]int32{"permitted_enctypes": e.permitted, "default_tkt_enctypes": e.initial, "default_tgs_enctypes": e.others} {
		if len(types) == 0 && (name == "permitted_enctypes" || len(e.permitted) > 0) {
			err = fmt.Errorf("kerberos: %s in krb5.conf has no AES: RC4 and DES do not work", name)
		}
	}
	return e, err
}

// typesOf returns the types of permitted that a list of names has. A list that is unset has all.
func typesOf(names, unset []string, permitted []int32) (types []int32) {
	if slices.Equal(names, unset) {
		return permitted
	}
	for _, name := range strings.FieldsFunc(strings.ToLower(strings.Join(names, ",")), func(r rune) bool { return r == ',' }) {
		name, without := strings.CutPrefix(name, "-")
		of := []int32{etypeID.ETypesByName[strings.TrimPrefix(name, "+")]}
		if name == "default" || name == "aes" || name == "+aes" {
			of = allAES
		}
		types = slices.DeleteFunc(types, func(t int32) bool { return slices.Contains(of, t) })
		for _, t := range of {
			if !without && slices.Contains(permitted, t) {
				types = append(types, t)
			}
		}
	}
	return types
}

// permits returns an error unless krb5.conf permits an encryption type.
func (e encryptionTypes) permits(etype int32) error {
	if keySize(etype) == 0 {
		return fmt.Errorf("encryption type %d, which is neither AES nor safe", etype)
	}
	if !slices.Contains(e.permitted, etype) {
		return fmt.Errorf("encryption type %d, which krb5.conf does not permit", etype)
	}
	return nil
}
