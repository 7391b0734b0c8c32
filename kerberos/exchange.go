package kerberos

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/iana/flags"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/iana/patype"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// This file asks KDCs for tickets, RFC 4120, sections 3.1 and 3.3; reply.go checks what they
// answer. gokrb5 has a client, too: it allocates what a KDC says that its answer has, up to 4 GB,
// and it renews tickets in goroutines of its own, where a malformed answer is a panic that ends
// the program.

const maxReferrals = 8 // from one realm to the next

// A grant is a ticket that a KDC has granted to a client.
type grant struct {
	ticket messages.Ticket
	key    types.EncryptionKey
	from   time.Time
	until  time.Time
}

// A kdcClient asks KDCs on behalf of a principal.
type kdcClient struct {
	conf    *config.Config
	types   encryptionTypes
	who     *credentials.Credentials
	initial grant // with which others are asked for; renewed if who has a keytab
}

func newKDCClient(conf *config.Config, who *credentials.Credentials) (*kdcClient, error) {
	types, err := encryptionTypesOf(conf)
	return &kdcClient{conf: conf, types: types, who: who}, err
}

// renew gets an initial ticket by a key of the keytab.
func (k *kdcClient) renew(ctx context.Context) (grant, error) {
	r, err := messages.NewASReqForTGT(k.who.Domain(), k.conf, k.who.CName())
	if err != nil {
		return grant{}, err
	}
	r.ReqBody.EType = k.types.initial
	types.UnsetFlag(&r.ReqBody.KDCOptions, flags.Canonicalize) // the client has one name
	reply, err := k.sendAS(ctx, r)
	var refused messages.KRBError
	if errors.As(err, &refused) && refused.ErrorCode == errorcode.KDC_ERR_PREAUTH_REQUIRED {
		var proof types.PAData
		if proof, err = k.timestamp(refused); err != nil {
			return grant{}, err
		}
		r.PAData = append(r.PAData, proof)
		reply, err = k.sendAS(ctx, r)
	}
	if err != nil {
		return grant{}, err
	}
	return k.initialOf(reply, r.ReqBody)
}

func (k *kdcClient) sendAS(ctx context.Context, r messages.ASReq) (reply messages.ASRep, err error) {
	b, err := r.Marshal()
	if err != nil {
		return reply, err
	}
	return reply, k.send(ctx, k.who.Domain(), b, reply.Unmarshal)
}

// initialOf returns the ticket in a reply, which a key of the keytab opens.
func (k *kdcClient) initialOf(reply messages.ASRep, asked messages.KDCReqBody) (grant, error) {
	if err := k.types.permits(reply.EncPart.EType); err != nil {
		return grant{}, fmt.Errorf("the KDC's answer: %w", err)
	}
	key, _, ok := keyOf(k.who.Keytab(), k.who.CName(), k.who.Domain(), reply.EncPart.KVNO, reply.EncPart.EType)
	if !ok {
		return grant{}, fmt.Errorf("decrypting EncPart of AS_REP: the keytab has no key of %s with version %d and encryption type %d", nameOf(k.who.CName(), k.who.Domain()), reply.EncPart.KVNO, reply.EncPart.EType)
	}
	b, err := crypto.DecryptEncPart(reply.EncPart, key, keyusage.AS_REP_ENCPART)
	if err != nil {
		return grant{}, fmt.Errorf("decrypting EncPart of AS_REP: %w", err)
	}
	if err := reply.DecryptedEncPart.Unmarshal(b); err != nil {
		return grant{}, fmt.Errorf("the KDC's answer: %w", err)
	}
	if skew := time.Since(reply.DecryptedEncPart.AuthTime); skew.Abs() > k.conf.LibDefaults.Clockskew {
		return grant{}, fmt.Errorf("the KDC's answer: clock skew: its clock differs by %v", skew.Round(time.Second))
	}
	if !reply.DecryptedEncPart.SName.Equal(asked.SName) {
		return grant{}, fmt.Errorf("the KDC's answer: a ticket for %s, not %s", nameOf(reply.DecryptedEncPart.SName, asked.Realm), nameOf(asked.SName, asked.Realm))
	}
	return k.granted(reply.KDCRepFields, asked)
}

// timestamp returns the time, encrypted with a key that the KDC takes: RFC 4120, section 5.2.7.2.
func (k *kdcClient) timestamp(refused messages.KRBError) (types.PAData, error) {
	var offers types.PADataSequence
	if err := offers.Unmarshal(refused.EData); err != nil {
		return types.PAData{}, fmt.Errorf("the KDC's answer: %w", err)
	}
	for _, offer := range offers {
		if offer.PADataType != patype.PA_ETYPE_INFO2 {
			continue
		}
		infos, err := offer.GetETypeInfo2()
		if err != nil {
			return types.PAData{}, fmt.Errorf("the KDC's answer: %w", err)
		}
		for _, info := range infos {
			key, version, ok := keyOf(k.who.Keytab(), k.who.CName(), k.who.Domain(), 0, info.EType)
			if !ok || k.types.permits(info.EType) != nil {
				continue
			}
			if _, err := modern(key); err != nil {
				continue
			}
			return encryptedTime(key, version)
		}
	}
	return types.PAData{}, errNoCommonKey
}

var errNoCommonKey = errors.New("the keytab has no AES key that the KDC takes and krb5.conf permits")

func encryptedTime(key types.EncryptionKey, version int) (types.PAData, error) {
	now, err := types.GetPAEncTSEncAsnMarshalled()
	if err != nil {
		return types.PAData{}, err
	}
	sealed, err := crypto.GetEncryptedData(now, key, keyusage.AS_REQ_PA_ENC_TIMESTAMP, version)
	if err != nil {
		return types.PAData{}, err
	}
	b, err := sealed.Marshal()
	return types.PAData{PADataType: patype.PA_ENC_TIMESTAMP, PADataValue: b}, err
}

