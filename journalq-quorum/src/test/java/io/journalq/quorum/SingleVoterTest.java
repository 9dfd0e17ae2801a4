package io.journalq.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.journalq.common.protocol.Message;
import io.journalq.quorum.QuorumConfig.LogSizes;
import io.journalq.server.control.LocalMetadataLog;
import io.journalq.server.control.MetadataBatch;
import io.journalq.server.control.MetadataLog.Members;
import io.journalq.server.control.MetadataLog.Role;
import io.journalq.server.control.QuorumProvider;
import io.journalq.server.control.QuorumVoter;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.metadata.record.ClusterRecord;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.ratis.proto.RaftProtos.RaftConfigurationProto;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.statemachine.StateMachine;
import org.apache.ratis.util.LifeCycle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.slf4j.LoggerFactory;

/** A quorum of one voter: proposals, restarts, snapshots. */
@Execution(ExecutionMode.CONCURRENT)
class SingleVoterTest {
    @TempDir
    Path directory;

    private static List<Long> upTo(long end) {
        return LongStream.range(0, end).boxed().toList();
    }

    private Journal journal() throws IOException {
        return Journal.open(
                new SystemFileStore(),
                directory.resolve(RatisMetadataLog.METADATA_DIRECTORY),
                LocalMetadataLog.JOURNAL_CONFIG,
                Runnable::run);
    }

    private List<Path> snapshots() throws IOException {
        try (Stream<Path> files = Files.walk(directory.resolve(QuorumProvider.DIRECTORY))) {
            return files.filter(file -> file.getFileName().toString().matches("snapshot\\.\\d+_\\d+"))
                    .sorted()
                    .toList();
        }
    }

    @Test
    void shouldApplyABatchWhenTheProposalIsComplete() throws Exception {
        try (TestVoter voter = TestVoter.single(directory, LogSizes.DEFAULT).open()) {
            assertThat(voter.propose(0)).as("before it leads").isCompletedExceptionally();
            voter.awaitLeading();

            voter.propose(0, 1, 2).get(20, TimeUnit.SECONDS);
            assertThat(voter.replica.values()).containsExactly(0L, 1L, 2L);

            voter.propose(3).get(20, TimeUnit.SECONDS);
            assertThat(voter.replica.values()).isEqualTo(upTo(4));
            Members members = voter.log.members();
            assertThat(members.leaderId()).isEqualTo(1);
            assertThat(members.term()).isEqualTo(1);
            assertThat(members.voters()).containsExactly(1);
        }
    }

    @Test
    void shouldRefuseABatchWhenItWasDecidedInAnotherState() throws Exception {
        try (TestVoter voter =
                TestVoter.single(directory, LogSizes.DEFAULT).open().awaitLeading()) {
            voter.propose(0, 1).get(20, TimeUnit.SECONDS);

            for (long offset : List.of(0L, 1L, 3L)) {
                assertThatThrownBy(() -> voter.proposeAt(offset, 9).get(20, TimeUnit.SECONDS))
                        .cause()
                        .hasMessage("a batch for offset " + offset
                                + " does not fit the metadata log, which ends at offset 2");
            }
            voter.propose(2).get(20, TimeUnit.SECONDS);
            assertThat(voter.replica.values()).isEqualTo(upTo(3));
        }
    }

    @Test
    void shouldRefuseAProposalWhenAnotherIsInFlight() throws Exception {
        try (TestVoter voter =
                TestVoter.single(directory, LogSizes.DEFAULT).open().awaitLeading()) {
            CompletableFuture<Void> second;
            CompletableFuture<Void> first;
            // The replica is locked, so the first proposal cannot complete.
            RecordingReplica replica = voter.replica;
            synchronized (replica) {
                first = voter.propose(0);
                second = voter.propose(1);
                assertThat(first).isNotDone();
            }

            assertThatThrownBy(second::join).cause().hasMessage("a metadata proposal is in flight");
            first.get(20, TimeUnit.SECONDS);
            assertThat(voter.replica.values()).isEqualTo(upTo(1));
        }
    }

