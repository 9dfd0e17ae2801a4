package io.journalq.server.transaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.EndTxnRequest;
import io.journalq.common.protocol.message.EndTxnResponse;
import io.journalq.common.protocol.message.InitProducerIdRequest;
import io.journalq.common.protocol.message.InitProducerIdResponse;
import io.journalq.server.transaction.Markers.MarkerRequest;
import io.journalq.server.transaction.TransactionMachine.ProducerClaim;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random producers of both transaction versions, with retries, successors and timeouts, and with crashes between any
 * two records, against partitions that accept records and markers. Checked: no reported outcome is reverted, the
 * outcome is the same in all partitions, and no transaction stays open. Read-committed consumers never see a record of
 * an open or aborted transaction, and in the end see every record that was committed.
 */
class TransactionHistoryTest {
    private static final int STEPS = 400;
    private static final int SEEDS = 300;
    private static final String[] IDS = {"a", "b", "c"};
    private static final int TIMEOUT_MS = 1_000;

    static LongStream seeds() {
        String only = System.getProperty("transaction.seed");
        return only == null ? LongStream.range(0, SEEDS) : LongStream.of(Long.parseLong(only));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldEndEveryTransactionOnceAndTheSameEverywhere(long seed) {
        try {
            run(seed, TransactionBug.NONE);
        } catch (AssertionError | RuntimeException failure) {
            throw new AssertionError(
                    "replay with: mvn -pl journalq-server -am test -Dtest=TransactionHistoryTest"
                            + " -Dsurefire.failIfNoSpecifiedTests=false -Dtransaction.seed=" + seed,
                    failure);
        }
    }

    @ParameterizedTest
    @EnumSource(value = TransactionBug.class, names = "NONE", mode = EnumSource.Mode.EXCLUDE)
    void shouldFindABugThatIsPlanted(TransactionBug bug) {
        for (long seed = 0; seed < SEEDS; seed++) {
            try {
                run(seed, bug);
            } catch (AssertionError found) {
                return;
            }
        }
        fail("not found: " + bug);
    }

    private static void run(long seed, TransactionBug bug) {
        History history = new History(new Random(seed), bug);
        for (int step = 0; step < STEPS; step++) {
            history.step();
            history.checkAllReaders();
        }
        history.finish();
    }

    /** One transaction, as observed from outside. */
    private static final class Observed {
        /** The outcome reported to the producer; null for none. */
        Boolean told;
        /** The outcome reported to the partitions; null for none yet. */
        Boolean marked;
        /** Its partitions that have records and no marker yet. */
        final List<TopicPartition> open = new ArrayList<>();
    }

    /** A process that uses a transactional id. */
    private static final class Producer {
        final String id;
        final boolean second;
        long producerId = -1;
        short epoch = -1;
        Observed transaction = new Observed();
        /** The request that it waits for, and repeats because it may have been lost; null if it is idle. */
        Runnable asking;

        boolean dead;

        Producer(String id, boolean second) {
            this.id = id;
            this.second = second;
        }
    }

    /** A partition's state of a producer id. */
    private static final class Entry {
        short epoch;
        Observed open;
    }

    private static final class History {
        final Random random;
        final TransactionBug bug;
        final TransactionWorld world;
        final List<Producer> producers = new ArrayList<>();
        final Map<TopicPartition, Map<Long, Entry>> partitions = new LinkedHashMap<>();
        final List<Observed> observed = new ArrayList<>();
        final Map<String, List<TopicPartition>> markersLeft = new TreeMap<>();
        final Map<TopicPartition, PartitionModel<Observed>> journals = new LinkedHashMap<>();

        History(Random random, TransactionBug bug) {
            this.random = random;
            this.bug = bug;
            this.world = new TransactionWorld(bug);
            for (int i = 0; i < 4; i++) {
                partitions.put(new TopicPartition("t", i), new TreeMap<>());
                journals.put(new TopicPartition("t", i), new PartitionModel<>(bug));
            }
        }

        void step() {
            switch (random.nextInt(24)) {
                case 0 -> newProducer();
                case 1, 2, 3, 4, 5, 6, 7 -> withProducer(this::produce);
                case 8, 9, 10 -> {
                    boolean commit = random.nextInt(3) > 0;
                    withProducer(producer -> ask(producer, () -> end(producer, commit)));
                }
                case 11 -> withProducer(producer -> ask(producer, () -> init(producer, true)));
                case 12 -> {
                    if (random.nextInt(4) == 0) {
                        world.crash(random.nextBoolean());
                        markersLeft.keySet().retainAll(world.markers.keySet());
                    }
                }
                case 13 -> {
                    world.nowMs += random.nextInt(TIMEOUT_MS / 2);
                    world.tick();
                }
                case 14, 15, 16 -> writeMarker();
                case 17 -> {
                    if (!world.idQuestions.isEmpty()) {
                        world.giveProducerId(random.nextInt(4) > 0);
                    }
                }
                default -> world.makeSafe();
            }
            checkEpochs();
        }

        private void newProducer() {
            Producer producer = new Producer(IDS[random.nextInt(IDS.length)], random.nextBoolean());
            producers.add(producer);
            ask(producer, () -> init(producer, false));
        }

        /** A producer sends one request at a time, and waits for its response. */
        private static void ask(Producer producer, Runnable request) {
            if (!producer.dead) {
                if (producer.asking == null) {
                    producer.asking = request;
                }
                producer.asking.run();
            }
        }

        /** Whether a response completes the producer's request successfully. */
        private static boolean hasResponse(Producer producer, short error) {
            if (error == ErrorCode.CONCURRENT_TRANSACTIONS.code()
                    || error == ErrorCode.COORDINATOR_NOT_AVAILABLE.code()) {
                return false;
            }
            producer.asking = null;
            producer.dead = error != 0;
            return error == 0;
        }

        private void withProducer(Consumer<Producer> action) {
            if (!producers.isEmpty()) {
                // Usually the newest ones, sometimes older ones as zombies.
                int back = Math.min(producers.size(), 1 + random.nextInt(1 + random.nextInt(5)));
                action.accept(producers.get(producers.size() - back));
            }
        }

        private void init(Producer producer, boolean recovers) {
            InitProducerIdRequest request =
                    new InitProducerIdRequest().setTransactionalId(producer.id).setTransactionTimeoutMs(TIMEOUT_MS);
            if (recovers) {
                request.setProducerId(producer.producerId).setProducerEpoch(producer.epoch);
            }
            Runnable asked = producer.asking;
            world.machine.onInitProducerId(
                    (short) 4, request, world.nowMs, world.<InitProducerIdResponse>reply(response -> {
                        if (producer.asking == asked && hasResponse(producer, response.errorCode())) {
                            producer.producerId = response.producerId();
                            producer.epoch = response.producerEpoch();
                            producer.transaction = new Observed();
                        }
                    }));
        }

        private void produce(Producer producer) {
            if (producer.asking != null || producer.dead) {
                return;
            }
            TopicPartition partition = new TopicPartition("t", random.nextInt(partitions.size()));
            ProducerClaim claim = new ProducerClaim(producer.id, producer.producerId, producer.epoch);
            Observed transaction = producer.transaction;
            List<TopicPartition> wanted = List.of(partition);
            var reply = world.<ErrorCode>reply(error -> {
                if (error == ErrorCode.NONE || bug == TransactionBug.LETS_FENCED_PRODUCERS_WRITE) {
                    write(partition, claim, transaction);
                }
            });
            if (producer.second) {
                world.machine.onProduce(claim, wanted, world.nowMs, reply);
            } else if (random.nextBoolean()) {
                world.machine.onVerify(claim, wanted, reply);
            } else {
                world.machine.onAddPartitions(claim, wanted, TransactionVersion.FIRST, world.nowMs, reply);
            }
        }

        private void write(TopicPartition partition, ProducerClaim claim, Observed transaction) {
            Entry entry = partitions.get(partition).computeIfAbsent(claim.producerId(), id -> new Entry());
            if (claim.producerEpoch() < entry.epoch) {
                return;
            }
            entry.epoch = claim.producerEpoch();
            if (entry.open == null) {
                entry.open = transaction;
                transaction.open.add(partition);
                observed.add(transaction);
            }
            // No other producer writes with this epoch, and nothing is written behind a transaction's end.
            assertThat(entry.open).isSameAs(transaction);
            assertThat(transaction.marked).isNull();
            assertThat(journals.get(partition).write(claim, transaction)).isTrue();
            checkReaders(partition);
        }

        void checkAllReaders() {
            journals.keySet().forEach(this::checkReaders);
        }

        /** Checks that no read-committed consumer sees records of open or aborted transactions. */
        private void checkReaders(TopicPartition partition) {
            for (Observed seen : journals.get(partition).committed()) {
                assertThat(seen.marked).isTrue();
                assertThat(seen.told).isIn(null, true);
            }
        }

        private void end(Producer producer, boolean commit) {
            Observed transaction = producer.transaction;
            Runnable asked = producer.asking;
            EndTxnRequest request = new EndTxnRequest()
                    .setTransactionalId(producer.id)
                    .setProducerId(producer.producerId)
                    .setProducerEpoch(producer.epoch)
                    .setCommitted(commit);
            short version = (short) (producer.second ? 5 : 4);
            world.machine.onEndTransaction(version, request, world.nowMs, world.<EndTxnResponse>reply(response -> {
                if (producer.asking == asked && hasResponse(producer, response.errorCode())) {
                    assertThat(transaction.told).isIn(null, commit);
                    transaction.told = commit;
                    producer.transaction = new Observed();
                    if (producer.second) {
                        producer.producerId = response.producerId();
                        producer.epoch = response.producerEpoch();
                    }
                }
            }));
        }

        /** Delivers one marker of one decided transaction to its partition. */
        private void writeMarker() {
            if (world.markers.isEmpty()) {
                return;
            }
            List<MarkerRequest> requests = new ArrayList<>(world.markers.values());
            MarkerRequest request = requests.get(random.nextInt(requests.size()));
            List<TopicPartition> left =
                    markersLeft.computeIfAbsent(request.transactionalId(), id -> new ArrayList<>(request.partitions()));
            mark(left.remove(random.nextInt(left.size())), request);
            if (left.isEmpty()) {
                markersLeft.remove(request.transactionalId());
                world.completeMarkers(request);
            }
        }

        private void mark(TopicPartition partition, MarkerRequest request) {
            Entry entry = partitions.get(partition).computeIfAbsent(request.producerId(), id -> new Entry());
            assertThat(request.producerEpoch()).isGreaterThanOrEqualTo(entry.epoch);
            entry.epoch = request.producerEpoch();
            Observed transaction = entry.open;
            // A marker has an effect once, however often it is delivered.
            assertThat(journals.get(partition).mark(request)).isEqualTo(transaction != null);
            if (transaction == null) {
                return;
            }
            entry.open = null;
            assertThat(transaction.open.remove(partition)).isTrue();
            assertThat(transaction.marked).isIn(null, request.commit());
            transaction.marked = request.commit();
            if (transaction.told != null) {
                assertThat(transaction.marked).isEqualTo(transaction.told);
            }
            checkReaders(partition);
        }

        private void checkEpochs() {
            for (String id : IDS) {
                var described = world.machine.describe(id);
                if (described.errorCode() == 0) {
                    // A crash may revert outcomes that were not reported, but no others.
                    assertThat(described.producerEpoch())
                            .isGreaterThanOrEqualTo(newestTold(id, described.producerId()));
                }
            }
        }

        private short newestTold(String id, long producerId) {
            short newest = -1;
            for (Producer producer : producers) {
                if (producer.id.equals(id) && producer.producerId == producerId && producer.epoch > newest) {
                    newest = producer.epoch;
                }
            }
            return newest;
        }

        /** Completes all transactions, or lets them time out. */
        void finish() {
            for (int round = 0; round < 4; round++) {
                world.nowMs += TIMEOUT_MS;
                world.tick();
                while (!world.idQuestions.isEmpty()) {
                    world.giveProducerId(true);
                }
                world.makeAllSafe();
                while (!world.markers.isEmpty()) {
                    writeMarker();
                    world.makeAllSafe();
                }
            }
            for (Observed transaction : observed) {
                assertThat(transaction.open).isEmpty();
                assertThat(transaction.marked).isNotNull();
                if (transaction.told != null) {
                    assertThat(transaction.marked).isEqualTo(transaction.told);
                }
            }
            journals.values().forEach(journal -> {
                List<Observed> committed =
                        journal.written().stream().filter(one -> one.marked).toList();
                assertThat(journal.committed()).isEqualTo(committed);
            });
        }
    }
}
