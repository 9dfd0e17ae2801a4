package io.journalq.cli.shell;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BrokerProbeTest {
    @Test
    void shouldLimitTheTimeToConnectWhenTheNameServerHasUsedAllOfIt() {
        assertThat(BrokerProbe.halfOf(1)).isEqualTo(1);
        assertThat(BrokerProbe.halfOf(4_000)).isEqualTo(2_000);
    }
}