    @Test
    void shouldRefuseABatchWhenItIsTooLarge() throws Exception {
        try (TestVoter voter =
                TestVoter.single(directory, LogSizes.DEFAULT).open().awaitLeading()) {
            Message record = new ClusterRecord().setClusterId("x".repeat(30_000));
            MetadataBatch large = new MetadataBatch(0, Collections.nCopies(40, record));

            assertThatThrownBy(() -> voter.log.propose(large).join())
                    .cause()
                    .hasMessageMatching("a metadata batch of \\d+ bytes exceeds the limit of 1048576 bytes");

            voter.propose(0).get(20, TimeUnit.SECONDS);
        }
    }

    @Test
    void shouldReplayEverythingWhenItIsOpenedAgain() throws Exception {
        try (TestVoter voter = TestVoter.single(directory, LogSizes.DEFAULT)) {
            voter.open().awaitLeading().proposeAll(0, 50);
            for (int restart = 1; restart <= 2; restart++) {
                voter.stop();
                voter.open().awaitLeading();

                assertThat(voter.replica.values()).isEqualTo(upTo(50));
                assertThat(voter.replica.restores()).as("no snapshot is due").isZero();
                assertThat(voter.log.members().term()).isEqualTo(1 + restart);
            }
            voter.proposeAll(50, 10);
            assertThat(voter.replica.values()).isEqualTo(upTo(60));
        }
        try (Journal journal = journal()) {
            assertThat(journal.startOffset()).isZero();
            assertThat(journal.endOffset()).isEqualTo(60);
            assertThat(journal.epochs().epochOf(49)).isEqualTo(1);
            assertThat(journal.epochs().epochOf(50)).isEqualTo(3);
        }
    }

    @Test
    void shouldBeginWithTheNewestSnapshotWhenTheLogIsPurged() throws Exception {
        try (TestVoter voter = TestVoter.single(directory, TestVoter.SMALL)) {
            voter.open().awaitLeading().proposeAll(0, 350);
            assertThat(snapshots()).hasSize(2);
            voter.stop();
            voter.open().awaitLeading();

            assertThat(voter.replica.restores()).isEqualTo(1);
            assertThat(voter.replica.values()).isEqualTo(upTo(350));
            voter.proposeAll(350, 10);
        }
        try (Journal journal = journal()) {
            assertThat(journal.endOffset()).isEqualTo(360);
        }
    }

    @Test
    void shouldBringItsSnapshotsBackWhenItsServerIsOpenedAgain() throws Exception {
        try (TestVoter voter =
                TestVoter.single(directory, TestVoter.SMALL).open().awaitLeading()) {
            // given a server that has failed between the two renames with which Ratis replaces its snapshots
            voter.proposeAll(0, 250);
            Path group = VoterDirectory.find(voter.store, directory).group();
            voter.store.move(group.resolve("sm"), group.resolve("sm.tmp20261130_041000.123"));

            // when another server is opened
            voter.log.ratis().close();
            TestVoter.await("it leads again", () -> Collections.frequency(voter.roles, Role.LEADING) == 2);

            // then
            voter.proposeAll(250, 10);
            voter.stop();
            voter.open().awaitLeading();
            assertThat(voter.replica.values()).isEqualTo(upTo(260));
        }
    }

    @Test
    void shouldTakeASnapshotWhenBatchesAreLarge() throws Exception {
        LogSizes sizes = new LogSizes(10_000, 4_000, 10, 1 << 20);
        try (TestVoter voter = TestVoter.single(directory, sizes).open().awaitLeading()) {
            for (int i = 0; i < 10; i++) {
                long first = voter.replica.size();
                voter.propose(LongStream.range(first, first + 100).toArray()).get(20, TimeUnit.SECONDS);
            }
            TestVoter.await("a snapshot", () -> {
                try {
                    return !snapshots().isEmpty();
                } catch (IOException failure) {
                    throw new AssertionError(failure);
                }
            });
            voter.stop();
            voter.open().awaitLeading();

            assertThat(voter.replica.restores()).isEqualTo(1);
            assertThat(voter.replica.values()).isEqualTo(upTo(1_000));
        }
    }

