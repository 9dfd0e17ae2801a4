package io.journalq.server.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.metadata.record.ResourceConfigRecord;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClusterVersionTest {
    private final MetadataMachine machine = new MetadataMachine(new MetadataMachine.Limits(0, 1, 10, 10));

    @Test
    void shouldBeTheFirstWhenNoLevelIsFinalized() {
        assertThat(ClusterVersion.of(machine.image())).isEqualTo(ClusterVersion.FIRST);
    }

    @Test
    void shouldBeTheFinalizedLevelWhenTheLogHasOne() {
        machine.replay(List.of(new ResourceConfigRecord()
                .setResourceType(ResourceId.Kind.FEATURE.code())
                .setResourceName("cluster.version")
                .setName("level")
                .setValue("2")));

        assertThat(ClusterVersion.of(machine.image())).isEqualTo(2);
    }
}
