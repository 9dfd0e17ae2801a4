package io.journalq.seal;

import static io.journalq.seal.KnownRealm.ORDERS;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.journalq.client.error.SealViolationException;
import io.journalq.client.error.SealingException;
import io.journalq.client.seal.BatchOpener;
import io.journalq.client.seal.BatchSealer;
import io.journalq.fuzz.FuzzTarget;
import io.journalq.fuzz.OpenedBatch;
import io.journalq.fuzz.ShownKeys;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The text of a registry, as a careless administrator could sign it. The input is the text; its signature is made right. A
 * registry has one text only. A producer makes key packets that consumers can read, or sends nothing. A consumer gets what
 * was sealed, or an exception.
 */
public final class KeyRegistryTarget implements FuzzTarget {
    /** Signatures, key exchanges, and packets for 16 roles of RSA. */
    private static final long MAX_ALLOCATED_EXTRA_BYTES = 16L << 20;

    private static final int MAX_ALLOCATED_PER_BYTE = 500;
    private static final int MAX_INPUT_SIZE_BYTES = 16 * 1024;

    private final KnownRealm realm = new KnownRealm();
    private final byte[] packet;
    private final byte[] batch;
    private final List<String> sent;

    /** Seals a batch. */
    public KeyRegistryTarget() {
        EpochKeys epoch = EpochKeys.random();
        packet = realm.packet(epoch, ORDERS, false, List.of(realm.ofX25519()));
        batch = realm.sealedBatch(epoch, 0, false);
        ByteBuf plain = KnownRealm.plain();
        sent = OpenedBatch.contents(plain);
        plain.release();
    }

    @Override
    public String name() {
        return "key-registry";
    }

    @Override
    public List<byte[]> seeds() {
        return List.of(
                realm.registry.toString().getBytes(UTF_8),
                realm.registry.withoutSender(KnownRealm.SENDER, 0).toString().getBytes(UTF_8),
                Registry.create(KnownRealm.NAME).toString().getBytes(UTF_8));
    }

    @Override
    public void run(byte[] input) {
        byte[] record = Registry.sign(realm.root, input);
        Registry.Signed decoded = Registry.decode(record);
        if (decoded != null && !Arrays.equals(decoded.registry().toString().getBytes(UTF_8), input)) {
            throw new AssertionError("a registry with two texts");
        }
        SealPolicy policy = realm.policy(realm.vault);
        send(policy, record);
        receive(policy, record);
    }

    private static void send(SealPolicy policy, byte[] record) {
        List<byte[]> appended = new ArrayList<>();
        for (String topic : List.of(ORDERS.topic(), KnownRealm.CUSTOMERS.topic())) {
            try (BatchSealer sealer = policy.sealer(new ShownKeys(appended, record))) {
                sealer.prepare(topic);
            } catch (SealingException refused) {
                continue;
            }
            KeyPacket.decode(appended.get(appended.size() - 1));
        }
    }

    private void receive(SealPolicy policy, byte[] record) {
        ByteBuf opened = Unpooled.buffer();
        try (BatchOpener opener = policy.opener(new ShownKeys(List.of(packet), record))) {
            opener.start(ORDERS, 0, "");
            opener.open(ORDERS, Unpooled.wrappedBuffer(batch), 0, opened);
        } catch (SealViolationException | SealingException refused) {
            return;
        }
        if (!OpenedBatch.contents(opened).equals(sent)) {
            throw new AssertionError("sent " + sent + ", opened " + OpenedBatch.contents(opened));
        }
    }

    @Override
    public long maxAllocatedBytes(int inputSizeBytes) {
        return MAX_ALLOCATED_EXTRA_BYTES + (long) MAX_ALLOCATED_PER_BYTE * inputSizeBytes;
    }

    @Override
    public int maxInputSizeBytes() {
        return MAX_INPUT_SIZE_BYTES;
    }
}
