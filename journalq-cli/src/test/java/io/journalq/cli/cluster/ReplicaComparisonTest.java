package io.journalq.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.client.admin.ReplicaCheck;
import io.journalq.client.error.ConnectionFailedException;
import io.journalq.common.id.TopicPartition;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Compares replicas whose batches have one record and one byte, so that a range of 3 bytes has 3 batches. */
class ReplicaComparisonTest {
    private static final int RECORDS = 20;
    private static final int DAMAGED = -1;
    private static final int RANGE = 3;

    private final Map<Integer, Replica> replicas = new TreeMap<>();

    /** A replica; a record is damaged if it is {@link #DAMAGED}. */
    private static final class Replica {
        private final int[] records = new int[RECORDS];
        private int start;
        private int highWatermark = RECORDS;
        private boolean compacted;
        private boolean down;

        Replica() {
            for (int i = 0; i < RECORDS; i++) {
                records[i] = 100 + i;
            }
        }

        ReplicaCheck check(long offset, long endOffset) {
            int at = (int) offset;
            int checksum = 0;
            long end = Math.min(endOffset, highWatermark);
            while (offset >= start && at < end && records[at] != DAMAGED && at - offset < RANGE) {
                checksum = 31 * checksum + records[at];
                at++;
            }
            int until = at;
            while (offset >= start && until < end && records[until] == DAMAGED) {
                until++;
            }
            int batches = at - (int) offset;
            return new ReplicaCheck(
                    start, highWatermark, compacted, at, until > at ? until : -1, batches, batches, checksum);
        }
    }

    private Replica replica(int broker) {
        return replicas.computeIfAbsent(broker, first -> new Replica());
    }

    private ReplicaComparison compare() {
        ReplicaComparison comparison =
                new ReplicaComparison(new TopicPartition("orders", 0), (broker, offset, endOffset, maxBytes) -> {
                    if (replica(broker).down) {
                        throw new ConnectionFailedException("broker " + broker + " is away");
                    }
                    return replica(broker).check(offset, endOffset);
                });
        comparison.run(List.copyOf(replicas.keySet()), () -> {});
        return comparison;
    }

    private List<String> findings() {
        return compare().findings().stream()
                .map(ReplicaComparison.Finding::toString)
                .toList();
    }

    private void createThree() {
        for (int broker = 1; broker <= 3; broker++) {
            replica(broker);
        }
    }

    @Test
    void shouldFindNothingWhenReplicasAreEqual() {
        createThree();
        replica(2).highWatermark = RECORDS - 2;
        replica(2).records[RECORDS - 1] = 7;
        replica(3).start = 2;
        replica(1).records[0] = 7;

        ReplicaComparison comparison = compare();

        assertThat(comparison.findings()).isEmpty();
        assertThat(comparison.replicas()).isEqualTo(3);
        assertThat(comparison.readBytes()).isEqualTo(3 * (RECORDS - 4));
    }

    @Test
    void shouldNameBrokerAndOffsetsWhenRecordsAreDamagedOrDiffer() {
        createThree();
        replica(3).records[4] = DAMAGED;
        replica(3).records[5] = DAMAGED;
        replica(2).records[10] = 7;

        List<String> findings = findings();

        assertThat(findings).hasSize(2).first().isEqualTo("orders:0 on broker 3: offsets 4 to 5 are damaged");
        assertThat(findings.get(1)).matches("orders:0 on broker 2: offsets \\d+ to \\d+ differ from those of broker 1");
    }

    @Test
    void shouldCompareTheOthersWhenTheLeaderIsDamaged() {
        createThree();
        replica(1).records[4] = DAMAGED;
        replica(3).records[4] = 7;

        assertThat(findings())
                .containsExactly(
                        "orders:0 on broker 1: offsets 4 to 4 are damaged",
                        "orders:0 on broker 3: offsets 4 to 4 differ from those of broker 2");
    }

    @Test
    void shouldOnlyCheckReplicasWhenOneMayHaveGaps() {
        createThree();
        replica(2).compacted = true;
        replica(2).records[1] = 7;
        replica(3).records[2] = DAMAGED;

        ReplicaComparison comparison = compare();

        assertThat(comparison.isCompacted()).isTrue();
        assertThat(comparison.findings())
                .singleElement()
                .hasToString("orders:0 on broker 3: offsets 2 to 2 are damaged");
    }

    @Test
    void shouldSayWhyWhenAReplicaCannotBeRead() {
        createThree();
        replica(2).down = true;

        assertThat(findings()).containsExactly("orders:0 on broker 2: not verified: broker 2 is away");
    }
}
