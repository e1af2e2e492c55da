"""A Kerberos ticket for one SMB server, from the user's cache file or from the Kerberos server (RFC 4120).

The user has a ticket-granting ticket from kinit. With it the Kerberos server is asked (TGS-REQ) for a ticket for the
service ``cifs/HOST``, which its answer (TGS-REP) holds. A realm is what a Kerberos server serves, such as a domain.

impacket asks for tickets by itself, but waits forever for a server that is silent, spins when one hangs up, and takes
as many bytes as the server announces. So the request is ours, and impacket gets the ticket.
"""

import datetime as dt
import secrets
import socket
import struct
from pathlib import Path
from typing import Any, NamedTuple

from impacket.krb5 import asn1, constants, crypto, types
from impacket.krb5.ccache import CCache
from impacket.krb5.kerberosv5 import KerberosError
from pyasn1.codec.der import decoder, encoder
from pyasn1.error import PyAsn1Error
from pyasn1.type.univ import noValue

from app.base import errors
from app.clients import tcp
from app.clients.stall_watch import StallWatch

PORT = 88
_MOST_ANSWER_BYTES = 1 << 20
"""Limit of what the server announces; a ticket has some kilobytes."""
_LENGTH = struct.Struct(">i")
"""Stands in front of each message over TCP."""

_MOST_REALMS = 10
"""Each realm on the way to the server's may refer to another one; a server that always does has no end."""

_CHECKSUM_OF_KEY = {
    crypto.Enctype.AES256: crypto.Cksumtype.SHA1_AES256,
    crypto.Enctype.AES128: crypto.Cksumtype.SHA1_AES128,
    crypto.Enctype.DES3: crypto.Cksumtype.SHA1_DES3,
    crypto.Enctype.RC4: crypto.Cksumtype.HMAC_MD5,
}
"""The keyed checksum that goes with each kind of key (RFC 3961 6, RFC 4757 4)."""

_BODY_KEY_USAGE = 6
_AUTHENTICATOR_KEY_USAGE = 7
_ANSWER_KEY_USAGE = 8
"""What a key is used for, which goes into each encryption and checksum (RFC 4120 7.5.1): the request's body, the proof
that its key is known (the authenticator), and the answer."""


class ServiceLogin(NamedTuple):
    """Who logs in to the SMB server, with a ticket for it."""

    user: str
    realm: str
    ticket: dict[str, Any]
    """As impacket's ``kerberosLogin`` takes it for ``TGS``."""


class _Granted(NamedTuple):
    """A ticket that was granted, with the key of its session: at first that of kinit, then one of each realm asked."""

    answer: bytes
    """The encoded AS-REP or TGS-REP with the ticket."""
    cipher: Any
    """impacket's class that encrypts with keys of this kind."""
    session_key: Any
    """impacket's ``Key``; proves to whom the ticket was granted."""


def find_service_login(cache_path: Path, user: str, realm: str, host: str, timeout_seconds: float) -> ServiceLogin:
    """The login at ``cifs/host``; user and realm are the cache's where they are empty.

    Raises KerberosError for a refusal, LoginError without a ticket to start from.
    """
    cache = CCache.loadFile(str(cache_path))
    realm = realm or cache.principal.realm["data"].decode()
    service = f"cifs/{host}"

    # A ticket for the service may be there already.
    credential = cache.getCredential(f"{service}@{realm}".upper())
    if credential is not None:
        return ServiceLogin(user or _client_of(credential), realm, credential.toTGS(f"{service}@{realm}".upper()))

    # Else one is asked for, by the ticket-granting ticket (krbtgt) of the realm.
    credential = cache.getCredential(f"krbtgt/{realm}@{realm}".upper())
    if credential is None:
        raise errors.LoginError(f"smb://{host}: no Kerberos ticket of {realm} in {cache_path}; get one with kinit")

    granting = credential.toTGT()
    granted = _Granted(granting["KDC_REP"], granting["cipher"], granting["sessionKey"])
    ticket = _ask_for_service(service, realm, granted, timeout_seconds)
    return ServiceLogin(user or _client_of(credential), realm, ticket)


def _client_of(credential: Any) -> str:
    name: str = credential["client"].prettyPrint().decode()
    return name.partition("@")[0]


