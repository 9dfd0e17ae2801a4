package io.journalq.server.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.Message;
import io.journalq.server.metadata.MetadataDelta.TopicChange;
import io.journalq.server.metadata.record.ConfigRecord;
import io.journalq.server.metadata.record.NodeStartedRecord;
import io.journalq.server.metadata.record.ProducerIdsRecord;
import io.journalq.server.metadata.record.RemoveTopicRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A delta names the topics that a batch has changed, and no others. */
class MetadataDeltaTest {
    private static final int NODE = 3;
    private static final int TOPICS = 1_000;
    private static final Uuid ONE = new Uuid(1, 500);
    private static final Uuid NEW = new Uuid(2, 1);

    private final MetadataMachine machine = new MetadataMachine(new MetadataMachine.Limits(NODE, 1, 10, 10_000));

    MetadataDeltaTest() {
        TestBrokers.register(machine, NODE);
    }

    private static List<Message> creation(MetadataMachine machine, String name, Uuid id) {
        return machine.createTopic(new TopicSpec(name, 1, 1, List.of(), Map.of()), id)
                .records();
    }

    private static ConfigRecord retention(Uuid id, String value) {
        return new ConfigRecord().setTopicId(id).setName("retention.ms").setValue(value);
    }

    private void createMany() {
        for (int i = 0; i < TOPICS; i++) {
            machine.replay(creation(machine, "topic-" + i, new Uuid(1, i)));
        }
    }

    @Test
    void shouldNameOneTopicWhenOneOfManyChanges() {
        createMany();

        MetadataDelta created = machine.replay(creation(machine, "new", NEW));
        MetadataDelta changed = machine.replay(List.of(retention(ONE, "1"), retention(ONE, "2")));
        MetadataDelta same = machine.replay(List.of(retention(ONE, "2")));
        MetadataDelta removed = machine.replay(List.of(new RemoveTopicRecord().setTopicId(ONE)));
        MetadataDelta other = machine.replay(List.of(new ProducerIdsRecord().setNextProducerId(5)));

        assertThat(created.topics())
                .containsExactly(new TopicChange(null, created.now().topic(NEW)));
        assertThat(changed.topics())
                .containsExactly(new TopicChange(
                        changed.before().topic(ONE), changed.now().topic(ONE)));
        assertThat(same.topics()).as("the same value again").isEmpty();
        assertThat(removed.topics())
                .containsExactly(new TopicChange(removed.before().topic(ONE), null));
        assertThat(removed.removesTopics()).isTrue();
        assertThat(other.topics()).isEmpty();
    }

    @Test
    void shouldNameEveryTopicThatTheNodeLeadsWhenItStarts() {
        createMany();

        assertThat(machine.replay(List.of(new NodeStartedRecord().setNodeId(NODE)))
                        .topics())
                .hasSize(TOPICS);
        assertThat(machine.replay(List.of(new NodeStartedRecord().setNodeId(NODE + 1)))
                        .topics())
                .isEmpty();
    }

    @Test
    void shouldNotNameATopicWhenItsBatchCreatesAndRemovesIt() {
        List<Message> records = new ArrayList<>(creation(machine, "short", NEW));
        records.add(new RemoveTopicRecord().setTopicId(NEW));

        assertThat(machine.replay(records).topics()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void shouldNameAllDifferencesOfTheImagesAfterAnyBatch(long seed) {
        Random random = new Random(seed);
        for (int step = 0; step < 300; step++) {
            MetadataMachine decider = machine.decider(machine.image());
            List<Message> batch = new ArrayList<>();
            for (int i = random.nextInt(5); i >= 0; i--) {
                String name = "topic-" + random.nextInt(20);
                TopicImage topic = decider.image().topic(name);
                Uuid id = topic == null ? new Uuid(step, i) : topic.id();
                List<Message> records =
                        switch (random.nextInt(4)) {
                            case 0 -> decider.deleteTopic(id).records();
                            case 1 ->
                                decider.createPartitions(name, 1 + random.nextInt(5), List.of())
                                        .records();
                            case 2 ->
                                decider.alterTopicConfig(name, Map.of("retention.ms", "" + random.nextInt(3)))
                                        .records();
                            default -> creation(decider, name, id);
                        };
                decider.replay(records);
                batch.addAll(records);
            }
            MetadataImage before = machine.image();

            MetadataDelta delta = machine.replay(batch);

            assertThat(delta.before().version()).isEqualTo(before.version());
            assertThat(delta.now().topics())
                    .containsExactlyElementsOf(decider.image().topics());
            Map<Uuid, TopicChange> named = new TreeMap<>();
            delta.topics()
                    .forEach(change -> named.put(
                            change.isRemoval()
                                    ? change.before().id()
                                    : change.now().id(),
                            change));
            assertThat(named).as("seed %d step %d", seed, step).isEqualTo(differences(before, delta.now()));
        }
    }

    private static Map<Uuid, TopicChange> differences(MetadataImage before, MetadataImage now) {
        TreeSet<Uuid> ids = new TreeSet<>();
        before.topics().forEach(topic -> ids.add(topic.id()));
        now.topics().forEach(topic -> ids.add(topic.id()));
        Map<Uuid, TopicChange> differences = new TreeMap<>();
        for (Uuid id : ids) {
            if (!Objects.equals(before.topic(id), now.topic(id))) {
                differences.put(id, new TopicChange(before.topic(id), now.topic(id)));
            }
        }
        return differences;
    }
}
