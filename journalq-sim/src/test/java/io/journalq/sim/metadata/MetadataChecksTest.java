package io.journalq.sim.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.Message;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.metadata.BrokerRegistration;
import io.journalq.server.metadata.MetadataDelta;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.TopicSpec;
import io.journalq.server.metadata.record.PartitionChangesRecord;
import io.journalq.server.metadata.record.PartitionChangesRecord.ChangeState;
import io.journalq.sim.metadata.MetadataResult.Spread;
import io.journalq.sim.world.Violations;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Each check finds what it is there for. */
class MetadataChecksTest {
    private static final Uuid ORDERS = new Uuid(1, 1);

    private final Violations violations = new Violations();
    private final MetadataChecks checks = new MetadataChecks(violations);
    private final MetadataMachine machine = new MetadataMachine(new MetadataMachine.Limits(1, 1, 10, 10));

    @BeforeEach
    void create() {
        for (int nodeId = 1; nodeId <= 4; nodeId++) {
            machine.replay(machine.registrations()
                    .register(
                            new BrokerRegistration(
                                    nodeId,
                                    new Uuid(2, nodeId),
                                    List.of(new ListenerAddress("PLAINTEXT", "broker-" + nodeId, 9092)),
                                    "rack-" + Math.min(nodeId, 3),
                                    List.of(),
                                    List.of(new Uuid(3, nodeId))),
                            -1)
                    .records());
        }
        machine.replay(machine.createTopic(new TopicSpec("orders", -1, -1, List.of(List.of(1, 2, 3)), Map.of()), ORDERS)
                .records());
    }

    private MetadataDelta change(ChangeState change) {
        List<Message> records =
                List.of(new PartitionChangesRecord().setTopicId(ORDERS).setChanges(List.of(change.setPartition(0))));
        return machine.replay(records);
    }

    private void assertFound(String promise) {
        assertThat(violations.found()).singleElement().asString().startsWith(promise);
    }

    @Test
    void shouldFindNothingWhenBrokersAreFenced() {
        checks.onDelta(machine.replay(machine.cluster().fence(List.of(1)).records()));
        checks.onDelta(machine.replay(machine.cluster().fence(List.of(2, 3)).records()));
        checks.check(machine.image(), "fenced");

        assertThat(violations.found()).isEmpty();
    }

    @Test
    void shouldFindAPartitionWithoutALeaderWhenOneCouldLead() {
        checks.onDelta(change(new ChangeState().setLeader(-1)));
        checks.check(machine.image(), "step");

        assertFound("LeadersAreElected: step: orders-0 has no leader");
    }

    @Test
    void shouldFindALeaderThatMayHaveLostRecordsWhenItWasNotInSync() {
        checks.onDelta(change(new ChangeState().setInSyncReplicas(List.of(1, 2))));
        checks.onDelta(change(new ChangeState().setLeader(3).setInSyncReplicas(List.of(3))));

        assertFound("ElectionsAreClean: orders-0 may lose records");
    }

    @Test
    void shouldFindReplicasInTheSameRack() {
        change(new ChangeState().setReplicas(List.of(1, 3, 4)).setInSyncReplicas(List.of(1, 3)));
        checks.check(machine.image(), "step");

        assertFound("ReplicasAreApart: step: orders-0");
    }

    @Test
    void shouldBoundTheSpreadOfTopicsWithPartialRounds() {
        PlacementBound whole = new PlacementBound(List.of(100, 200), 20);
        List<Integer> small = new ArrayList<>(Collections.nCopies(1_000, 2));
        PlacementBound partial = new PlacementBound(small, 20);

        // Whole rounds are spread evenly: 15 leaders for each of 20 brokers.
        assertThat(whole.problem(new Spread("", 45, 45, 15, 15))).isNull();
        assertThat(whole.problem(new Spread("", 45, 45, 15, 16))).contains("outside 15 to 15 leaders");
        assertThat(whole.problem(new Spread("", 44, 45, 15, 15))).contains("45 to 45 replicas");
        // 100 leaders for each broker, with a standard deviation of 9.5.
        assertThat(partial.problem(new Spread("", 280, 320, 90, 110))).isNull();
        assertThat(partial.problem(new Spread("", 280, 320, 90, 158))).contains("outside 43 to 157 leaders");
    }
}