def _ask_for_service(service: str, realm: str, granted: _Granted, timeout_seconds: float) -> dict[str, Any]:
    """The ticket for the service, as impacket takes it; referrals are followed from realm to realm (RFC 6806 8)."""
    for _ in range(_MOST_REALMS):
        request = _service_request(service, realm, granted)
        answer = ask_kerberos(request, realm.upper(), timeout_seconds)  # the realm's name is its server's in DNS

        # Each answer is a ticket with a key of its own, encrypted with the key of the one before.
        old_key = granted.session_key
        granted = _granted_by(answer, granted)
        components = _name_of_ticket(answer)
        is_for_service = components[0] == service.partition("/")[0]
        if is_for_service:
            return {
                "KDC_REP": granted.answer,
                "cipher": granted.cipher,
                "oldSessionKey": old_key,
                "sessionKey": granted.session_key,
            }
        # A referral: a ticket-granting ticket for the next realm.
        realm = components[1]

    raise errors.LoginError(f"Kerberos server of {realm}: it refers from realm to realm without end; name the domain")


def _service_request(service: str, realm: str, granted: _Granted) -> bytes:
    """The TGS-REQ (RFC 4120 5.4.1) for the service by the ticket granted before."""
    now = dt.datetime.now(dt.UTC)
    nonce = secrets.randbits(31)

    # The body is made twice: by itself, for the checksum that the ticket is presented with, and in the request.
    body = asn1.KDC_REQ_BODY()
    _fill_body(body, service, realm, granted, now, nonce)

    request = asn1.TGS_REQ()
    request["pvno"] = 5
    request["msg-type"] = int(constants.ApplicationTagNumbers.TGS_REQ.value)
    request["padata"] = noValue
    request["padata"][0] = noValue
    request["padata"][0]["padata-type"] = int(constants.PreAuthenticationDataTypes.PA_TGS_REQ.value)
    request["padata"][0]["padata-value"] = _ticket_presented(granted, now, bytes(encoder.encode(body)))
    _fill_body(asn1.seq_set(request, "req-body"), service, realm, granted, now, nonce)
    return bytes(encoder.encode(request))


def _fill_body(body: Any, service: str, realm: str, granted: _Granted, now: dt.datetime, nonce: int) -> None:
    """Write what is asked for into ``body``: a ticket for the service that is valid for a day."""
    options = (
        constants.KDCOptions.forwardable,
        constants.KDCOptions.renewable,
        constants.KDCOptions.renewable_ok,
        constants.KDCOptions.canonicalize,
    )
    body["kdc-options"] = constants.encodeFlags([option.value for option in options])
    service_name = types.Principal(service, type=constants.PrincipalNameType.NT_SRV_INST.value)
    asn1.seq_set(body, "sname", service_name.components_to_asn1)
    body["realm"] = realm.upper()
    body["till"] = types.KerberosTime.to_asn1(now + dt.timedelta(days=1))
    body["nonce"] = nonce

    # In the order that impacket offers them: what its kerberosLogin has always been used with.
    encryptions = (
        constants.EncryptionTypes.rc4_hmac,
        constants.EncryptionTypes.des3_cbc_sha1_kd,
        constants.EncryptionTypes.des_cbc_md5,
    )
    asn1.seq_set_iter(body, "etype", (*(int(kind.value) for kind in encryptions), int(granted.cipher.enctype)))


def _ticket_presented(granted: _Granted, now: dt.datetime, body: bytes) -> bytes:
    """The AP-REQ (RFC 4120 5.5.1) that shows the ticket, with proof that its session key is known.

    ``body`` is that of the request, which the proof covers by its checksum.
    """
    decoded = _decoded_reply(granted.answer)
    ticket = types.Ticket()
    ticket.from_asn1(decoded["ticket"])
    client = types.Principal()
    client.from_asn1(decoded, "crealm", "cname")

    authenticator = asn1.Authenticator()
    authenticator["authenticator-vno"] = 5
    authenticator["crealm"] = decoded["crealm"].asOctets()
    asn1.seq_set(authenticator, "cname", client.components_to_asn1)
    authenticator["cusec"] = now.microsecond
    authenticator["ctime"] = types.KerberosTime.to_asn1(now)

    # impacket sends no checksum of the request; MIT's server refuses that since version 1.20.
    kind = _CHECKSUM_OF_KEY.get(int(granted.session_key.enctype))
    if kind is not None:
        authenticator["cksum"] = noValue
        authenticator["cksum"]["cksumtype"] = kind
        authenticator["cksum"]["checksum"] = crypto.make_checksum(kind, granted.session_key, _BODY_KEY_USAGE, body)

    proof = granted.cipher.encrypt(granted.session_key, _AUTHENTICATOR_KEY_USAGE, encoder.encode(authenticator), None)

    presented = asn1.AP_REQ()
    presented["pvno"] = 5
    presented["msg-type"] = int(constants.ApplicationTagNumbers.AP_REQ.value)
    presented["ap-options"] = constants.encodeFlags([])
    asn1.seq_set(presented, "ticket", ticket.to_asn1)
    presented["authenticator"] = noValue
    presented["authenticator"]["etype"] = granted.cipher.enctype
    presented["authenticator"]["cipher"] = proof
    return bytes(encoder.encode(presented))


