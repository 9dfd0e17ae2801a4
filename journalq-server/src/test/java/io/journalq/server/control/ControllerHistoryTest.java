package io.journalq.server.control;

import static io.journalq.server.control.ControllerFixture.LIMITS;
import static io.journalq.server.control.ControllerFixture.NODE;
import static io.journalq.server.control.ControllerFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.control.Controller.ConfigChange;
import io.journalq.server.control.Controller.PartitionsSpec;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.TopicSpec;
import io.journalq.server.metadata.partition.PartitionImage;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random histories of operations and restarts, compared with a model that does not use records. To run one seed:
 * {@code mvn -pl journalq-server -am test -Dtest=ControllerHistoryTest -Djournalq.seed=SEED}.
 */
class ControllerHistoryTest {
    private static final int SEEDS = 10;
    private static final int STEPS = 100;
    private static final List<String> NAMES = List.of("a", "b.c", "b_c", "d", "e", "../x");

    static List<Long> seeds() {
        String given = System.getProperty("journalq.seed");
        if (given != null) {
            return List.of(Long.parseLong(given));
        }
        List<Long> seeds = new ArrayList<>();
        for (long seed = 1; seed <= SEEDS; seed++) {
            seeds.add(seed);
        }
        return seeds;
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldHoldWhatTheModelHoldsAfterEveryOperationAndRestart(long seed) throws Exception {
        new History(seed).run();
    }

    /** The expected state of a topic. */
    private static final class Expected {
        private Uuid id;
        private final List<Integer> epochs = new ArrayList<>();
        private final Map<String, String> configs = new TreeMap<>();
    }

    private static final class History {
        private final Random random;
        private final long seed;
        private final FileStore store = new MemoryFileStore();
        private final Map<String, Expected> model = new TreeMap<>();
        private ControllerFixture broker;
        private long lastId;
        private long nextProducerId;

        History(long seed) {
            this.seed = seed;
            this.random = new Random(seed);
        }

        void run() throws Exception {
            broker = ControllerFixture.start(store, this::newId);
            try {
                for (int step = 0; step < STEPS; step++) {
                    step();
                    check("seed " + seed + " step " + step);
                }
            } finally {
                broker.close();
            }
        }

        private void step() throws Exception {
            switch (random.nextInt(8)) {
                case 0, 1 -> create();
                case 2 -> delete();
                case 3 -> grow();
                case 4, 5 -> alter();
                case 6 -> allocate();
                default -> restart();
            }
        }

        private Uuid newId() {
            return new Uuid(seed, ++lastId);
        }

        private String name() {
            return NAMES.get(random.nextInt(NAMES.size()));
        }

        private void create() throws Exception {
            String name = name();
            int partitions = random.nextInt(LIMITS.maxPartitionsPerTopic() + 3);
            boolean validateOnly = random.nextInt(4) == 0;
            Map<String, String> configs =
                    random.nextBoolean() ? Map.of() : Map.of("retention.ms", Integer.toString(random.nextInt(9) - 2));
            TopicSpec spec = new TopicSpec(name, partitions, 1, List.of(), configs);

            Outcome outcome = await(broker.controller.createTopics(List.of(spec), validateOnly))
                    .get(0);

            ErrorCode expected = creationError(name, partitions, configs);
            assertThat(outcome.error()).as("seed %d: %s", seed, spec).isEqualTo(expected);
            if (expected == ErrorCode.NONE && !validateOnly) {
                Expected topic = new Expected();
                topic.id = outcome.topicId();
                topic.epochs.addAll(Collections.nCopies(partitions, 0));
                topic.configs.putAll(configs);
                model.put(name, topic);
            }
        }

        private ErrorCode creationError(String name, int partitions, Map<String, String> configs) {
            if (name.contains("/")) {
                return ErrorCode.INVALID_TOPIC_EXCEPTION;
            }
            if (model.containsKey(name)) {
                return ErrorCode.TOPIC_ALREADY_EXISTS;
            }
            if (model.keySet().stream()
                    .anyMatch(other -> other.replace('.', '_').equals(name.replace('.', '_')))) {
                return ErrorCode.INVALID_TOPIC_EXCEPTION;
            }
            ErrorCode counted = countError(partitions, partitions);
            return counted == ErrorCode.NONE && configs.containsValue("-2") ? ErrorCode.INVALID_CONFIG : counted;
        }

        private ErrorCode countError(int ofTopic, int added) {
            if (ofTopic < 1 || ofTopic > LIMITS.maxPartitionsPerTopic()) {
                return ErrorCode.INVALID_PARTITIONS;
            }
            int all = model.values().stream()
                    .mapToInt(topic -> topic.epochs.size())
                    .sum();
            return all + added > LIMITS.maxPartitions() ? ErrorCode.POLICY_VIOLATION : ErrorCode.NONE;
        }

        private void delete() throws Exception {
            String name = name();
            Uuid id = model.containsKey(name) ? model.get(name).id : new Uuid(0, 99);

            Outcome outcome = await(broker.controller.deleteTopics(List.of(id))).get(0);

            assertThat(outcome.error())
                    .isEqualTo(model.remove(name) != null ? ErrorCode.NONE : ErrorCode.UNKNOWN_TOPIC_ID);
        }

        private void grow() throws Exception {
            String name = name();
            int count = 1 + random.nextInt(LIMITS.maxPartitionsPerTopic() + 2);

            Outcome outcome = await(broker.controller.createPartitions(
                            List.of(new PartitionsSpec(name, count, List.of())), false))
                    .get(0);

            Expected topic = model.get(name);
            if (topic == null) {
                assertThat(outcome.error()).isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
                return;
            }
            int added = count - topic.epochs.size();
            ErrorCode expected = added <= 0 ? ErrorCode.INVALID_PARTITIONS : countError(count, added);
            assertThat(outcome.error()).isEqualTo(expected);
            if (expected == ErrorCode.NONE) {
                topic.epochs.addAll(Collections.nCopies(added, 0));
            }
        }

        private void alter() throws Exception {
            String name = name();
            Map<String, String> changes = new TreeMap<>();
            changes.put("segment.bytes", random.nextBoolean() ? null : Integer.toString(1_000 + random.nextInt(100)));
            changes.put("retention.ms", random.nextBoolean() ? null : Integer.toString(random.nextInt(50)));

            Outcome outcome = await(broker.controller.alterTopicConfigs(
                            List.of(new ConfigChange(name, image -> changes)), false))
                    .get(0);

            Expected topic = model.get(name);
            boolean tooSmall =
                    changes.get("segment.bytes") != null && Integer.parseInt(changes.get("segment.bytes")) < 1_024;
            if (topic == null) {
                assertThat(outcome.error()).isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
            } else if (tooSmall) {
                assertThat(outcome.error()).isEqualTo(ErrorCode.INVALID_CONFIG);
            } else {
                assertThat(outcome.error()).isEqualTo(ErrorCode.NONE);
                topic.configs.putAll(changes);
                topic.configs.values().removeIf(value -> value == null);
            }
        }

        private void allocate() throws Exception {
            int count = 1 + random.nextInt(1_000);
            assertThat(await(broker.controller.allocateProducerIds(count))).isEqualTo(nextProducerId);
            nextProducerId += count;
        }

        private void restart() throws Exception {
            broker.close();
            broker = ControllerFixture.start(store, this::newId);
            model.values().forEach(topic -> topic.epochs.replaceAll(epoch -> epoch + 1));
        }

        private void check(String when) {
            Map<String, TopicImage> actual = new TreeMap<>();
            broker.image().topics().forEach(topic -> actual.put(topic.name(), topic));
            assertThat(actual.keySet()).as(when).isEqualTo(model.keySet());
            model.forEach((name, expected) -> {
                List<PartitionImage> partitions = expected.epochs.stream()
                        .map(epoch -> new PartitionImage(NODE, epoch, List.of(NODE), List.of(NODE)))
                        .toList();
                assertThat(actual.get(name))
                        .as(when)
                        .isEqualTo(new TopicImage(name, expected.id, partitions, expected.configs));
                assertThat(broker.image().topic(expected.id)).as(when).isEqualTo(actual.get(name));
            });
        }
    }
}
