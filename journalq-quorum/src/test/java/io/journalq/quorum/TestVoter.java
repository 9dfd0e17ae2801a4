package io.journalq.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.Message;
import io.journalq.quorum.QuorumConfig.LogSizes;
import io.journalq.server.control.MetadataBatch;
import io.journalq.server.control.MetadataLog.Role;
import io.journalq.server.control.QuorumProvider;
import io.journalq.server.control.QuorumVoter;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.process.LoopbackPorts;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/** A voter with a directory and a recording replica. A restart gives it a new replica. */
final class TestVoter implements AutoCloseable {
    static final Uuid CLUSTER = new Uuid(7, 9);

    /** Small, so that a test of some hundred records has several snapshots, and a log without the first entries. */
    static final LogSizes SMALL = new LogSizes(100, 1 << 20, 50, 4 << 10);

    private static final int WAIT_SECONDS = 60;

    private static final AtomicLong DIRECTORIES = new AtomicLong();

    final QuorumVoter voter;
    final Path directory;
    final FileStore store;
    final LogSizes sizes;
    final List<QuorumVoter> founders;
    /** Where it listens, if the others reach it at another port. */
    int listenPort;

    /** Asks the quorum to add it; null if it votes already. */
    QuorumProvider.Admission admission;

    RecordingReplica replica = new RecordingReplica();
    RatisMetadataLog log;
    volatile Role role;

    /** Every role since the voter was opened. */
    final List<Role> roles = new CopyOnWriteArrayList<>();

    TestVoter(QuorumVoter voter, Path directory, FileStore store, LogSizes sizes, List<QuorumVoter> founders) {
        this.voter = voter;
        this.directory = directory;
        this.store = store;
        this.sizes = sizes;
        this.founders = founders;
        this.listenPort = voter.port();
    }

    static QuorumVoter identity(int nodeId) {
        // Ratis registers its metrics by this id, and voters of several tests run at the same time.
        return new QuorumVoter(
                nodeId, new Uuid(DIRECTORIES.incrementAndGet(), nodeId), "127.0.0.1", LoopbackPorts.next());
    }

    /** The only voter of a new quorum. */
    static TestVoter single(Path directory, LogSizes sizes) {
        QuorumVoter self = identity(1);
        return new TestVoter(self, directory, new SystemFileStore(), sizes, List.of(self));
    }

    TestVoter open() throws IOException {
        return open(false);
    }

    TestVoter open(boolean lostPower) throws IOException {
        InetSocketAddress bind = InetSocketAddress.createUnresolved(voter.host(), listenPort);
        QuorumConfig config = new QuorumConfig(CLUSTER, voter, bind, founders, directory, lostPower, sizes, null);
        replica = new RecordingReplica();
        role = null;
        log = new RatisMetadataLog(config, store, Clock.systemUTC(), UnpooledByteBufAllocator.DEFAULT, admission);
        roles.clear();
        log.onRole(now -> {
            role = now;
            roles.add(now);
        });
        log.open(replica);
        return this;
    }

    TestVoter awaitLeading() {
        await("voter " + voter.nodeId() + " leads", () -> role == Role.LEADING);
        return this;
    }

    /** Proposes one batch at the end of what is applied here. */
    CompletableFuture<Void> propose(long... values) {
        return proposeAt(replica.size(), values);
    }

    CompletableFuture<Void> proposeAt(long baseOffset, long... values) {
        List<Message> records = new ArrayList<>();
        for (long value : values) {
            records.add(RecordingReplica.record(value));
        }
        return log.propose(new MetadataBatch(baseOffset, records));
    }

    /** Proposes {@code count} batches of one record each, one after the other, and waits for each. */
    void proposeAll(long first, int count) throws Exception {
        for (long value = first; value < first + count; value++) {
            propose(value).get(WAIT_SECONDS, TimeUnit.SECONDS);
        }
    }

    void awaitValues(List<Long> expected) {
        await("voter " + voter.nodeId() + " has everything", () -> replica.size() >= expected.size());
        assertThat(replica.values()).isEqualTo(expected);
    }

    static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() < deadline)
                    .as("within %d s: %s", WAIT_SECONDS, what)
                    .isTrue();
            try {
                Thread.sleep(5);
            } catch (InterruptedException interrupted) {
                throw new AssertionError(interrupted);
            }
        }
    }

    boolean isClosed() {
        return log == null;
    }

    /** Stops the voter. It can be opened again. */
    void stop() throws IOException {
        if (log != null) {
            log.close();
            log = null;
        }
        role = null;
    }

    @Override
    public void close() throws IOException {
        stop();
    }
}
