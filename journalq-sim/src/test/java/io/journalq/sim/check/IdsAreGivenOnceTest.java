package io.journalq.sim.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.server.metadata.record.BrokerRecord;
import io.journalq.sim.world.Violations;
import java.util.List;
import org.junit.jupiter.api.Test;

class IdsAreGivenOnceTest {
    private final Violations violations = new Violations();
    private final IdsAreGivenOnce check = new IdsAreGivenOnce(violations);
    private long offset;

    private void register(int nodeId, int process) {
        check.onReplay(
                offset,
                List.of(new BrokerRecord()
                        .setNodeId(nodeId)
                        .setEpoch(offset)
                        .setIncarnationId(new Uuid(nodeId, process))));
        offset++;
    }

    @Test
    void shouldFindAProcessThatGetsTwoEpochs() {
        register(1, 1);
        register(2, 1);
        register(1, 1);

        assertThat(violations.found())
                .singleElement()
                .asString()
                .startsWith("IdsAreGivenOnce: a process of broker 1 gets another epoch, 2");
    }

    @Test
    void shouldAllowThatAProcessRegistersAgainWhenAnEarlierOneHasReplacedIt() {
        register(1, 2);
        register(1, 1);
        register(1, 2);

        assertThat(violations.found()).isEmpty();
    }
}
