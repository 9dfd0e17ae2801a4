package io.journalq.server.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollServerSocketChannel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EventLoopsTest {
    @ParameterizedTest
    @CsvSource({"0, 1, 1", "0, 2, 1", "0, 8, 7", "1, 8, 1", "8, 8, 8", "16, 8, 8", "16, 1, 1"})
    void shouldStartNoMoreLoopsThanThereAreProcessors(int shards, int processors, int loops) {
        assertThat(EventLoops.countFor(shards, processors)).isEqualTo(loops);
    }

    /** Without its native library, epoll would be replaced by the transport of the JDK, which is slower. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void shouldUseTheNativeTransportOnLinux() {
        try (EventLoops loops = new EventLoops(1)) {
            assertThat(Epoll.unavailabilityCause()).isNull();
            assertThat(loops.serverChannelType()).isEqualTo(EpollServerSocketChannel.class);
        }
    }
}
