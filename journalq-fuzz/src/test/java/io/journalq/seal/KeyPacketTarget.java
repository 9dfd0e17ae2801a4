package io.journalq.seal;

import static io.journalq.seal.KnownRealm.ORDERS;

import io.journalq.client.error.SealViolationException;
import io.journalq.client.error.SealingException;
import io.journalq.client.seal.BatchOpener;
import io.journalq.fuzz.FuzzTarget;
import io.journalq.fuzz.OpenedBatch;
import io.journalq.fuzz.ShownKeys;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Key packets behind their signature, as a sender with other intentions could write them. First byte: which packet is
 * replaced, and which keys the consumer has; then the packet without its signature, which is made right. A packet has one
 * encoding only. A consumer gets what was sealed, or an exception.
 */
public final class KeyPacketTarget implements FuzzTarget {
    private static final int PACKETS = 4;
    private static final int VAULT_SHIFT = 2;

    /** Signatures, key exchanges, the keys of RSA, and a frame in and out. */
    private static final long MAX_ALLOCATED_EXTRA_BYTES = 8L << 20;

    private static final int MAX_ALLOCATED_PER_BYTE = 500;

    private final KnownRealm realm = new KnownRealm();
    private final byte[] registry = realm.registry.sign(realm.root);

    /** For a role with a key of X25519, for one of each kind, for a role with an RSA key, and of an epoch of signed batches. */
    private final List<byte[]> packets = new ArrayList<>();

    private final List<byte[]> batches = new ArrayList<>();

    /** One with all keys, one for each role, and one without keys. */
    private final List<SealPolicy> policies = new ArrayList<>();

    private final List<String> sent;

    /** Seals a batch in each of the epochs. */
    public KeyPacketTarget() {
        List<List<KeyPacket.Reader>> readers = List.of(
                List.of(realm.ofX25519()),
                List.of(realm.ofX25519(), realm.ofRsa()),
                List.of(realm.ofRsa()),
                List.of(realm.ofX25519()));
        for (int i = 0; i < PACKETS; i++) {
            EpochKeys epoch = EpochKeys.random();
            boolean signed = i == PACKETS - 1;
            packets.add(realm.packet(epoch, ORDERS, signed, readers.get(i)));
            batches.add(realm.sealedBatch(epoch, i, signed));
        }
        KeyVault ofX25519 = KeyVault.inMemory();
        KeyVault ofRsa = KeyVault.inMemory();
        try {
            ofX25519.addRole(KnownRealm.X25519_ROLE, 1, realm.readers);
            ofRsa.addRole(KnownRealm.RSA_ROLE, 1, realm.auditors);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible); // The vaults have no files.
        }
        for (KeyVault vault : List.of(realm.vault, ofX25519, ofRsa, KeyVault.inMemory())) {
            policies.add(realm.policy(vault));
        }
        ByteBuf plain = KnownRealm.plain();
        sent = OpenedBatch.contents(plain);
        plain.release();
    }

    @Override
    public String name() {
        return "key-packets";
    }

    @Override
    public List<byte[]> seeds() {
        List<byte[]> seeds = new ArrayList<>();
        for (int vault = 0; vault < policies.size(); vault++) {
            for (int i = 0; i < PACKETS; i++) {
                byte[] packet = packets.get(i);
                int signedBytes = packet.length - RawKeyPair.SIGNATURE_SIZE_BYTES;
                seeds.add(new FieldWriter()
                        .number8(vault << VAULT_SHIFT | i)
                        .bytes(Arrays.copyOf(packet, signedBytes))
                        .done());
            }
        }
        return seeds;
    }

    @Override
    public void run(byte[] input) {
        if (input.length == 0) {
            return;
        }
        byte[] unsigned = Arrays.copyOfRange(input, 1, input.length);
        byte[] packet = new FieldWriter()
                .bytes(unsigned)
                .bytes(realm.sender.sign(KeyPacket.SIGNATURE_LABEL, unsigned))
                .done();
        expectOneEncoding(packet);
        int number = input[0] & 3;
        List<byte[]> shown = new ArrayList<>(packets);
        shown.set(number, packet);
        SealPolicy policy = policies.get(input[0] >> VAULT_SHIFT & 3);
        ByteBuf opened = Unpooled.buffer();
        try (BatchOpener opener = policy.opener(new ShownKeys(shown, registry))) {
            opener.start(ORDERS, 0, "");
            opener.open(ORDERS, Unpooled.wrappedBuffer(batches.get(number)), 0, opened);
        } catch (SealViolationException | SealingException refused) {
            return;
        }
        if (!OpenedBatch.contents(opened).equals(sent)) {
            throw new AssertionError("sent " + sent + ", opened " + OpenedBatch.contents(opened));
        }
    }

    private void expectOneEncoding(byte[] packet) {
        KeyPacket decoded;
        try {
            decoded = KeyPacket.decode(packet);
        } catch (SealFault malformed) {
            return;
        }
        if (!Arrays.equals(decoded.sign(realm.sender), packet)) {
            throw new AssertionError("a key packet with two encodings");
        }
    }

    @Override
    public long maxAllocatedBytes(int inputSizeBytes) {
        return MAX_ALLOCATED_EXTRA_BYTES + (long) MAX_ALLOCATED_PER_BYTE * inputSizeBytes;
    }
}
