package io.journalq.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.protocol.Message;
import io.journalq.quorum.QuorumConfig.LogSizes;
import io.journalq.server.control.LocalMetadataLog;
import io.journalq.server.control.MetadataBatch;
import io.journalq.server.control.MetadataLog;
import io.journalq.server.control.MetadataLog.Role;
import io.journalq.server.control.QuorumProvider;
import io.journalq.server.control.QuorumVoter;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.SystemFileStore;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A quorum that begins with the metadata of a single broker. */
class FoundingTest {
    private static final int RECORDS = 30;

    private final FileStore store = new SystemFileStore();
    private final QuorumVoter self = TestVoter.identity(1);
    private final RatisQuorumProvider provider = new RatisQuorumProvider();

    @TempDir
    Path directory;

    private static List<Long> upTo(long end) {
        return LongStream.range(0, end).boxed().toList();
    }

    private QuorumProvider.Voter voter(FileStore files) {
        return voter(self, directory, files);
    }

    private QuorumProvider.Voter voter(QuorumVoter voter, Path dataDirectory) {
        return voter(voter, dataDirectory, store);
    }

    private static QuorumProvider.Voter voter(QuorumVoter voter, Path dataDirectory, FileStore files) {
        return new QuorumProvider.Voter(
                voter.nodeId(),
                voter.host(),
                voter.port(),
                InetSocketAddress.createUnresolved(voter.host(), voter.port()),
                null,
                dataDirectory,
                files,
                Clock.systemUTC(),
                UnpooledByteBufAllocator.DEFAULT);
    }

    private LocalMetadataLog local() throws IOException {
        Journal journal = Journal.openWhole(
                store,
                directory.resolve(RatisMetadataLog.METADATA_DIRECTORY),
                LocalMetadataLog.JOURNAL_CONFIG,
                Runnable::run);
        return new LocalMetadataLog(1, journal, Clock.systemUTC(), UnpooledByteBufAllocator.DEFAULT);
    }

    /** Writes what a single broker has decided. */
    private void writeRecords() throws IOException {
        try (LocalMetadataLog log = local()) {
            log.open(new RecordingReplica());
            for (long value = 0; value < RECORDS; value++) {
                log.propose(new MetadataBatch(value, List.of(RecordingReplica.record(value))))
                        .join();
            }
        }
    }

    private void found(FileStore files) throws IOException {
        RecordingReplica replica = new RecordingReplica();
        try (LocalMetadataLog log = local()) {
            log.open(replica);
            assertThat(replica.values()).isEqualTo(upTo(RECORDS));
            provider.found(voter(files), TestVoter.CLUSTER, self.directoryId(), replica, RECORDS);
        }
    }

    private TestVoter founder() {
        return new TestVoter(self, directory, store, LogSizes.DEFAULT, List.of(self));
    }

    @Test
    void shouldHaveTheRecordsOfTheSingleBrokerWhenItHasFoundedAQuorum() throws Exception {
        // given
        writeRecords();

        // when
        found(store);

        // then
        try (TestVoter voter = founder().open().awaitLeading()) {
            assertThat(voter.replica.values()).isEqualTo(upTo(RECORDS));
            voter.proposeAll(RECORDS, 10);
            voter.stop();
            voter.open().awaitLeading();
            assertThat(voter.replica.values()).isEqualTo(upTo(RECORDS + 10));
        }
        try (Journal journal = Journal.open(
                store,
                directory.resolve(RatisMetadataLog.METADATA_DIRECTORY),
                LocalMetadataLog.JOURNAL_CONFIG,
                Runnable::run)) {
            assertThat(journal.startOffset()).as("the journal goes on").isZero();
            assertThat(journal.endOffset()).isEqualTo(RECORDS + 10);
        }
    }

    @Test
    void shouldHaveTheOldOrTheNewStateWhenItIsKilledWhileItFounds() throws Exception {
        writeRecords();
        KilledFileStore files;
        int changes = 0;
        do {
            files = new KilledFileStore(store, changes);
            try {
                found(files);
            } catch (IOException killed) {
                assertThat(killed).hasMessageContaining("planted");
            }
            if (Files.exists(directory.resolve(QuorumProvider.DIRECTORY))) {
                assertComplete();
                new SystemFileStore().delete(directory.resolve(QuorumProvider.DIRECTORY));
            }
            changes++;
        } while (files.isKilled());

        assertThat(changes).as("places at which it was killed").isGreaterThan(8);
        found(store);
        try (TestVoter voter = founder().open().awaitLeading()) {
            assertThat(voter.replica.values()).isEqualTo(upTo(RECORDS));
        }
    }