    @Test
    void shouldBeginTheJournalAtTheSnapshotWhenTheJournalIsLost() throws Exception {
        try (TestVoter voter = TestVoter.single(directory, TestVoter.SMALL)) {
            voter.open().awaitLeading().proposeAll(0, 250);
            voter.stop();
            new SystemFileStore().delete(directory.resolve(RatisMetadataLog.METADATA_DIRECTORY));
            voter.open().awaitLeading();

            assertThat(voter.replica.values()).isEqualTo(upTo(250));
        }
        try (Journal journal = journal()) {
            assertThat(journal.startOffset()).isBetween(150L, 250L);
            assertThat(journal.endOffset()).isEqualTo(250);
        }
    }

    @Test
    void shouldNotOpenWhenTheSnapshotIsDamaged() throws Exception {
        try (TestVoter voter = TestVoter.single(directory, TestVoter.SMALL)) {
            voter.open().awaitLeading().proposeAll(0, 250);
            voter.stop();
            for (Path snapshot : snapshots()) {
                byte[] content = Files.readAllBytes(snapshot);
                content[content.length / 2] ^= 1;
                Files.write(snapshot, content);
            }

            assertThatThrownBy(voter::open).isInstanceOf(IOException.class).hasStackTraceContaining("MD5");
        }
    }

    @Test
    void shouldNotOpenWhenTheDirectoryHasTheLogOfASingleBroker() throws Exception {
        try (Journal journal = journal();
                LocalMetadataLog local =
                        new LocalMetadataLog(1, journal, Clock.systemUTC(), UnpooledByteBufAllocator.DEFAULT)) {
            local.open(new RecordingReplica());
            local.propose(new MetadataBatch(0, List.of(RecordingReplica.record(0))))
                    .join();
        }

        try (TestVoter voter = TestVoter.single(directory, LogSizes.DEFAULT)) {
            assertThatThrownBy(voter::open)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("use a directory without data for a new voter");
        }
        try (Journal journal = journal()) {
            assertThat(journal.endOffset()).isEqualTo(1);
        }
    }

    @Test
    void shouldFailForGoodWhenARecordCannotBeApplied() throws Exception {
        try (TestVoter voter =
                TestVoter.single(directory, LogSizes.DEFAULT).open().awaitLeading()) {
            voter.propose(0).get(20, TimeUnit.SECONDS);
            voter.replica.failWith(new IllegalArgumentException("planted"));

            assertThat(voter.propose(1)).failsWithin(20, TimeUnit.SECONDS);
            TestVoter.await("the log has failed", () -> voter.role == Role.FAILED);
            assertThatThrownBy(() -> voter.propose(2).join()).hasMessageContaining("planted");
        }
    }

    @Test
    void shouldOpenItsServerAgainWhenItHasNotYetAppliedThatItVotesAgain() throws Exception {
        try (TestVoter voter =
                TestVoter.single(directory, LogSizes.DEFAULT).open().awaitLeading()) {
            // given a voter that has applied its removal, and whose log has a configuration with it behind that
            RaftServer server = voter.log.ratis();
            StateMachine machine =
                    server.getDivision(QuorumMembers.groupId(TestVoter.CLUSTER)).getStateMachine();
            machine.event().notifyConfigurationChanged(1, 0, RaftConfigurationProto.getDefaultInstance());

            // when its server closes itself
            server.close();

            // then
            TestVoter.await("another server is open", () -> voter.log.ratis() != server && voter.role == Role.LEADING);
            voter.proposeAll(0, 1);
        }
    }

