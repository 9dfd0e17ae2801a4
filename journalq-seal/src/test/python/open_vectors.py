"""Opens every batch in the file of JQE1 vectors, without any code of JournalQ. Prints the number of records."""
import hashlib, hmac, json, struct, sys
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

def mac(key, data): return hmac.new(key or bytes(32), data, hashlib.sha256).digest()

def expand(key, info, size):  # RFC 5869
    out, block, i = b"", b"", 1
    while len(out) < size:
        block = mac(key, block + info + bytes([i])); out += block; i += 1
    return out[:size]

def text(value): return struct.pack(">H", len(value.encode())) + value.encode()

def hpke_open(enc, private, info, aad, sealed):  # RFC 9180, base mode
    kem, suite = b"KEM\x00\x20", b"HPKE\x00\x20\x00\x01\x00\x02"
    def lextract(s, salt, label, ikm): return mac(salt, b"HPKE-v1" + s + label + ikm)
    def lexpand(s, key, label, data, size):
        return expand(key, struct.pack(">H", size) + b"HPKE-v1" + s + label + data, size)
    dh = private.exchange(X25519PublicKey.from_public_bytes(enc))
    context = enc + private.public_key().public_bytes_raw()
    shared = lexpand(kem, lextract(kem, b"", b"eae_prk", dh), b"shared_secret", context, 32)
    context = b"\x00" + lextract(suite, b"", b"psk_id_hash", b"") + lextract(suite, b"", b"info_hash", info)
    secret = lextract(suite, shared, b"secret", b"")
    nonce = lexpand(suite, secret, b"base_nonce", context, 12)
    return AESGCM(lexpand(suite, secret, b"key", context, 32)).decrypt(nonce, sealed, aad)

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
    Ed25519PublicKey.from_public_bytes(bytes.fromhex(vectors["senderPublic"])).verify(
        packet[-64:], b"JQE1 key packet\0" + packet[:-64])
    reader = Reader(packet)
    assert reader.take(4) == b"JQK1"
    epoch = reader.take(16); reader.take(16); commitment = reader.take(32)
    reader.text(); reader.text(); reader.text()
    info = packet[:reader.at]
    assert reader.number(1) == 1
    role, generation = reader.text(), reader.number(4)
    private = X25519PrivateKey.from_private_bytes(bytes.fromhex(vectors["rolePrivate"]))
    enc, sealed = reader.take(32), reader.take(48)
    secret = hpke_open(enc, private, info, text(role) + struct.pack(">i", generation), sealed)
    assert mac(secret, b"JQE1 commitment" + epoch) == commitment
    return epoch, secret

def records_of(data, count):
    reader, records = Reader(data), []
    for _ in range(count):
        reader.varint(); reader.take(1); reader.varint(); reader.varint()
        key, value = reader.varbytes(), reader.varbytes()
        records.append((key, value, [(reader.varbytes().decode(), reader.varbytes()) for _ in range(reader.varint())]))
    return records

def open_batch(batch, epoch, secret, realm, topic, partition):
    count, result = struct.unpack(">i", batch[57:61])[0], []
    for key, value, headers in records_of(batch[61:], count):
        envelope = dict(headers).get("jqe1")
        if envelope is None: continue
        assert envelope[:4] == b"JQE1" and envelope[8:24] == epoch
        mode, frame, number, index = envelope[4], 1 << envelope[6], envelope[32:40], int.from_bytes(envelope[40:44], "big")
        info = b"JQE1 key" + bytes([mode]) + text(realm) + text(topic) + struct.pack(">i", partition)
        aes = AESGCM(expand(mac(epoch, secret), info, 32))
        aad = envelope[:44] + text(realm) + text(topic) + struct.pack(">i", partition)
        if mode == 1:
            sealed, plain, i = envelope[44:], b"", 0
            while i == 0 or sealed:
                part, sealed = sealed[:frame + 16], sealed[frame + 16:]
                nonce = number + i.to_bytes(3, "big") + (b"\0" if sealed else b"\1")
                plain += aes.decrypt(nonce, part, aad + struct.pack(">i", count)); i += 1
            return records_of(plain[21:], count)
        aad += struct.pack(">ii", 0, len(key)) + key
        content = Reader(aes.decrypt(number + index.to_bytes(3, "big") + b"\1", value, aad))
        inner = [(content.bytes4().decode(), content.bytes4()) for _ in range(content.number(4))]
        result.append((key, content.take(len(content.data)), inner))
    return result

vectors, total = json.load(open(sys.argv[1])), 0
for entry in vectors["batches"]:
    epoch, secret = secret_of(bytes.fromhex(entry["packet"]), vectors)
    opened = open_batch(bytes.fromhex(entry["batch"]), epoch, secret, vectors["realm"], entry["topic"], entry["partition"])
    shown = [[r[0].hex(), r[1].hex(), [[n, v.hex() if v is not None else None] for n, v in r[2]]] for r in opened]
    assert shown == entry["records"], entry["name"]
    total += len(shown)
print(total)
