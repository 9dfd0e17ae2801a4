package io.journalq.quorum;

import io.journalq.quorum.QuorumConfig.LogSizes;
import io.journalq.server.control.MetadataLog.Role;
import io.journalq.server.control.QuorumVoter;
import io.journalq.server.journal.file.SystemFileStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Voters of one quorum in this process, on loopback. */
final class TestQuorum implements AutoCloseable {
    final List<TestVoter> voters = new ArrayList<>();
    private final Path directory;
    private final LogSizes sizes;

    private TestQuorum(Path directory, LogSizes sizes) {
        this.directory = directory;
        this.sizes = sizes;
    }

    /** Three voters, which begin together. */
    static TestQuorum ofThree(Path directory, LogSizes sizes) throws IOException {
        TestQuorum quorum = new TestQuorum(directory, sizes);
        List<QuorumVoter> founders =
                IntStream.rangeClosed(1, 3).mapToObj(TestVoter::identity).toList();
        for (QuorumVoter founder : founders) {
            quorum.add(founder, founders);
        }
        for (TestVoter voter : quorum.voters) {
            voter.open();
        }
        return quorum;
    }

    /** A new quorum of one voter. */
    static TestQuorum ofOne(Path directory, LogSizes sizes) throws IOException {
        TestQuorum quorum = new TestQuorum(directory, sizes);
        QuorumVoter founder = TestVoter.identity(1);
        quorum.add(founder, List.of(founder)).open();
        return quorum;
    }

    /** A voter that is not open yet, and that the quorum has to add. */
    TestVoter addJoining(int nodeId) {
        return add(TestVoter.identity(nodeId), List.of());
    }

    FullFileStore store(TestVoter voter) {
        return (FullFileStore) voter.store;
    }

    /** A voter that is not open yet. */
    TestVoter add(QuorumVoter voter, List<QuorumVoter> founders) {
        Path own = directory.resolve(voter.nodeId() + "-" + voter.directoryId());
        TestVoter added = new TestVoter(voter, own, new FullFileStore(new SystemFileStore()), sizes, founders);
        voters.add(added);
        return added;
    }

    /** Waits until one of the open voters leads, and returns it. */
    TestVoter awaitLeader() {
        TestVoter.await("a voter leads", () -> leader() != null);
        return leader();
    }

    private TestVoter leader() {
        return voters.stream()
                .filter(voter -> voter.role == Role.LEADING)
                .findFirst()
                .orElse(null);
    }

    List<TestVoter> others(TestVoter voter) {
        return voters.stream().filter(other -> other != voter).toList();
    }

    @Override
    public void close() throws IOException {
        for (TestVoter voter : voters) {
            voter.close();
        }
    }
}
