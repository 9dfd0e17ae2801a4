package io.journalq.client.internal.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class HostAndPortTest {
    @Test
    void shouldReadAListWithBlanksAndAnIpv6Address() {
        assertThat(HostAndPort.parseList("one:9092, [::1]:9093,"))
                .containsExactly(new HostAndPort("one", 9092), new HostAndPort("::1", 9093));
        assertThat(new HostAndPort("::1", 9093)).hasToString("[::1]:9093");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", " , ", "localhost", "localhost:", "localhost:x", "localhost:0", "localhost:70000", ":1"})
    void shouldRefuseWhatIsNoAddress(String text) {
        assertThatThrownBy(() -> HostAndPort.parseList(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("bootstrap server");
    }
}
