package io.journalq.fuzz;

import io.journalq.client.error.SealViolationException;
import io.journalq.client.error.SealingException;
import io.journalq.client.seal.BatchOpener;
import io.journalq.client.seal.KeyLog;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.record.InvalidBatchException;
import io.journalq.common.record.RecordBatch;
import io.journalq.seal.KeyVault;
import io.journalq.seal.RawKeyPair;
import io.journalq.seal.Registry;
import io.journalq.seal.SealAdmin;
import io.journalq.seal.SealMode;
import io.journalq.seal.SealPolicy;
import io.journalq.seal.TrustPolicy;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a consumer of sealed batches gets from a hostile broker: batches with their envelopes, key packets, and the
 * registry. First byte: what is changed; then its bytes. Nobody but the sender has the keys, so a consumer gets the
 * records of the sender or an exception. The rest of each world is that of the published vectors.
 */
final class SealTarget implements FuzzTarget {
    private static final String VECTORS = "/jqe1-vectors.json";
    private static final Pattern FIELD = Pattern.compile("\"(\\w+)\" : \"([0-9a-f]+)\"");
    private static final TopicPartition ORDERS = new TopicPartition("orders", 0);
    private static final TopicPartition PRICES = new TopicPartition("prices", 0);

    private static final int BATCH = 0;
    private static final int RECORDS = 1;
    private static final int PACKET = 2;
    private static final int REGISTRY = 3;

    /** Signatures and key exchanges, and a frame of 256 KiB in and out. */
    private static final long MAX_ALLOCATED_EXTRA_BYTES = 8L << 20;

    private static final int MAX_ALLOCATED_PER_BYTE = 500;

    private final SealPolicy policy;
    private final byte[] registry;
    private final List<byte[]> packets = new ArrayList<>();
    private final byte[] batch;
    private final byte[] records;
    private final List<String> plainOfBatch;
    private final List<String> plainOfRecords;

    /** Keeps what an administrator publishes. */
    private static final class Published implements KeyLog {
        private final List<Entry> entries = new ArrayList<>();

        @Override
        public long append(String topic, byte[] key, byte[] value) {
            entries.add(new Entry(entries.size(), key, value));
            return entries.size() - 1L;
        }

        @Override
        public Entry read(String topic, long offset) {
            return entries.get((int) offset);
        }

        @Override
        public void readAll(String topic, Consumer<Entry> each) {
            entries.forEach(each);
        }
    }

    SealTarget() {
        try {
            Matcher fields = FIELD.matcher(vectors());
            byte[] rolePrivate = field(fields, "rolePrivate");
            byte[] rolePublic = field(fields, "rolePublic");
            byte[] senderPublic = field(fields, "senderPublic");
            batch = field(fields, "batch");
            packets.add(field(fields, "packet"));
            field(fields, "batch");
            field(fields, "packet");
            records = field(fields, "batch");
            packets.add(field(fields, "packet"));

            KeyVault vault = KeyVault.inMemory();
            vault.addRole("readers", 1, new RawKeyPair(rolePrivate, rolePublic));
            Published published = new Published();
            SealAdmin.found("tests", vault, published, TrustPolicy.onFirstUse(null))
                    .change(first -> first.withSender("billing", senderPublic, List.of("*"))
                            .withRole("readers", 1, rolePublic)
                            .withTopic(ORDERS.topic(), SealMode.BATCH, List.of("readers"))
                            .withTopic(PRICES.topic(), SealMode.RECORD, List.of("readers")));
            registry = published.entries.get(published.entries.size() - 1).value();
            policy = SealPolicy.builder()
                    .realm("tests")
                    .trust(TrustPolicy.pinned(Registry.fingerprint(vault.root().publicKey()), null))
                    .vault(vault)
                    .build();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
        plainOfBatch = open(ORDERS, batch, packets, registry);
        plainOfRecords = open(PRICES, records, packets, registry);
        if (plainOfBatch == null || plainOfRecords == null) {
            throw new IllegalStateException("the vectors cannot be opened");
        }
    }

    /** The next field of this name. */
    private static byte[] field(Matcher fields, String name) {
        while (fields.find()) {
            if (fields.group(1).equals(name)) {
                return HexFormat.of().parseHex(fields.group(2));
            }
        }
        throw new IllegalStateException("no field " + name + " in " + VECTORS);
    }

    @Override
    public String name() {
        return "seals";
    }

    @Override
    public List<byte[]> seeds() {
        return List.of(
                seed(BATCH, batch), seed(RECORDS, records), seed(PACKET, packets.get(0)), seed(REGISTRY, registry));
    }

    private static String vectors() throws IOException {
        try (InputStream file = SealTarget.class.getResourceAsStream(VECTORS)) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static byte[] seed(int what, byte[] bytes) {
        byte[] seed = new byte[1 + bytes.length];
        seed[0] = (byte) what;
        System.arraycopy(bytes, 0, seed, 1, bytes.length);
        return seed;
    }

    @Override
    public void run(byte[] input) {
        if (input.length == 0) {
            return;
        }
        byte[] bytes = new byte[input.length - 1];
        System.arraycopy(input, 1, bytes, 0, bytes.length);
        switch (input[0] & 3) {
            case BATCH -> expect(plainOfBatch, open(ORDERS, bytes, packets, registry), true);
            case RECORDS -> expect(plainOfRecords, open(PRICES, bytes, packets, registry), false);
            case PACKET -> expect(plainOfBatch, open(ORDERS, batch, List.of(bytes), registry), true);
            default -> expect(plainOfBatch, open(ORDERS, batch, packets, bytes), true);
        }
    }

    /**
     * Checks what was opened.
     *
     * @param opened null if the batch was refused
     * @param whole whether all records belong together; otherwise a broker may remove some, and add tombstones
     */
    private static void expect(List<String> sent, List<String> opened, boolean whole) {
        if (opened == null || (whole ? opened.equals(sent) : sent.containsAll(opened))) {
            return;
        }
        throw new AssertionError("sent " + sent + ", opened " + opened);
    }

    /** The keys, values and headers of the records, without tombstones; null if the batch is refused. */
    private List<String> open(
            TopicPartition partition, byte[] sealed, List<byte[]> shownPackets, byte[] shownRegistry) {
        ByteBuf in = Unpooled.buffer().writeBytes(sealed);
        ByteBuf out = Unpooled.buffer();
        if (sealed.length < RecordBatch.HEADER_SIZE_BYTES) {
            return null;
        }
        // A consumer checks length and checksum before it opens a batch.
        SampleBatches.fixChecksums(in);
        try (BatchOpener opener = policy.opener(new ShownKeys(shownPackets, shownRegistry))) {
            opener.start(partition, 0, "");
            opener.open(partition, in, 0, out);
        } catch (SealViolationException | SealingException refused) {
            return null;
        }
        try {
            return OpenedBatch.contents(out);
        } catch (InvalidBatchException inconsistent) {
            throw new AssertionError("an opened batch cannot be read", inconsistent);
        }
    }

    @Override
    public long maxAllocatedBytes(int inputSizeBytes) {
        return MAX_ALLOCATED_EXTRA_BYTES + (long) MAX_ALLOCATED_PER_BYTE * inputSizeBytes;
    }
}
