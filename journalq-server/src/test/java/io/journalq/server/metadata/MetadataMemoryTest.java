package io.journalq.server.metadata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.Message;
import io.journalq.server.memory.ChargedBytes;
import io.journalq.server.memory.RetainedBytes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The memory charged for metadata: it matches the state after any sequence of operations. */
class MetadataMemoryTest {
    private static final MetadataMachine.Limits LIMITS = new MetadataMachine.Limits(0, 1, 100, 1_000_000);
    private static final String SETTING = "retention.ms";

    private final ChargedBytes memory = new ChargedBytes();
    private final MetadataMachine machine = new MetadataMachine(LIMITS, (resource, configs, others) -> null, memory);
    private long nextId;

    MetadataMemoryTest() {
        TestBrokers.register(machine, 0);
    }

    private ErrorCode carryOut(Decision decision) {
        machine.replay(decision.records());
        return decision.error();
    }

    private ErrorCode create(String name, int partitions) {
        return carryOut(machine.createTopic(
                new TopicSpec(name, partitions, 1, List.of(), Map.of(SETTING, "1000")), new Uuid(1, ++nextId)));
    }

    private static QuotaEntity client(int number) {
        return new QuotaEntity(null, new QuotaEntity.Part("client-" + number));
    }

    @Test
    void shouldApplyRecordsAgainAfterThereWasNoMemoryForThem() {
        // given records of two topics, and memory for one
        List<Message> records = new ArrayList<>();
        for (String name : List.of("a", "b")) {
            records.addAll(machine.createTopic(
                            new TopicSpec(name, 1, 1, List.of(), Map.of(SETTING, "1000")), new Uuid(1, ++nextId))
                    .records());
        }
        MetadataImage before = machine.image();
        long chargedBytes = memory.bytes;
        memory.additionsLeft = records.size() / 2;

        // when
        assertThatThrownBy(() -> machine.replay(records)).isInstanceOf(OutOfMemoryError.class);
        // then nothing has changed
        assertThat(machine.image().version()).isEqualTo(before.version());
        assertThat(machine.image().topics()).isEmpty();
        assertThat(memory.bytes).isEqualTo(chargedBytes);

        // and when there is memory
        memory.additionsLeft = Integer.MAX_VALUE;
        MetadataDelta delta = machine.replay(records);
        // then
        assertThat(delta.topics()).hasSize(2);
        assertThat(machine.image().topic("b")).isNotNull();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void shouldChargeAsMuchAsARestartAndNothingWhenAllIsDeleted(long seed) {
        Random random = new Random(seed);
        for (int step = 0; step < 2_000; step++) {
            int number = random.nextInt(30);
            String name = "topic-" + number;
            TopicImage topic = machine.image().topic(name);
            Map<String, String> change = new HashMap<>();
            change.put(random.nextBoolean() ? SETTING : "retention.bytes", random.nextBoolean() ? null : "" + step);
            switch (random.nextInt(6)) {
                case 0 -> create(name, 1 + random.nextInt(20));
                case 1 -> carryOut(machine.deleteTopic(topic == null ? new Uuid(9, 9) : topic.id()));
                case 2 -> carryOut(machine.createPartitions(name, 1 + random.nextInt(40), List.of()));
                case 3 -> carryOut(machine.alterTopicConfig(name, change));
                case 4 ->
                    carryOut(machine.alterResourceConfig(
                            new ResourceId(ResourceId.Kind.GROUP, "group-" + number), change));
                default -> {
                    Map<String, Double> limits = new HashMap<>();
                    limits.put(QuotaKeys.PRODUCE_BYTES, random.nextBoolean() ? null : 1_000.0);
                    carryOut(machine.alterQuotas(client(number), limits));
                }
            }
        }

        // a machine that loads the same state
        ChargedBytes afterRestart = new ChargedBytes();
        MetadataMachine other = new MetadataMachine(LIMITS, (resource, configs, others) -> null, afterRestart);
        other.replay(machine.snapshot());
        assertThat(memory.bytes).isPositive().isEqualTo(afterRestart.bytes);

        // a machine that replaces another state with it
        ChargedBytes afterRestore = new ChargedBytes();
        MetadataMachine restored = new MetadataMachine(LIMITS, (resource, configs, others) -> null, afterRestore);
        TestBrokers.register(restored, LIMITS.nodeId());
        restored.replay(restored.createTopic(new TopicSpec("other", 9, 1, List.of(), Map.of()), new Uuid(2, 1))
                .records());
        restored.replay(restored.alterQuotas(client(77), Map.of(QuotaKeys.PRODUCE_BYTES, 1.0))
                .records());
        restored.restore(machine.snapshot());
        assertThat(afterRestore.bytes).isEqualTo(afterRestart.bytes);

        // and when everything is deleted
        new ArrayList<>(machine.image().topics()).forEach(topic -> carryOut(machine.deleteTopic(topic.id())));
        machine.image().resources().byResource().forEach((resource, configs) -> {
            Map<String, String> changes = new HashMap<>();
            configs.keySet().forEach(key -> changes.put(key, null));
            carryOut(machine.alterResourceConfig(resource, changes));
        });
        machine.image().quotas().byEntity().forEach((entity, limits) -> {
            Map<String, Double> changes = new HashMap<>();
            limits.keySet().forEach(key -> changes.put(key, null));
            carryOut(machine.alterQuotas(entity, changes));
        });
        assertThat(memory.bytes).isZero();
    }

    @Test
    void shouldRefuseWhatMakesItLargerAndNothingElseWhenThereIsNoRoom() {
        create("one", 1);
        create("two", 1);
        carryOut(machine.alterQuotas(client(1), Map.of(QuotaKeys.PRODUCE_BYTES, 1.0)));
        memory.maxBytes = memory.bytes;

        assertThat(create("three", 1)).isEqualTo(ErrorCode.POLICY_VIOLATION);
        assertThat(carryOut(machine.createPartitions("one", 2, List.of()))).isEqualTo(ErrorCode.POLICY_VIOLATION);
        assertThat(carryOut(machine.alterTopicConfig("one", Map.of("retention.bytes", "1"))))
                .isEqualTo(ErrorCode.POLICY_VIOLATION);
        assertThat(carryOut(machine.alterResourceConfig(
                        new ResourceId(ResourceId.Kind.GROUP, "g"), Map.of("consumer.session.timeout.ms", "1"))))
                .isEqualTo(ErrorCode.POLICY_VIOLATION);
        assertThat(carryOut(machine.alterQuotas(client(2), Map.of(QuotaKeys.PRODUCE_BYTES, 1.0))))
                .isEqualTo(ErrorCode.POLICY_VIOLATION);

        assertThat(carryOut(machine.alterTopicConfig("one", Map.of(SETTING, "2000"))))
                .isEqualTo(ErrorCode.NONE);
        assertThat(carryOut(machine.alterQuotas(client(1), Map.of(QuotaKeys.PRODUCE_BYTES, 2.0))))
                .isEqualTo(ErrorCode.NONE);
        assertThat(carryOut(machine.deleteTopic(machine.image().topic("two").id())))
                .isEqualTo(ErrorCode.NONE);
        assertThat(create("new", 1)).isEqualTo(ErrorCode.NONE);
    }

    private interface Growth {
        Decision grow(int number);
    }

    private void assertEstimate(String state, Growth growth) {
        carryOut(growth.grow(-1));
        long chargedBefore = memory.bytes;
        long retainedBefore = RetainedBytes.of(machine);
        for (int i = 0; i < 300; i++) {
            assertThat(carryOut(growth.grow(i))).isEqualTo(ErrorCode.NONE);
        }
        RetainedBytes.assertEstimate(state, memory.bytes - chargedBefore, RetainedBytes.of(machine) - retainedBefore);
    }

    /** A text as decoded from a request, which is not shared. */
    private static String received(String text) {
        return new String(text.toCharArray());
    }

    @Test
    void shouldEstimateQuotas() {
        assertEstimate("quotas", i -> machine.alterQuotas(client(i), Map.of(QuotaKeys.PRODUCE_BYTES, 1_000.0 + i)));
    }

    @Test
    void shouldEstimateSettingsOfGroups() {
        assertEstimate(
                "settings of groups",
                i -> machine.alterResourceConfig(
                        new ResourceId(ResourceId.Kind.GROUP, "group-" + i),
                        Map.of(received("consumer.session.timeout.ms"), "" + (50_000 + i))));
    }

    @Test
    void shouldEstimateSettingsOfTopics() {
        for (int i = -1; i < 300; i++) {
            create("topic-" + i, 1);
        }
        assertEstimate(
                "settings of topics",
                i -> machine.alterTopicConfig("topic-" + i, Map.of(received("retention.bytes"), "" + (50_000 + i))));
    }
}
