"""Prints bearers.json: bearers of Python's `cryptography`, as a client would make them.

    pip install cryptography==48.0.0 && python3 make.py > bearers.json
"""

import base64
import hashlib
import json

import cryptography
from cryptography.fernet import Fernet

AT = 1767225600
SECRET = "Correct-horse-9!"


def hashed(salt):
    return base64.urlsafe_b64encode(hashlib.sha256(salt.encode()).digest()).decode()


def case(salt, key, user, password):
    plain = base64.b64encode(f"{user}:{password}".encode())
    bearer = Fernet(key).encrypt_at_time(plain, AT).decode()
    return {"salt": salt, "user": user, "password": password, "at": AT, "bearer": bearer}


salts = ["a salt that is no key", "p\u00e9pper & m\u00f8re", "s"]
key = Fernet.generate_key().decode()
cases = [
    case(salts[0], hashed(salts[0]), "ann", SECRET),
    case(salts[1], hashed(salts[1]), "odd.user@corp.example", 'p:\u00e4 ss:"w\u00f6rd" \U0001f40e'),
    case(salts[2], hashed(salts[2]), "x", ""),
    case(key, key, "ann", SECRET),
]
print(json.dumps({"made_by": f"cryptography {cryptography.__version__}", "bearers": cases}, ensure_ascii=False, indent=2))
