"""Opens every batch in the file of JQE1 vectors, without any code of JournalQ. Prints the number of records."""
import hashlib, hmac, json, struct, sys
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ed25519, padding, x25519
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
def mac(key, data): return hmac.new(key or bytes(32), data, hashlib.sha256).digest()
def text(value): return len(value.encode()).to_bytes(2, "big") + value.encode()
def shown(value): return None if value is None else value.hex()
def expand(key, info, size): return mac(key, info + b"\1")[:size]  # RFC 5869, at most 32 bytes
def hpke_open(enc, private, info, aad, sealed):  # RFC 9180, base mode
    kem, suite = b"KEM\x00\x20", b"HPKE\x00\x20\x00\x01\x00\x02"
    def lextract(s, salt, label, ikm): return mac(salt, b"HPKE-v1" + s + label + ikm)
    def lexpand(s, key, label, data, n): return expand(key, struct.pack(">H", n) + b"HPKE-v1" + s + label + data, n)
    dh, context = private.exchange(x25519.X25519PublicKey.from_public_bytes(enc)), enc + private.public_key().public_bytes_raw()
    shared = lexpand(kem, lextract(kem, b"", b"eae_prk", dh), b"shared_secret", context, 32)
    context = b"\x00" + lextract(suite, b"", b"psk_id_hash", b"") + lextract(suite, b"", b"info_hash", info)
    secret = lextract(suite, shared, b"secret", b"")
    aes, nonce = AESGCM(lexpand(suite, secret, b"key", context, 32)), lexpand(suite, secret, b"base_nonce", context, 12)
    return aes.decrypt(nonce, sealed, aad)

class Reader:
    def __init__(self, data): self.data, self.at = data, 0
    def take(self, size): self.at += size; return self.data[self.at - size:self.at]
    def number(self, size): return int.from_bytes(self.take(size), "big", signed=size == 4)
    def text(self): return self.take(self.number(2)).decode()
    def bytes4(self): size = self.number(4); return None if size < 0 else self.take(size)
    def varint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]; value |= (byte & 127) << shift; shift += 7
            if byte < 128: return (value >> 1) ^ -(value & 1)
    def varbytes(self): size = self.varint(); return None if size < 0 else self.take(size)

def secret_of(packet, vectors):
    public, reader = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(vectors["senderPublic"])), Reader(packet)
    public.verify(packet[-64:], b"JQE1 key packet\0" + packet[:-64])
    magic, epoch, secrets = reader.take(4), reader.take(16), []
    assert magic in (b"JQK1", b"JQK2", b"JQK3"); reader.take(16); commitment = reader.take(32); reader.text(); reader.text(); reader.text()
    info = packet[:reader.at]
    for _ in range(reader.number(1)):
        aad = text(reader.text()) + struct.pack(">i", reader.number(4))
        if magic == b"JQK1" or reader.number(1) == 1:
            private = x25519.X25519PrivateKey.from_private_bytes(bytes.fromhex(vectors["rolePrivate"]))
            secrets.append(hpke_open(reader.take(32), private, info, aad, reader.take(48)))
        else:
            private = serialization.load_der_private_key(bytes.fromhex(vectors["rsaPrivate"]), None)
            sha256, sealed = hashes.SHA256(), reader.bytes4()
            message = private.decrypt(sealed, padding.OAEP(padding.MGF1(sha256), sha256, None))
            assert message[32:] == hashlib.sha256(b"JQE1 rsa\0" + info + aad).digest()
            secrets.append(message[:32])
    assert secrets and all(mac(secret, b"JQE1 commitment" + epoch) == commitment for secret in secrets)
    return epoch, secrets[0], public if magic == b"JQK3" else None

def records_of(data, count):
    reader, records = Reader(data), []
    for _ in range(count):
        reader.varint(); reader.take(1); reader.varint(); reader.varint(); key, value = reader.varbytes(), reader.varbytes()
        records.append((key, value, [(reader.varbytes().decode(), reader.varbytes()) for _ in range(reader.varint())]))
    return records
def subject_key(topic, subject):
    store = bytes.fromhex(vectors["subjects"]["store"])
    master = hashlib.pbkdf2_hmac("sha512", vectors["passphrase"].encode(), store[8:24], int.from_bytes(store[4:8], "big"), 32)
    assert store[:4] == b"JQS1" and store[24:] == mac(master, b"JQE1 subjects check\0")
    name = mac(mac(master, b"JQE1 subjects name\0"), text(topic) + subject).hex()
    aes, file = AESGCM(mac(master, b"JQE1 subjects wrap\0")), bytes.fromhex(vectors["subjects"][name])
    return aes.decrypt(file[4:16], file[16:], file[:4] + name.encode())

def open_batch(batch, epoch, secret, signer, realm, topic, partition):
    count, result = struct.unpack(">i", batch[57:61])[0], []
    for key, value, headers in records_of(batch[61:], count):
        if (envelope := dict(headers).get("jqe1")) is None: continue
        assert envelope[:4] == b"JQE1" and envelope[8:24] == epoch
        mode, frame, number, index = envelope[4], 1 << envelope[6], envelope[32:40], int.from_bytes(envelope[40:44], "big")
        place = text(realm) + text(topic) + struct.pack(">i", partition)
        aes_key = expand(mac(epoch, secret), b"JQE1 key" + bytes([mode]) + place, 32)
        if mode == 4:
            if not (subject := subject_key(topic, key)): continue  # destroyed
            aes_key = expand(mac(subject, aes_key), b"JQE1 subject record", 32)
        aad = envelope[:44] + place
        if mode == 1:
            sealed, plain, i, aad = envelope[44:], b"", 0, aad + struct.pack(">i", count)
            if signer: sealed = sealed[:-64]; signer.verify(envelope[-64:], b"JQE1 batch\0" + aad + sealed)
            while i == 0 or sealed:
                part, sealed = sealed[:frame + 16], sealed[frame + 16:]
                plain += AESGCM(aes_key).decrypt(number + i.to_bytes(3, "big") + (b"\0" if sealed else b"\1"), part, aad); i += 1
            return records_of(plain[21:], count)
        aad += struct.pack(">ii", 0, len(key)) + key + (b"\0" if mode == 3 else b"")
        content = Reader(AESGCM(aes_key).decrypt(number + index.to_bytes(3, "big") + b"\1", value, aad))
        inner = [(content.bytes4().decode(), content.bytes4()) for _ in range(content.number(4))]
        token, key = key, content.bytes4() if mode == 3 else key
        assert mode != 3 or token == mac(token_key, b"JQE1 token\0" + text(realm) + text(topic) + key)[:16]
        result.append((key, content.take(len(content.data)), inner))
    return result

vectors = json.load(open(sys.argv[1])); token_key = bytes.fromhex(vectors.get("tokenKey", ""))
for entry in vectors["batches"]:
    keys = secret_of(bytes.fromhex(entry["packet"]), vectors)
    opened = open_batch(bytes.fromhex(entry["batch"]), *keys, vectors["realm"], entry["topic"], entry["partition"])
    assert [[shown(k), shown(v), [[n, shown(x)] for n, x in h]] for k, v, h in opened] == entry["records"], entry["name"]
print(sum(len(entry["records"]) for entry in vectors["batches"]))
