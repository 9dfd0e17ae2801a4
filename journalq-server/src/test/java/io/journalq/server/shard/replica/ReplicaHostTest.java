package io.journalq.server.shard.replica;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.journal.JournalConfig;
import io.journalq.server.replication.IsrProposal;
import io.journalq.server.replication.ReplicaSet;
import io.journalq.server.shard.partition.PartitionHost;
import io.journalq.server.shard.partition.SteppedPartition;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a leader does with the outcomes of its proposals. */
class ReplicaHostTest {
    private static final int OTHER = 2;
    private static final long OTHER_EPOCH = 7;
    private static final long PAUSE_MS = 5_000;

    private final List<IsrProposal> proposed = new ArrayList<>();
    private final List<CompletableFuture<ErrorCode>> outcomes = new ArrayList<>();
    private boolean neverAccepted;
    private SteppedPartition partition;
    private ReplicaHost replicas;

    @BeforeEach
    void leadWithAFollowerThatHasEverything(@TempDir Path directory) throws IOException {
        partition = SteppedPartition.open(directory, JournalConfig.DEFAULT);
        int self = SteppedPartition.NODE;
        partition.setReplicas(
                1, new ReplicaSet(self, 1, 0, List.of(self, OTHER), List.of(self), List.of(), -1, List.of()));
        replicas = new ReplicaHost(
                partition.cycle(),
                new ReplicaPeers(
                        self,
                        () -> 5,
                        null,
                        id -> null,
                        id -> true,
                        (topicId, number, proposal) -> {
                            proposed.add(proposal);
                            outcomes.add(new CompletableFuture<>());
                            return outcomes.get(outcomes.size() - 1);
                        },
                        (topicId, number, proposal) -> neverAccepted,
                        1_000,
                        1_000),
                new PartitionRewrites() {
                    @Override
                    public void cut(PartitionHost host, long offset) {
                        throw new AssertionError("cut to " + offset);
                    }

                    @Override
                    public void takeOffline(PartitionHost host, String reason) {
                        throw new AssertionError(reason);
                    }
                });
        replicas.onReplicas(partition.host());
        partition.host().replication().readAsReplica(OTHER, OTHER_EPOCH, 0, 1, -1, 1_000, true);
        partition.loop().run();
    }

    @AfterEach
    void close() {
        partition.closeCleanly();
    }

    /** The newest attempt has an outcome, and the time passes until the next one. */
    private void decide(ErrorCode error) {
        outcomes.get(outcomes.size() - 1).complete(error);
        partition.loop().run();
        partition.loop().fireTimers();
    }

    private boolean isOpen() {
        return partition.host().replica().isOpen(proposed.get(0));
    }

    @Test
    void shouldRepeatARefusedProposalWhileAnEarlierAttemptCanBeAccepted() {
        assertThat(proposed).hasSize(1);
        outcomes.get(0).completeExceptionally(new IOException("the connection was closed"));
        partition.loop().run();
        partition.loop().fireTimers();
        assertThat(proposed).as("attempts").hasSize(2).containsOnly(proposed.get(0));

        decide(ErrorCode.INELIGIBLE_REPLICA);

        assertThat(proposed).as("attempts").hasSize(3);
        assertThat(isOpen()).isTrue();
    }

    @Test
    void shouldRepeatAProposalWhenTheControllerDoesNotAdmitIt() {
        decide(ErrorCode.CLUSTER_AUTHORIZATION_FAILED);

        assertThat(proposed).as("attempts").hasSize(2).containsOnly(proposed.get(0));
        assertThat(isOpen()).isTrue();
    }

    @Test
    void shouldGiveUpAProposalWhenMetadataShowThatNoAttemptIsAccepted() {
        outcomes.get(0).completeExceptionally(new IOException("the connection was closed"));
        partition.loop().run();
        partition.loop().fireTimers();

        neverAccepted = true;
        decide(ErrorCode.INELIGIBLE_REPLICA);

        assertThat(isOpen()).isFalse();
    }

    @Test
    void shouldHandleFetchesThatArriveDuringAPauseBeforeItRemovesAReplica() {
        // given a leader that begins when both replicas are in sync, and whose follower then does not fetch
        int self = SteppedPartition.NODE;
        partition.setReplicas(
                2, new ReplicaSet(self, 1, 1, List.of(self, OTHER), List.of(self, OTHER), List.of(), -1, List.of()));
        replicas.onReplicas(partition.host());
        partition.append(-1, (short) -1, -1, false, "one");
        int before = proposed.size();

        // when the process is paused
        partition.loop().advance(PAUSE_MS);
        partition.loop().fireTimers();

        // then the follower stays in sync until the next check
        assertThat(proposed).hasSize(before);
        partition.loop().fireTimers();
        assertThat(proposed).hasSize(before + 1);
        assertThat(proposed.get(before).members())
                .extracting(IsrProposal.Member::brokerId)
                .containsExactly(self);
    }
}
