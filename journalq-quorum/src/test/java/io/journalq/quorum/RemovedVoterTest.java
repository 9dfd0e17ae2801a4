package io.journalq.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.QuorumInfo;
import org.apache.kafka.clients.admin.RaftVoterEndpoint;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A broker is removed from the voters while it is down, and comes back. Brokers in processes of their own. */
@Tag("long")
@Timeout(1_800)
class RemovedVoterTest {
    private static final int BROKERS = 3;
    /** It has founded the cluster. */
    private static final int REMOVED = 1;

    private static final int WAIT_SECONDS = 180;
    private static final int CALL_SECONDS = 60;
    private static final int TIMES_CLOSED = 3;

    private ProcessCluster cluster;

    @TempDir
    Path directory;

    @RegisterExtension
    final BrokerLogs logs = new BrokerLogs(() -> directory);

    @BeforeEach
    void startThree() throws Exception {
        cluster = new ProcessCluster(directory);
        cluster.startAll(BROKERS);
    }

    @AfterEach
    void close() {
        cluster.close();
    }

    private QuorumInfo quorum() throws Exception {
        try (Admin admin = cluster.admin()) {
            return admin.describeMetadataQuorum().quorumInfo().get(CALL_SECONDS, TimeUnit.SECONDS);
        }
    }

    private boolean votes() throws Exception {
        return quorum().voters().stream().anyMatch(voter -> voter.replicaId() == REMOVED);
    }

    /** Kills the broker and removes it; returns the directory of its log. */
    private Uuid removeWhileItIsDown() throws Exception {
        Uuid[] log = new Uuid[1];
        ProcessCluster.await("the voters", () -> {
            log[0] = quorum().voters().stream()
                    .filter(voter -> voter.replicaId() == REMOVED)
                    .findFirst()
                    .orElseThrow()
                    .replicaDirectoryId();
            return true;
        });
        cluster.kill(REMOVED);
        ProcessCluster.await("the voter is removed", () -> {
            if (votes()) {
                // Refused until the broker is fenced.
                try (Admin admin = cluster.admin()) {
                    admin.removeRaftVoter(REMOVED, log[0]).all().get(CALL_SECONDS, TimeUnit.SECONDS);
                }
            }
            return !votes();
        });
        return log[0];
    }

    @Test
    void shouldVoteAgainByItselfWhenItStartsWithSeeds() throws Exception {
        removeWhileItIsDown();

        cluster.start(REMOVED);

        cluster.awaitServing(REMOVED, WAIT_SECONDS);
        ProcessCluster.await("it votes", this::votes);
        assertThat(Files.readString(cluster.log(REMOVED)))
                .contains("this broker was removed from the voters, and asks to vote again");
    }

    @Test
    void shouldSayWhatToDoAndGoOnWhenItIsAddedWithoutSeeds() throws Exception {
        Uuid log = removeWhileItIsDown();
        cluster.set(REMOVED, "cluster.join", "");

        cluster.start(REMOVED);

        String address = "127.0.0.1:" + cluster.quorumPort(REMOVED);
        ProcessCluster.await("a line that says what to do", () -> Files.readString(cluster.log(REMOVED))
                .contains("bin/journalq cluster add-voter " + REMOVED + " " + log + " " + address + " --execute"));
        assertThat(votes()).isFalse();
        // It asks for votes, and closes its server when it gets none. In time, it listens longer than it is closed.
        ProcessCluster.await(
                "it has asked for votes again",
                () -> Files.readString(cluster.log(REMOVED)).split("it has closed itself", -1).length > TIMES_CLOSED);
        ProcessCluster.await("it is added", () -> {
            try (Admin admin = cluster.admin()) {
                admin.addRaftVoter(
                                REMOVED,
                                log,
                                Set.of(new RaftVoterEndpoint("QUORUM", "127.0.0.1", cluster.quorumPort(REMOVED))))
                        .all()
                        .get(CALL_SECONDS, TimeUnit.SECONDS);
            }
            return votes();
        });
        cluster.awaitServing(REMOVED, WAIT_SECONDS);
    }
}