def _decoded_reply(answer: bytes) -> Any:
    """The answer by which a ticket was granted: to kinit (AS-REP), or to our own request (TGS-REP)."""
    try:
        return decoder.decode(answer, asn1Spec=asn1.AS_REP())[0]
    except PyAsn1Error:
        return decoder.decode(answer, asn1Spec=asn1.TGS_REP())[0]


def _granted_by(answer: bytes, asked_with: _Granted) -> _Granted:
    """The ticket in the answer to a request that was made with another one, by whose key it is decrypted."""
    reply = decoder.decode(answer, asn1Spec=asn1.TGS_REP())[0]
    plain = asked_with.cipher.decrypt(asked_with.session_key, _ANSWER_KEY_USAGE, reply["enc-part"]["cipher"])
    content = decoder.decode(plain, asn1Spec=asn1.EncTGSRepPart())[0]

    kind = int(content["key"]["keytype"])
    session_key = crypto.Key(kind, content["key"]["keyvalue"].asOctets())
    return _Granted(answer, crypto._enctype_table[kind], session_key)  # noqa: SLF001 - impacket has no public table


def _name_of_ticket(answer: bytes) -> list[str]:
    """``cifs`` and the host, or ``krbtgt`` and the next realm to ask."""
    reply = decoder.decode(answer, asn1Spec=asn1.TGS_REP())[0]
    principal = types.Principal()
    principal.from_asn1(reply["ticket"], "realm", "sname")
    components: list[str] = principal.components
    return components


def ask_kerberos(request: bytes, server: str, timeout_seconds: float) -> bytes:
    """The server's answer, each of the two with its length in front (RFC 4120 7.2.2).

    Raises KerberosError for a refusal, StalledError after ``timeout_seconds`` without an answer.
    """
    where = f"Kerberos server {server}:{PORT}"
    watch = StallWatch(timeout_seconds, lambda: where)  # over all of the answer: a server may send it byte by byte
    with tcp.connect_tcp(server, PORT, where, timeout_seconds, "a Kerberos server") as sock:
        watch.start()
        try:
            sock.settimeout(watch.left_seconds())
            sock.sendall(_LENGTH.pack(len(request)) + request)

            (length,) = _LENGTH.unpack(_receive_exactly(sock, _LENGTH.size, watch, where))
            if not 0 < length <= _MOST_ANSWER_BYTES:
                raise errors.ProtocolError(
                    f"{where}: the answer would be {length} bytes long; is it a Kerberos server?"
                )
            answer = _receive_exactly(sock, length, watch, where)
        except TimeoutError as error:
            raise watch.error() from error
        except OSError as error:
            raise _hung_up(where) from error

    _check_refusal(answer)
    return answer


def _receive_exactly(sock: socket.socket, count: int, watch: StallWatch, where: str) -> bytes:
    data = b""
    while len(data) < count:
        watch.check()
        sock.settimeout(watch.left_seconds())
        part = sock.recv(count - len(data))
        if not part:
            raise _hung_up(where)
        data += part
    return data


def _hung_up(where: str) -> errors.LoginError:
    return errors.LoginError(f"{where}: it hung up before it had answered; see its log")


def _check_refusal(answer: bytes) -> None:
    """Raises KerberosError where the answer is a refusal; what is none does not decode as one."""
    try:
        error = decoder.decode(answer, asn1Spec=asn1.KRB_ERROR())[0]
    except PyAsn1Error:
        return
    raise KerberosError(packet=error)
