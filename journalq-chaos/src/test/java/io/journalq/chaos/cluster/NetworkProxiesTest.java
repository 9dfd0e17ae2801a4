package io.journalq.chaos.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** This process is broker 1, and what listens behind the proxy is broker 2. */
@EnabledOnOs(OS.LINUX)
class NetworkProxiesTest {
    private static final int WAIT_MS = 60_000;
    /** Long enough to see that nothing passes. */
    private static final int SILENCE_MS = 100;

    private final NetworkProxies network = new NetworkProxies();

    private ServerSocket broker;
    private Socket opened;
    private Socket accepted;

    @BeforeEach
    void connect() throws IOException {
        broker = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        broker.setSoTimeout(WAIT_MS);
        network.watch(id -> id == 1 ? ProcessHandle.current().pid() : 0);
        network.open(1, broker.getLocalPort());
        opened = new Socket(InetAddress.getLoopbackAddress(), network.open(2, broker.getLocalPort()));
        accepted = broker.accept();
        accepted.setSoTimeout(WAIT_MS);
        opened.setSoTimeout(WAIT_MS);
        // The proxy looks at its links only after the broker has accepted.
        opened.getOutputStream().write(1);
        assertThat(accepted.getInputStream().read()).isEqualTo(1);
    }

    @AfterEach
    void close() throws IOException {
        opened.close();
        accepted.close();
        broker.close();
        network.close();
    }

    @Test
    void shouldLeadToAnotherBrokerWhenANameIsGivenToIt() throws IOException {
        try (ServerSocket successor = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            successor.setSoTimeout(WAIT_MS);
            AtomicInteger port = new AtomicInteger(broker.getLocalPort());
            int name = network.openName(port::get);
            new Socket(InetAddress.getLoopbackAddress(), name).close();
            broker.accept().close();

            port.set(successor.getLocalPort());

            try (Socket client = new Socket(InetAddress.getLoopbackAddress(), name);
                    Socket reached = successor.accept()) {
                reached.setSoTimeout(WAIT_MS);
                client.getOutputStream().write(7);
                assertThat(reached.getInputStream().read()).isEqualTo(7);
            }
        }
    }

    @Test
    void shouldKeepWhatIsSentInOneDirectionWhenThatIsCut() throws IOException {
        // given
        network.set(1, 2, true, 0);

        // when
        opened.getOutputStream().write(7);
        accepted.getOutputStream().write(8);

        // then
        assertThat(opened.getInputStream().read()).isEqualTo(8);
        accepted.setSoTimeout(SILENCE_MS);
        assertThatThrownBy(() -> accepted.getInputStream().read()).isInstanceOf(SocketTimeoutException.class);

        // and when
        network.heal();

        // then
        accepted.setSoTimeout(WAIT_MS);
        assertThat(accepted.getInputStream().read()).isEqualTo(7);
    }

    @Test
    void shouldNotAffectAnotherLinkWhenOneIsCut() throws IOException {
        network.set(1, 3, true, 0);
        network.set(NetworkProxies.CLIENTS, 2, true, 0);

        opened.getOutputStream().write(7);

        assertThat(accepted.getInputStream().read()).isEqualTo(7);
    }

    @Test
    void shouldCloseBothEndsWhenABrokerIsReset() throws IOException {
        opened.getOutputStream().write(7);
        assertThat(accepted.getInputStream().read()).isEqualTo(7);

        int count = network.reset(2);

        assertThat(count).isEqualTo(1);
        assertThatThrownBy(() -> {
                    if (opened.getInputStream().read() < 0) {
                        throw new IOException("closed");
                    }
                })
                .isInstanceOf(IOException.class)
                .isNotInstanceOf(SocketTimeoutException.class);
    }

    @Test
    void shouldPassTheEndOfAConnectionWhenOneSideCloses() throws IOException {
        accepted.close();

        assertThat(opened.getInputStream().read()).isEqualTo(-1);
    }
}