// service gets a ticket for a service, in the realm that domain_realm in krb5.conf or a KDC names.
func (k *kdcClient) service(ctx context.Context, spn string) (grant, error) {
	if left := time.Until(k.initial.until); k.who.HasKeytab() && left < k.initial.until.Sub(k.initial.from)/6 {
		t, err := k.renew(ctx)
		if err != nil {
			return grant{}, err
		}
		k.initial = t
	}
	realm, t := k.who.Domain(), k.initial
	name := types.NewPrincipalName(nametype.KRB_NT_SRV_HST, spn)
	if of := k.conf.ResolveRealm(name.NameString[len(name.NameString)-1]); of != "" && of != realm {
		var err error
		if t, err = k.travel(ctx, realm, t, types.PrincipalName{NameType: nametype.KRB_NT_SRV_INST, NameString: []string{"krbtgt", of}}); err != nil {
			return grant{}, err
		}
		realm = of
	}
	return k.travel(ctx, realm, t, name)
}

// travel gets a ticket for a name. It begins at the KDCs of a realm, for which t is, and follows
// them to other realms: RFC 4120, section 3.3.1, and RFC 6806, section 8.
func (k *kdcClient) travel(ctx context.Context, realm string, t grant, name types.PrincipalName) (grant, error) {
	for seen := map[string]bool{}; len(seen) < maxReferrals; {
		seen[realm] = true
		got, err := k.request(ctx, realm, t, name)
		var refused messages.KRBError
		switch errors.As(err, &refused); {
		case refused.ErrorCode == errorcode.KDC_ERR_S_PRINCIPAL_UNKNOWN && isInitialName(name):
			return grant{}, fmt.Errorf("no trust of the realm %s in %s: %w", realm, name.NameString[1], err)
		case err != nil:
			return grant{}, err
		}
		switch to := got.ticket.SName; {
		case to.Equal(name):
			return got, nil
		case !isInitialName(to):
			return grant{}, fmt.Errorf("the KDC gives a ticket for %s, not %s", nameOf(to, realm), nameOf(name, realm))
		case seen[to.NameString[1]]:
			return grant{}, fmt.Errorf("the KDC's answer: it refers to the realm %q again", to.NameString[1])
		default:
			realm, t = to.NameString[1], got
		}
	}
	return grant{}, fmt.Errorf("the KDC's answer: it refers to the realm %q after %d others", realm, maxReferrals)
}

// request gets a ticket for a name, or the one for another realm to which the KDC refers. Some
// KDCs do so only if asked to: RFC 6806, section 8. They may then give the service another name,
// too: they are not asked to at first.
func (k *kdcClient) request(ctx context.Context, realm string, t grant, name types.PrincipalName) (grant, error) {
	got, err := k.exchange(ctx, realm, t, name, false)
	var refused messages.KRBError
	if !errors.As(err, &refused) || refused.ErrorCode != errorcode.KDC_ERR_S_PRINCIPAL_UNKNOWN || isInitialName(name) {
		return got, err
	}
	if referral, err := k.exchange(ctx, realm, t, name, true); err == nil {
		return referral, nil
	}
	return grant{}, err
}

// exchange gets a ticket from the KDCs of a realm, for which t is. The ticket may be for another
// name than the one that was asked for.
func (k *kdcClient) exchange(ctx context.Context, realm string, t grant, name types.PrincipalName, refer bool) (grant, error) {
	conf := *k.conf
	conf.LibDefaults.Canonicalize = refer
	if _, err := modern(t.key); err != nil {
		return grant{}, err
	}
	r, err := messages.NewTGSReq(k.who.CName(), realm, &conf, t.ticket, t.key, name, false)
	if err != nil {
		return grant{}, err
	}
	r.ReqBody.EType = k.types.others
	if err := k.sign(&r, t); err != nil {
		return grant{}, err
	}
	b, err := r.Marshal()
	if err != nil {
		return grant{}, err
	}
	var reply messages.TGSRep
	if err := k.send(ctx, realm, b, reply.Unmarshal); err != nil {
		return grant{}, err
	}
	if err := reply.DecryptEncPart(t.key); err != nil {
		return grant{}, fmt.Errorf("the KDC's answer: %w", err)
	}
	return k.granted(reply.KDCRepFields, r.ReqBody)
}

// sign adds the ticket t to a request: RFC 4120, section 5.4.1. gokrb5 would name the realm of the
// ticket as the client's.
func (k *kdcClient) sign(r *messages.TGSReq, t grant) error {
	body, err := r.ReqBody.Marshal()
	if err != nil {
		return err
	}
	e, err := crypto.GetEtype(t.key.KeyType)
	if err != nil {
		return err
	}
	sum, err := e.GetChecksumHash(t.key.KeyValue, body, keyusage.TGS_REQ_PA_TGS_REQ_AP_REQ_AUTHENTICATOR_CHKSUM)
	if err != nil {
		return err
	}
	a, err := types.NewAuthenticator(k.who.Domain(), k.who.CName())
	if err != nil {
		return err
	}
	a.Cksum = types.Checksum{CksumType: e.GetHashID(), Checksum: sum}
	message, err := messages.NewAPReq(t.ticket, t.key, a)
	if err != nil {
		return err
	}
	b, err := message.Marshal()
	r.PAData = types.PADataSequence{{PADataType: patype.PA_TGS_REQ, PADataValue: b}}
	return err
}

// isInitialName reports whether a ticket for a name lets its owner ask for others.
func isInitialName(name types.PrincipalName) bool {
	return len(name.NameString) == 2 && name.NameString[0] == "krbtgt"
}