    /** Checks that the quorum begins with all records. */
    private void assertComplete() throws IOException {
        VoterDirectory found = VoterDirectory.find(store, directory);
        assertThat(found.clusterId()).isEqualTo(TestVoter.CLUSTER);
        assertThat(found.directoryId()).isEqualTo(self.directoryId());
        assertThat(found.isFounder(store)).isTrue();
        assertThat(found.group().resolve("current/raft-meta")).isNotEmptyFile();
        RecordingReplica replica = new RecordingReplica();
        Path journal = directory.resolve("other");
        try (AppliedMetadata applied =
                new AppliedMetadata(store, journal, Runnable::run, UnpooledByteBufAllocator.DEFAULT, replica)) {
            applied.open();
            applied.restore(0, SnapshotFile.read(store, found.group().resolve("sm/snapshot.0_0")));
            assertThat(replica.values()).isEqualTo(upTo(RECORDS));
        }
        store.delete(journal);
    }

    @Test
    void shouldRefuseADirectoryWhenItIsNotOfOneVoter() throws Exception {
        writeRecords();
        found(store);
        Files.createDirectory(directory.resolve(QuorumProvider.DIRECTORY).resolve("another"));

        assertThatThrownBy(() -> provider.log(voter(store), false, null))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("is not the directory of one voter");
    }

    @Test
    void shouldRefuseADirectoryWhenItHasNoSnapshot() throws Exception {
        writeRecords();
        found(store);
        Files.delete(VoterDirectory.find(store, directory).group().resolve("sm/snapshot.0_0"));

        assertThatThrownBy(() -> provider.log(voter(store), false, null))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("has no snapshot of the metadata");
    }

    @Test
    @Tag("long")
    void shouldGiveItsRecordsToAVoterThatJoins(@TempDir Path joining) throws Exception {
        writeRecords();
        found(store);
        try (TestVoter voter = founder().open().awaitLeading();
                TestVoter second = new TestVoter(TestVoter.identity(2), joining, store, LogSizes.DEFAULT, List.of())) {
            second.open();
            voter.log.add(second.voter, false).get(30, TimeUnit.SECONDS);
            voter.proposeAll(RECORDS, 10);

            second.awaitValues(upTo(RECORDS + 10));
            second.stop();
            second.open();
            second.awaitValues(upTo(RECORDS + 10));
        }
    }

    @Test
    @Tag("long")
    void shouldNotLeadAQuorumOfItsOwnWhenItIsKilledWhileItJoins(@TempDir Path joining, @TempDir Path killed)
            throws Exception {
        // given a voter that has the first snapshot, and nothing of the log that follows
        writeRecords();
        found(store);
        QuorumVoter second = TestVoter.identity(2);
        try (TestVoter founder = founder().open().awaitLeading();
                MetadataLog joins =
                        provider.join(voter(second, joining), TestVoter.CLUSTER, second.directoryId(), () -> founder.log
                                .add(second, false)
                                .join())) {
            joins.open(new RecordingReplica() {
                @Override
                public synchronized void restore(List<Message> snapshot) {
                    super.restore(snapshot);
                    copy(joining.resolve(QuorumProvider.DIRECTORY), killed.resolve(QuorumProvider.DIRECTORY));
                }
            });
        }

        // when it starts again
        QuorumProvider.Voter restarted = voter(second, killed);
        assertThat(provider.hasJoined(restarted)).isTrue();
        List<Role> roles = new CopyOnWriteArrayList<>();
        try (MetadataLog log = provider.log(restarted, false, null)) {
            log.onRole(roles::add);
            log.open(new RecordingReplica());
            Thread.sleep(4 * RatisSettings.ELECTION_TIMEOUT_MAX_MS);

            // then
            assertThat(roles).doesNotContain(Role.LEADING);
        }
    }

    @Test
    @Tag("long")
    void shouldJoinWhenItWasKilledBeforeItsDirectoryWasComplete(@TempDir Path joining) throws Exception {
        writeRecords();
        found(store);
        List<MetadataLog> logs = new ArrayList<>();
        try (TestVoter founder = founder().open().awaitLeading()) {
            for (int step = 0; step < 5; step++) {
                // given what a killed voter has left
                QuorumVoter joiner = TestVoter.identity(2 + step);
                Path own = joining.resolve(joiner.directoryId().toString());
                Path quorum = own.resolve(QuorumProvider.DIRECTORY);
                VoterDirectory complete = VoterDirectory.in(quorum, joiner.directoryId(), TestVoter.CLUSTER);
                Path log = complete.group().resolve("current");
                Files.createDirectories(List.of(quorum, complete.storage(), complete.group(), log, log)
                        .get(step));
                if (step == 4) {
                    Files.createFile(log.resolve("raft-meta.tmp"));
                }
                QuorumProvider.Voter voter = voter(joiner, own);
                assertThat(provider.hasJoined(voter)).isFalse();

                // when
                MetadataLog joined = provider.join(voter, TestVoter.CLUSTER, joiner.directoryId(), () -> founder.log
                        .add(joiner, false)
                        .join());
                logs.add(joined);
                RecordingReplica replica = new RecordingReplica();
                joined.open(replica);

                // then
                TestVoter.await("it has the records", () -> replica.values().equals(upTo(RECORDS)));
            }
        } finally {
            for (MetadataLog log : logs) {
                log.close();
            }
        }
    }

    private static void copy(Path from, Path to) {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(from.relativize(file)));
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
