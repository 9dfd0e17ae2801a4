package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.common.protocol.message.OffsetFetchRequest;
import io.journalq.common.protocol.message.OffsetFetchResponse;
import io.journalq.common.record.BatchReader;
import io.journalq.common.record.RecordBatch;
import io.journalq.common.record.TransactionMarker;
import io.journalq.server.journal.file.FileStore;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A broker that is killed between any two records that it writes for transactions, and within each of them. Afterwards,
 * each transaction has ended in the same way in all its partitions and offsets, every acknowledged request has taken
 * effect, and producers can continue.
 */
class TransactionCrashTest {
    private static final String ID = "payments";
    private static final String GROUP = "g";
    private static final int FETCH_SIZE_BYTES = 1 << 20;

    @TempDir
    Path dataDirectory;

    /** One transaction of the scenario: value {@code number} to both partitions, and offset {@code number}. */
    private record Told(int number, boolean commit, int begunAfter, int respondedAfter) {}

    /** The content of a partition for a reader, from the journal alone. */
    private static final class Partition {
        final List<Integer> committed = new ArrayList<>();
        final Map<Long, List<Integer>> open = new TreeMap<>();
        final List<String> markers = new ArrayList<>();
        int transactionsWithRecords;
        int endsOfTransactions;
    }

    @ParameterizedTest(name = "second generation: {0}")
    @ValueSource(booleans = {false, true})
    void shouldEndEveryTransactionOnceAndEverywhereWhenKilledBetweenAnyTwoRecords(boolean second) throws Exception {
        // given a scenario, and every change of files that it made
        RecordedFiles files = new RecordedFiles();
        List<Told> story = new ArrayList<>();
        int begin;
        int end;
        try (TestBroker broker = broker().start(files)) {
            broker.createTopic("t", 2, Map.of());
            try (TransactionClient producer = new TransactionClient(broker.port(), ID, second)) {
                producer.findCoordinators(GROUP);
                begin = files.count();
                assertThat(producer.init()).isEqualTo(ErrorCode.NONE);
                for (int number = 1; number <= 4; number++) {
                    story.add(tell(files, producer, number, number % 2 == 1));
                }
                producer.awaitIdle();
            }
            end = files.count();
        }

        // then
        for (int cut = begin; cut < end; cut++) {
            RecordedFiles.Change change = files.change(cut);
            if (change.isWriteToJournal()) {
                FileStore torn = files.after(cut);
                change.applyHalfTo(torn);
                check(torn, story, cut, second);
                check(files.after(cut + 1), story, cut + 1, second);
            }
        }
    }

    private TestBroker broker() {
        return new TestBroker(dataDirectory)
                .with("shards", "2")
                .with("transaction.state.log.num.partitions", "2")
                .with("offsets.topic.num.partitions", "1");
    }

    private static Told tell(RecordedFiles files, TransactionClient producer, int number, boolean commit)
            throws Exception {
        int begun = files.count();
        if (!producer.second) {
            assertThat(producer.addPartition("t", 0)).isEqualTo(ErrorCode.NONE);
            assertThat(producer.addPartition("t", 1)).isEqualTo(ErrorCode.NONE);
            assertThat(producer.addOffsets(GROUP)).isEqualTo(ErrorCode.NONE);
        }
        assertThat(producer.produce("t", 0, Integer.toString(number))).isEqualTo(ErrorCode.NONE);
        assertThat(producer.produce("t", 1, Integer.toString(number))).isEqualTo(ErrorCode.NONE);
        assertThat(producer.commitOffset(GROUP, "t", 0, number)).isEqualTo(ErrorCode.NONE);
        assertThat(producer.end(commit)).isEqualTo(ErrorCode.NONE);
        return new Told(number, commit, begun, files.count());
    }

    /** Starts a broker on the remaining files, starts a successor of the producer, and checks everything. */
    private void check(FileStore left, List<Told> story, int cut, boolean second) throws Exception {
        try (TestBroker broker = broker().start(left)) {
            try (TransactionClient successor = new TransactionClient(broker.port(), ID, second)) {
                successor.findCoordinators(GROUP);
                assertThat(successor.init()).as("init after a kill at %d", cut).isEqualTo(ErrorCode.NONE);
                successor.awaitIdle();

                Partition first = read(successor, 0);
                Partition other = read(successor, 1);

                assertThat(first.open)
                        .as("open transactions after a kill at %d", cut)
                        .isEmpty();
                assertThat(other.open)
                        .as("open transactions after a kill at %d", cut)
                        .isEmpty();
                assertThat(first.committed).as("a kill at %d", cut).isEqualTo(other.committed);
                assertThat(committedOffset(successor)).as("a kill at %d", cut).isEqualTo(newest(first.committed));
                assertStory(story, first.committed, cut);
                assertMarkers(first, second, cut);
                assertMarkers(other, second, cut);

                tell(new RecordedFiles(), successor, 100, true);
                successor.awaitIdle();
                assertThat(read(successor, 0).committed).contains(100);
                assertThat(read(successor, 1).committed).contains(100);
                assertThat(committedOffset(successor)).isEqualTo(100);
            }
        }
    }

