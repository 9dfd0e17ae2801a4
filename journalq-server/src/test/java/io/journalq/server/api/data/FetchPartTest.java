package io.journalq.server.api.data;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.shard.partition.PartitionHost;
import io.journalq.server.shard.read.PartitionRead;
import org.junit.jupiter.api.Test;

class FetchPartTest {
    private static final int FOLLOWER = 2;

    private final FetchPart part = new FetchPart(new Follower(), new SessionTopic<>("orders", new Uuid(1, 1)), 0);

    private static final class Follower implements FetchPart.Listener {
        @Override
        public LoopCycle cycle() {
            throw new AssertionError("an update needs no loop");
        }

        @Override
        public boolean readsCommitted() {
            return false;
        }

        @Override
        public boolean readsAnyReplica() {
            return false;
        }

        @Override
        public int nearestReplica(PartitionHost host, long offset) {
            return NearestReplica.LEADER;
        }

        @Override
        public int replicaId() {
            return FOLLOWER;
        }

        @Override
        public long replicaEpoch() {
            return 1;
        }

        @Override
        public void onNews(FetchPart news, long grownBytes) {}
    }

    private static FetchRequest.FetchPartition asked() {
        return new FetchRequest.FetchPartition().setFetchOffset(10).setCurrentLeaderEpoch(1);
    }

    /** The leader has read, and sent what it has found. */
    private void tell(long highWatermark) {
        part.remember(new PartitionRead(ErrorCode.NONE, highWatermark, highWatermark, 0, null, null, null));
        part.markTold();
    }

    @Test
    void shouldTellAFollowerItsHighWatermarkAgainWhenTheFollowerHasDroppedAResponse() {
        part.update(asked().setHighWatermark(0));
        tell(10);
        assertThat(part.hasNewOffsets()).isFalse();

        // when its epoch has changed before the response arrived
        part.update(asked().setHighWatermark(5).setCurrentLeaderEpoch(2));

        assertThat(part.hasNewOffsets()).isTrue();
    }

    @Test
    void shouldTellTheSameOffsetsOnlyOnceWhenTheFollowerKnowsThem() {
        part.update(asked().setHighWatermark(0));
        tell(10);

        part.update(asked().setHighWatermark(10));

        assertThat(part.hasNewOffsets()).isFalse();
    }
}
