"""When a certificate ends: the one field of X.509 that the standard library does not tell.

Certificate and its first part are sequences: version (tagged), serial number,
signature algorithm, issuer, and then the validity with its two times
(RFC 5280, section 4.1).
"""

from __future__ import annotations

import ssl
from datetime import UTC, datetime

BEGIN, END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
VERSION, TWO_DIGIT_YEAR = 0xA0, 0x17
BEFORE_VALIDITY = 3


def expiry(pem: str) -> float:
    """Return when the first certificate of `pem` ends, in Unix seconds.

    Raises `ValueError` where there is none or it is cut.
    """
    block = pem[pem.index(BEGIN) : pem.index(END) + len(END)]
    der = ssl.PEM_cert_to_DER_cert(block)
    try:
        return _not_after(der)
    except IndexError as error:
        raise ValueError("the certificate is cut") from error


def _not_after(der: bytes) -> float:
    _, at, _ = _part(der, 0)
    _, at, _ = _part(der, at)
    skipped = BEFORE_VALIDITY + (der[at] == VERSION)
    for _ in range(skipped):
        _, _, at = _part(der, at)
    _, at, _ = _part(der, at)
    _, _, at = _part(der, at)
    kind, start, end = _part(der, at)
    text = der[start:end].decode("ascii")
    if kind == TWO_DIGIT_YEAR:
        text = ("20" if text < "50" else "19") + text
    return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC).timestamp()


def _part(der: bytes, at: int) -> tuple[int, int, int]:
    """Return the tag of the element at `at`, and where its content starts and ends."""
    length, start = der[at + 1], at + 2
    if length & 0x80:
        start += length & 0x7F
        length = int.from_bytes(der[at + 2 : start], "big")
    return der[at], start, start + length