    private static long newest(List<Integer> committed) {
        return committed.isEmpty() ? -1 : committed.get(committed.size() - 1);
    }

    private static void assertStory(List<Told> story, List<Integer> committed, int cut) {
        Set<Integer> known = new TreeSet<>();
        for (Told told : story) {
            known.add(told.number());
            boolean visible = committed.contains(told.number());
            if (!told.commit() || cut <= told.begunAfter()) {
                assertThat(visible).as("%s after a kill at %d", told, cut).isFalse();
            } else if (cut >= told.respondedAfter()) {
                assertThat(visible).as("%s after a kill at %d", told, cut).isTrue();
            }
        }
        assertThat(known).containsAll(committed);
        assertThat(committed).doesNotHaveDuplicates().isSorted();
    }

    private static void assertMarkers(Partition partition, boolean second, int cut) {
        assertThat(partition.endsOfTransactions)
                .as("markers with effect after a kill at %d", cut)
                .isEqualTo(partition.transactionsWithRecords);
        if (second) {
            // Each transaction has its own epoch, and so has each start of the coordinator.
            assertThat(partition.markers).as("markers after a kill at %d", cut).doesNotHaveDuplicates();
        }
    }

    private static long committedOffset(TransactionClient client) throws Exception {
        OffsetFetchRequest request = new OffsetFetchRequest()
                .setGroupId(GROUP)
                .setTopics(List.of(new OffsetFetchRequest.OffsetFetchRequestTopic()
                        .setName("t")
                        .setPartitionIndexes(List.of(0))));
        OffsetFetchResponse response = client.wire.call(OffsetFetchResponse.class, request, 7);
        while (response.errorCode() == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS.code()) {
            response = client.wire.call(OffsetFetchResponse.class, request, 7);
        }
        assertThat(response.errorCode()).isZero();
        return response.topics().get(0).partitions().get(0).committedOffset();
    }

    private static Partition read(TransactionClient client, int number) throws Exception {
        FetchRequest request = new FetchRequest()
                .setMaxWaitMs(0)
                .setMaxBytes(FETCH_SIZE_BYTES)
                .setTopics(List.of(new FetchRequest.FetchTopic()
                        .setTopic("t")
                        .setPartitions(List.of(new FetchRequest.FetchPartition()
                                .setPartition(number)
                                .setPartitionMaxBytes(FETCH_SIZE_BYTES)))));
        FetchResponse.PartitionData data = client.wire
                .call(FetchResponse.class, request, 12)
                .responses()
                .get(0)
                .partitions()
                .get(0);
        assertThat(data.errorCode()).isZero();
        Partition partition = new Partition();
        if (data.records() == null || data.records().sizeBytes() == 0) {
            return partition;
        }
        ByteBuf batches = data.records().buffer();
        try (BatchReader reader = new BatchReader(UnpooledByteBufAllocator.DEFAULT)) {
            reader.reset(batches);
            while (reader.nextBatch()) {
                replay(partition, batches, reader);
            }
        }
        return partition;
    }

    private static void replay(Partition partition, ByteBuf batches, BatchReader reader) {
        if (!RecordBatch.isControl(batches, reader.batchIndex())) {
            List<Integer> open = partition.open.computeIfAbsent(reader.producerId(), id -> {
                partition.transactionsWithRecords++;
                return new ArrayList<>();
            });
            while (reader.next()) {
                open.add(Integer.parseInt(reader.value().toString(StandardCharsets.UTF_8)));
            }
            return;
        }
        TransactionMarker marker = TransactionMarker.read(batches, reader.batchIndex());
        partition.markers.add(marker.producerId() + ":" + marker.producerEpoch() + ":" + marker.coordinatorEpoch());
        List<Integer> ended = partition.open.remove(marker.producerId());
        if (ended != null) {
            partition.endsOfTransactions++;
            if (marker.commit()) {
                partition.committed.addAll(ended);
            }
        }
    }
}
