package io.journalq.seal;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.journalq.client.seal.BatchOpener;
import io.journalq.client.seal.BatchSealer;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.BatchReader;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.Header;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** A realm with a sender, a role and a sealed topic of each mode, over key topics in memory. For one test. */
final class SealedWorld implements AutoCloseable {
    static final String REALM = "tests";
    static final String SENDER = "billing";
    static final String ROLE = "readers";
    static final String SUBJECTS_PASSPHRASE = "secret";
    static final TopicPartition ORDERS = new TopicPartition("orders", 0);
    static final TopicPartition PRICES = new TopicPartition("prices", 0);
    static final TopicPartition CUSTOMERS = new TopicPartition("customers", 0);
    static final TopicPartition PATIENTS = new TopicPartition("patients", 0);
    private static final long TIME_MS = 1_700_000_000_000L;

    final MemoryKeyLog keys = new MemoryKeyLog();
    final KeyVault adminVault = KeyVault.inMemory();
    final KeyVault senderVault = KeyVault.inMemory();
    final KeyVault readerVault = KeyVault.inMemory();
    final SealAdmin admin;
    final String root;
    final SubjectKeys subjects;
    private final Path directory = Files.createTempDirectory("subjects");
    final Path subjectsDirectory = directory.resolve("keys");
    private final List<Runnable> opened = new ArrayList<>();

    /** A record as an application sees it. */
    record Plain(long offset, long timestampMs, String key, String value, List<Header> headers) {}

    SealedWorld() throws IOException {
        subjects = SubjectKeys.create(subjectsDirectory, SUBJECTS_PASSPHRASE.toCharArray(), 1, System::nanoTime);
        admin = SealAdmin.found(REALM, adminVault, keys, TrustPolicy.onFirstUse(null));
        root = Registry.fingerprint(adminVault.root().publicKey());
        TokenKey tokens = TokenKey.random();
        senderVault.addTokenKey(CUSTOMERS.topic(), tokens);
        byte[] sender = senderVault.makeSender(SENDER).publicKey();
        byte[] role = readerVault.makeRole(ROLE, 1).publicKey();
        admin.change(registry -> registry.withSender(SENDER, sender, List.of("*"))
                .withRole(ROLE, 1, role)
                .withTopic(ORDERS.topic(), SealMode.BATCH, List.of(ROLE))
                .withTopic(PRICES.topic(), SealMode.RECORD, List.of(ROLE))
                .withTopic(PATIENTS.topic(), SealMode.SUBJECT, List.of(ROLE))
                .withTokenTopic(CUSTOMERS.topic(), List.of(ROLE), tokens.commitment(CUSTOMERS.topic())));
    }

    static TopicPartition topicOf(SealMode mode) {
        return switch (mode) {
            case BATCH -> ORDERS;
            case RECORD -> PRICES;
            case TOKEN -> CUSTOMERS;
            case SUBJECT -> PATIENTS;
        };
    }

    SealPolicy.Builder policy(KeyVault vault) {
        return SealPolicy.builder()
                .realm(REALM)
                .trust(TrustPolicy.pinned(root, null))
                .vault(vault)
                .subjects(subjects)
                // Each use reads the registry again.
                .registryMaxAge(Duration.ofNanos(1));
    }

    BatchSealer sealer() {
        BatchSealer sealer = policy(senderVault).sender(SENDER).build().sealer(keys);
        opened.add(sealer::close);
        return sealer;
    }

    BatchOpener opener() {
        BatchOpener opener = policy(readerVault).build().opener(keys);
        opened.add(opener::close);
        return opener;
    }

    /**
     * An opener that reads the registry once. Checking its signatures takes most of the time of a test that opens
     * hundreds of changed batches.
     */
    BatchOpener openerThatKeepsTheRegistry(KeyVault vault) {
        BatchOpener opener =
                policy(vault).registryMaxAge(Duration.ofHours(1)).build().opener(keys);
        opened.add(opener::close);
        return opener;
    }

    static ByteBuf batch(CompressionCodec codec, int count, int valueBytes) {
        try (BatchBuilder builder = new BatchBuilder(ByteBufAllocator.DEFAULT, codec)) {
            builder.setProducerState(77, (short) 3, 5, false);
            for (int i = 0; i < count; i++) {
                builder.append(
                        TIME_MS + i,
                        ("key-" + i).getBytes(UTF_8),
                        ("value-" + i + "x".repeat(valueBytes)).getBytes(UTF_8),
                        List.of(new Header("h", ("header-" + i).getBytes(UTF_8)), new Header("none", null)));
            }
            return builder.build();
        }
    }

    /** Seals a batch, and gives it an offset as the broker does. */
    static byte[] seal(BatchSealer sealer, TopicPartition partition, ByteBuf plain, long baseOffset) {
        sealer.prepare(partition.topic());
        ByteBuf sealed = sealer.place(partition).seal(plain);
        try {
            RecordBatch.setBaseOffset(sealed, 0, baseOffset);
            return ByteBufUtil.getBytes(sealed);
        } finally {
            sealed.release();
        }
    }

    static List<Plain> open(BatchOpener opener, TopicPartition partition, byte[] sealed) {
        ByteBuf in = Unpooled.wrappedBuffer(sealed);
        ByteBuf out = Unpooled.buffer();
        opener.open(partition, in, 0, out);
        return read(out);
    }

    static List<Plain> read(ByteBuf batches) {
        List<Plain> records = new ArrayList<>();
        try (BatchReader reader =
                new BatchReader(ByteBufAllocator.DEFAULT, BatchReader.DEFAULT_MAX_DECOMPRESSED_SIZE_BYTES, false)) {
            reader.reset(batches);
            while (reader.nextBatch()) {
                while (reader.next()) {
                    records.add(new Plain(
                            reader.offset(),
                            reader.timestampMs(),
                            text(reader.key()),
                            text(reader.value()),
                            reader.headers()));
                }
            }
        }
        return records;
    }

    private static String text(ByteBuf view) {
        return view == null ? null : view.toString(UTF_8);
    }

    @Override
    public void close() {
        opened.forEach(Runnable::run);
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
