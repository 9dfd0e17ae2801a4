package io.journalq.server.control;

import io.journalq.common.id.Uuid;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.JournalConfig;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.TestBrokers;
import io.journalq.server.metadata.TopicSpec;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** A controller with a metadata log in a file store, set up as in a broker. */
final class ControllerFixture implements AutoCloseable {
    static final int NODE = 1;
    static final MetadataMachine.Limits LIMITS = new MetadataMachine.Limits(NODE, 2, 50, 200);

    /** Small, so that the log of a test spans several segments and snapshots. */
    static final int SEGMENT_SIZE_BYTES = 4_000;

    static final int SNAPSHOT_INTERVAL_BYTES = 3_000;

    private static final Path MEMORY_DIRECTORY = Path.of("metadata-0");
    private static final int WAIT_SECONDS = 60;

    final MetadataPublisher publisher = new MetadataPublisher(Runnable::run);
    final Controller controller;

    private ControllerFixture(FileStore store, Path directory, Supplier<Uuid> ids, UnaryOperator<MetadataLog> around)
            throws IOException {
        JournalConfig config = LocalMetadataLog.JOURNAL_CONFIG.withSegmentSizeBytes(SEGMENT_SIZE_BYTES);
        Journal journal = Journal.openWhole(store, directory, config, Runnable::run);
        Clock clock = Clock.fixed(Instant.ofEpochMilli(1_000), ZoneOffset.UTC);
        MetadataLog log =
                new LocalMetadataLog(NODE, journal, clock, UnpooledByteBufAllocator.DEFAULT, SNAPSHOT_INTERVAL_BYTES);
        MetadataReplica replica = new MetadataReplica(new MetadataMachine(LIMITS), publisher);
        controller = new Controller(replica, around.apply(log), ids, Controller.newThread());
    }

    static ControllerFixture start(FileStore store, Supplier<Uuid> ids) throws IOException {
        return start(store, ids, UnaryOperator.identity());
    }

    static ControllerFixture start(FileStore store, Supplier<Uuid> ids, UnaryOperator<MetadataLog> around)
            throws IOException {
        return start(store, MEMORY_DIRECTORY, ids, around);
    }

    static ControllerFixture start(
            FileStore store, Path directory, Supplier<Uuid> ids, UnaryOperator<MetadataLog> around) throws IOException {
        ControllerFixture fixture = new ControllerFixture(store, directory, ids, around);
        try {
            fixture.controller.start(clusterId -> {}).join();
            fixture.controller
                    .registerBroker(TestBrokers.registration(NODE), -1)
                    .join();
        } catch (CompletionException failure) {
            if (failure.getCause() instanceof UncheckedIOException cannotWrite) {
                throw cannotWrite.getCause();
            }
            if (failure.getCause() instanceof IOException cannotWrite) {
                throw cannotWrite;
            }
            throw failure;
        }
        return fixture;
    }

    static <T> T await(CompletableFuture<T> future) throws Exception {
        return future.get(WAIT_SECONDS, TimeUnit.SECONDS);
    }

    MetadataImage image() {
        return publisher.current();
    }

    Outcome create(String name, int partitions) throws Exception {
        return create(new TopicSpec(name, partitions, 1, List.of(), Map.of()));
    }

    Outcome create(TopicSpec spec) throws Exception {
        return await(controller.createTopics(List.of(spec), false)).get(0);
    }

    @Override
    public void close() throws IOException {
        controller.close();
    }
}
