package io.journalq.server.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.network.NameLookups;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.message.DescribeClusterRequest;
import io.journalq.common.protocol.message.DescribeClusterResponse;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class NettyPeerChannelsTest {
    private static final int VERSION = 0;
    private static final int TIMEOUT_MS = 20_000;
    private static final int SHORT_TIMEOUT_MS = 200;
    /** In the header of a request, behind its API and version. */
    private static final int NUMBER_INDEX = 4;

    private final NettyPeerChannels channels = new NettyPeerChannels("broker-1", null);
    private ServerSocket peer;

    @BeforeEach
    void open() throws IOException {
        peer = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        peer.setSoTimeout(TIMEOUT_MS);
    }

    @AfterEach
    void close() throws IOException {
        channels.close();
        peer.close();
    }

    private CompletableFuture<ApiMessage> ask(int timeoutMs) {
        return channels.send("127.0.0.1", peer.getLocalPort(), new DescribeClusterRequest(), VERSION, timeoutMs);
    }

    private static String clusterOf(CompletableFuture<ApiMessage> response) throws Exception {
        return ((DescribeClusterResponse) response.get(TIMEOUT_MS, TimeUnit.MILLISECONDS)).clusterId();
    }

    /** Reads a request and returns its number. */
    private static int readRequest(Socket connection) throws IOException {
        DataInputStream in = new DataInputStream(connection.getInputStream());
        ByteBuffer frame = ByteBuffer.wrap(in.readNBytes(in.readInt()));
        return frame.getInt(NUMBER_INDEX);
    }

    /** Writes a response of version 0 with a cluster id of one letter. */
    private static void respond(Socket connection, int number, char clusterId) throws IOException {
        DataOutputStream out = new DataOutputStream(connection.getOutputStream());
        byte[] body = {
            0, // header tags
            0,
            0,
            0,
            0, // throttle time
            0,
            0, // error
            0, // error message: null
            2,
            (byte) clusterId, // cluster id
            0,
            0,
            0,
            1, // controller
            1, // no brokers
            0,
            0,
            0,
            0, // authorized operations
            0 // tags
        };
        out.writeInt(Integer.BYTES + body.length);
        out.writeInt(number);
        out.write(body);
        out.flush();
    }

    @Test
    void shouldSendRequestsOverOneConnectionWhenTheyHaveTheSameAddress() throws Exception {
        CompletableFuture<ApiMessage> first = ask(TIMEOUT_MS);
        CompletableFuture<ApiMessage> second = ask(TIMEOUT_MS);

        try (Socket connection = peer.accept()) {
            respond(connection, readRequest(connection), 'a');
            respond(connection, readRequest(connection), 'b');

            assertThat(clusterOf(first)).isEqualTo("a");
            assertThat(clusterOf(second)).isEqualTo("b");
        }
    }

    @Test
    void shouldFailAndConnectAgainWhenThePeerClosesTheConnection() throws Exception {
        CompletableFuture<ApiMessage> lost = ask(TIMEOUT_MS);
        try (Socket connection = peer.accept()) {
            readRequest(connection);
        }
        assertThatThrownBy(() -> lost.get(TIMEOUT_MS, TimeUnit.MILLISECONDS))
                .hasCauseInstanceOf(IOException.class)
                .hasMessageContaining("127.0.0.1:" + peer.getLocalPort());

        CompletableFuture<ApiMessage> next = ask(TIMEOUT_MS);
        try (Socket connection = peer.accept()) {
            respond(connection, readRequest(connection), 'c');
            assertThat(clusterOf(next)).isEqualTo("c");
        }
    }

    @Test
    void shouldUseANewConnectionWhenThePeerDoesNotRespondInTime() throws Exception {
        CompletableFuture<ApiMessage> late = ask(SHORT_TIMEOUT_MS);
        try (Socket frozen = peer.accept()) {
            assertThatThrownBy(() -> late.get(TIMEOUT_MS, TimeUnit.MILLISECONDS))
                    .hasMessageContaining("does not respond within " + SHORT_TIMEOUT_MS + " ms");

            CompletableFuture<ApiMessage> next = ask(TIMEOUT_MS);
            try (Socket connection = peer.accept()) {
                respond(connection, readRequest(connection), 'd');
                assertThat(clusterOf(next)).isEqualTo("d");
            }
            assertThat(frozen.isConnected()).isTrue();
        }
    }

    @Test
    void shouldFailWhenThePeerRespondsToAnotherRequest() throws Exception {
        CompletableFuture<ApiMessage> response = ask(TIMEOUT_MS);
        try (Socket connection = peer.accept()) {
            respond(connection, readRequest(connection) + 1, 'e');

            assertThatThrownBy(() -> response.get(TIMEOUT_MS, TimeUnit.MILLISECONDS))
                    .hasMessageContaining("a response to another request");
        }
    }

    @Test
    void shouldNameTheAddressWhenNothingListensThere() throws Exception {
        peer.close();

        assertThatThrownBy(() -> ask(TIMEOUT_MS).get(TIMEOUT_MS, TimeUnit.MILLISECONDS))
                .hasMessageContaining("cannot connect to 127.0.0.1:" + peer.getLocalPort());
    }

    @Test
    void shouldReachAPeerWhileTheNameOfAnotherIsLookedUp() throws Exception {
        // given
        CountDownLatch looking = new CountDownLatch(1);
        CountDownLatch found = new CountDownLatch(1);
        NettyPeerChannels named = new NettyPeerChannels("broker-1", null, new NameLookups(host -> {
            looking.countDown();
            try {
                found.await();
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
            throw new UnknownHostException(host);
        }));
        try {
            CompletableFuture<ApiMessage> slow =
                    named.send("slow", peer.getLocalPort(), new DescribeClusterRequest(), VERSION, TIMEOUT_MS);
            assertThat(looking.await(TIMEOUT_MS, TimeUnit.MILLISECONDS)).isTrue();

            // when
            CompletableFuture<ApiMessage> other =
                    named.send("127.0.0.1", peer.getLocalPort(), new DescribeClusterRequest(), VERSION, TIMEOUT_MS);
            try (Socket connection = peer.accept()) {
                respond(connection, readRequest(connection), 'f');

                // then
                assertThat(clusterOf(other)).isEqualTo("f");
            }
            assertThat(slow).isNotDone();
            found.countDown();
            assertThatThrownBy(() -> slow.get(TIMEOUT_MS, TimeUnit.MILLISECONDS))
                    .hasMessageContaining("cannot connect to slow:");
        } finally {
            found.countDown();
            named.close();
        }
    }

    @Test
    void shouldFailWhenItIsClosed() throws Exception {
        CompletableFuture<ApiMessage> waiting = ask(TIMEOUT_MS);
        try (Socket connection = peer.accept()) {
            readRequest(connection);
            channels.close();

            assertThatThrownBy(() -> waiting.get(TIMEOUT_MS, TimeUnit.MILLISECONDS))
                    .hasCauseInstanceOf(IOException.class);
        }
        assertThatThrownBy(() -> ask(TIMEOUT_MS).get(TIMEOUT_MS, TimeUnit.MILLISECONDS))
                .hasMessageContaining("closed");
    }
}
