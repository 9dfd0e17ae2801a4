package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.pkitesting.CertificateBuilder.Algorithm;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What connections cost whose clients do not log in, in memory of the process. */
@Tag("long")
@Timeout(300)
class StrangersCostTest {
    private static final int STRANGERS = 5_000;
    /** The broker closes the oldest beyond these. */
    private static final int MOST_OPEN = 1_000;

    private static final int MAX_BYTES_EACH = 64 * 1024;
    private static final int FRAME_BYTES = 32 * 1024;

    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"SASL_PLAINTEXT", "SASL_SSL"})
    void shouldTakeAtMost64KiBForAConnectionThatDoesNotLogIn(String protocol) throws Exception {
        assumeTrue(Files.exists(Path.of("/proc/self/status")), "needs Linux");
        TestKeys keys = new TestKeys(directory.resolve("keys"), "JournalQ test authority");
        keys.write("broker", keys.sign("CN=broker", Algorithm.ecp256));
        SSLContext context = protocol.equals("SASL_SSL") ? keys.sockets(null) : null;
        Map<String, String> settings = Map.of(
                "listeners",
                protocol + "://127.0.0.1:0",
                "max.unauthenticated.connections.per.ip",
                String.valueOf(STRANGERS),
                "ssl.keystore.location",
                keys.directory().resolve("broker.p12").toString(),
                "ssl.keystore.password.file",
                keys.passwordFile().toString());
        try (FloodedBroker broker = FloodedBroker.startWithResidentHeap(directory, settings)) {
            // given what the classes and the first connections take
            flood(broker, context, MOST_OPEN);
            long heapBefore = broker.liveHeapBytes();
            long residentBefore = broker.residentBytes();

            // when
            Cost most = flood(broker, context, STRANGERS);

            // then
            assertThat((most.residentBytes() - residentBefore + most.heapBytes() - heapBefore) / MOST_OPEN)
                    .as("bytes for each of %d open connections", MOST_OPEN)
                    .isLessThanOrEqualTo(MAX_BYTES_EACH);
            broker.assertHealthy("a flood of strangers");
        }
    }

    /**
     * What open connections take.
     *
     * @param residentBytes the most memory that the broker had; its heap is resident from the start
     * @param heapBytes what the last connections keep in the heap
     */
    private record Cost(long residentBytes, long heapBytes) {}

    /** Opens connections that each send almost a whole frame. */
    private static Cost flood(FloodedBroker broker, SSLContext context, int count) throws Exception {
        Deque<Socket> open = new ArrayDeque<>();
        long mostResident = 0;
        byte[] half = ByteBuffer.allocate(FRAME_BYTES).putInt(FRAME_BYTES).array();
        try {
            for (int i = 0; i < count; i++) {
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), broker.port());
                if (context != null) {
                    socket = context.getSocketFactory().createSocket(socket, "127.0.0.1", broker.port(), true);
                }
                open.add(socket);
                socket.getOutputStream().write(half);
                if (open.size() > MOST_OPEN) {
                    close(open.remove());
                }
                if (i % 250 == 249) {
                    mostResident = Math.max(mostResident, broker.residentBytes());
                }
            }
            return new Cost(mostResident, broker.liveHeapBytes());
        } finally {
            for (Socket socket : open) {
                close(socket);
            }
        }
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException dropped) {
            // The broker has closed it already.
        }
    }
}
