package io.journalq.server.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollServerSocketChannel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

class EventLoopsTest {
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
