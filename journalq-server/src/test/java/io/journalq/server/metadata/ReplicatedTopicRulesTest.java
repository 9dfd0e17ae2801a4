package io.journalq.server.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The delivery modes of topics with several replicas. */
class ReplicatedTopicRulesTest {
    private final MetadataMachine machine = new MetadataMachine(new MetadataMachine.Limits(1, 1, 100, 250));
    private int topics;

    @BeforeEach
    void registerBrokers() {
        TestBrokers.register(machine, 1, 2, 3);
    }

    private String create(Map<String, String> configs) {
        String name = "topic" + ++topics;
        Decision decision = machine.createTopic(
                new TopicSpec(name, -1, -1, List.of(List.of(1, 2, 3)), configs), new Uuid(1, topics));
        assertThat(decision.error()).as(decision.reason()).isEqualTo(ErrorCode.NONE);
        machine.replay(decision.records());
        return name;
    }

    private String modeOf(String topic) {
        return machine.image().topic(topic).configs().get("delivery.mode");
    }

    @Test
    void shouldSetTheModeOfANewTopicSoThatAllBrokersAgree() {
        assertThat(modeOf(create(Map.of()))).isEqualTo("eventual");
        assertThat(modeOf(create(Map.of("delivery.mode", "performance")))).isEqualTo("performance");
        assertThat(modeOf(create(Map.of("delivery.mode", "consistent")))).isEqualTo("consistent");
        assertThat(modeOf(create(Map.of("flush.messages", "1")))).isEqualTo("consistent");
        assertThat(modeOf(create(Map.of("flush.messages", "01")))).isEqualTo("consistent");
        assertThat(modeOf(create(Map.of("flush.messages", "100")))).isEqualTo("eventual");
    }

    @Test
    void shouldRefuseToMakeATopicConsistentWhenItsReplicasHaveAcknowledgedByAnotherRule() {
        for (String mode : List.of("eventual", "performance")) {
            String topic = create(Map.of("delivery.mode", mode));
            for (Map<String, String> change : List.of(
                    Map.of("delivery.mode", "consistent"),
                    Map.of("delivery.mode", " consistent "),
                    Map.of("flush.messages", "1"),
                    Map.of("flush.messages", "01"),
                    Map.of("flush.messages", "+1"))) {
                Decision refused = machine.alterTopicConfig(topic, change);
                assertThat(refused.error()).isEqualTo(ErrorCode.INVALID_CONFIG);
                assertThat(refused.reason())
                        .isEqualTo("delivery.mode of a topic with several replicas cannot become consistent: create"
                                + " another topic with delivery.mode=consistent, and copy the records");
            }
        }
    }

    @Test
    void shouldAllowOtherChangesOfTheModeButNotItsRemoval() {
        String topic = create(Map.of("delivery.mode", "consistent"));
        for (String mode : List.of("consistent", "performance", "eventual")) {
            Decision changed = machine.alterTopicConfig(topic, Map.of("delivery.mode", mode));
            assertThat(changed.error()).as(changed.reason()).isEqualTo(ErrorCode.NONE);
            machine.replay(changed.records());
            assertThat(modeOf(topic)).isEqualTo(mode);
        }
        Decision removed = machine.alterTopicConfig(topic, Collections.singletonMap("delivery.mode", null));
        assertThat(removed.error()).isEqualTo(ErrorCode.INVALID_CONFIG);
        assertThat(removed.reason()).contains("must set delivery.mode");
    }

    @Test
    void shouldAllowChangesOfAnInternalTopicThatHasGrownToSeveralReplicasWithoutAMode() {
        // given
        machine.replay(
                machine.createTopic(InternalTopics.groups(1, 1), new Uuid(1, 1)).records());
        machine.replay(machine.partitions()
                .reassign(InternalTopics.GROUPS, 0, List.of(1, 2, 3), true)
                .records());
        assertThat(modeOf(InternalTopics.GROUPS)).isNull();

        // when a throttle is set, and removed
        Map<String, String> throttled = Map.of("leader.replication.throttled.replicas", "0:1");
        for (Map<String, String> change :
                List.of(throttled, Collections.singletonMap("leader.replication.throttled.replicas", (String) null))) {
            Decision changed = machine.alterTopicConfig(InternalTopics.GROUPS, change);

            // then
            assertThat(changed.error()).as(changed.reason()).isEqualTo(ErrorCode.NONE);
            machine.replay(changed.records());
        }
        assertThat(machine.alterTopicConfig(InternalTopics.GROUPS, Map.of("delivery.mode", "consistent"))
                        .error())
                .isEqualTo(ErrorCode.INVALID_CONFIG);
    }

    @Test
    void shouldRequireAMajorityOnlyInModeConsistent() {
        assertThat(ReplicatedTopicRules.requiredInSync(1, 3, true)).isEqualTo(2);
        assertThat(ReplicatedTopicRules.requiredInSync(3, 3, true)).isEqualTo(3);
        assertThat(ReplicatedTopicRules.requiredInSync(9, 2, true)).isEqualTo(2);
        assertThat(ReplicatedTopicRules.requiredInSync(1, 1, true)).isEqualTo(1);
        assertThat(ReplicatedTopicRules.requiredInSync(1, 3, false)).isEqualTo(1);
        assertThat(ReplicatedTopicRules.requiredInSync(9, 3, false)).isEqualTo(3);
    }
}