    @Test
    void shouldOpenItsServerAgainWhenThereWasNoMemoryForIt() throws Exception {
        // given
        AtomicInteger failures = new AtomicInteger();
        FileStore store = new FilterFileStore(new SystemFileStore()) {
            @Override
            public void createDurableDirectories(Path created) throws IOException {
                if (failures.getAndDecrement() > 0) {
                    throw new OutOfMemoryError("planted");
                }
                super.createDurableDirectories(created);
            }
        };
        QuorumVoter self = TestVoter.identity(1);
        try (TestVoter voter = new TestVoter(self, directory, store, LogSizes.DEFAULT, List.of(self))
                .open()
                .awaitLeading()) {
            RaftServer first = voter.log.ratis();
            failures.set(2);

            // when its server closes itself
            first.close();

            // then
            TestVoter.await("another server is open", () -> voter.log.ratis() != first && voter.role == Role.LEADING);
            assertThat(failures).hasNegativeValue();
            voter.proposeAll(0, 1);
        }
    }

    @Test
    void shouldRefuseProposalsWhenItIsFenced() throws Exception {
        try (TestVoter voter =
                TestVoter.single(directory, LogSizes.DEFAULT).open().awaitLeading()) {
            voter.log.fence(new IOException("planted"));

            assertThat(voter.role).isEqualTo(Role.FAILED);
            assertThatThrownBy(() -> voter.propose(0).join()).hasMessageContaining("planted");
        }
    }

    /** Its log has failed, so that the advice for a voter that was removed would mislead. */
    @Test
    void shouldNotAdviseToAddItAgainWhenItIsFenced() throws Exception {
        try (TestVoter voter =
                TestVoter.single(directory, LogSizes.DEFAULT).open().awaitLeading()) {
            // given
            List<String> lines = new CopyOnWriteArrayList<>();
            AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
                @Override
                protected void append(ILoggingEvent event) {
                    lines.add(event.getFormattedMessage());
                }
            };
            Logger logger = (Logger) LoggerFactory.getLogger(RatisMetadataLog.class);
            logger.addAppender(appender);
            appender.start();
            Level before = logger.getLevel();
            logger.setLevel(Level.WARN);
            RaftServer server = voter.log.ratis();

            // when
            try {
                voter.log.fence(new IOException("planted"));
                TestVoter.await("its server is closed", () -> server.getLifeCycleState() == LifeCycle.State.CLOSED);
            } finally {
                logger.setLevel(before);
                logger.detachAppender(appender);
            }

            // then, among the lines of all voters
            String ofThisVoter = voter.voter.directoryId().toString();
            assertThat(lines).noneMatch(line -> line.contains(ofThisVoter));
        }
    }

    /** The others would elect it otherwise, and it decides nothing. */
    @Test
    void shouldCloseItsServerWhenItIsFencedWhileAnotherOneOpens() throws Exception {
        // given
        AtomicReference<RatisMetadataLog> fenced = new AtomicReference<>();
        FileStore store = new FilterFileStore(new SystemFileStore()) {
            @Override
            public void createDurableDirectories(Path created) throws IOException {
                super.createDurableDirectories(created);
                RatisMetadataLog opening = fenced.get();
                if (opening != null) {
                    opening.fence(new IOException("planted"));
                }
            }
        };
        QuorumVoter self = TestVoter.identity(1);
        try (TestVoter voter = new TestVoter(self, directory, store, LogSizes.DEFAULT, List.of(self))
                .open()
                .awaitLeading()) {
            RaftServer first = voter.log.ratis();
            fenced.set(voter.log);

            // when
            first.close();

            // then
            TestVoter.await("the log has failed", () -> voter.role == Role.FAILED);
            TestVoter.await("the second server is closed", () -> {
                RaftServer second = voter.log.ratis();
                return second != null && second != first && second.getLifeCycleState() == LifeCycle.State.CLOSED;
            });
        }
    }
}
