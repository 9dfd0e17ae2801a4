package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.protocol.message.ApiVersionsRequest;
import io.journalq.common.protocol.message.ApiVersionsResponse;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.InvalidBatchException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.pkitesting.CertificateBuilder.Algorithm;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Known vulnerabilities of Netty, of lz4, and of TLS in ActiveMQ: what clients can do to an encrypted listener with
 * records, handshakes and resets. The broker serves others after each attack, and releases what it took.
 */
@Timeout(60)
class NettyCveTest {
    private static final int HANDSHAKE = 22;
    private static final int APPLICATION_DATA = 23;
    private static final int MAX_RECORD_SIZE_BYTES = 16_384;

    @TempDir
    private static Path directory;

    private static TestBroker broker;
    private static SSLContext context;

    @BeforeAll
    static void start() throws Exception {
        TestKeys keys = new TestKeys(directory.resolve("keys"), "JournalQ test authority");
        keys.write("broker", keys.sign("CN=broker", Algorithm.ecp256));
        context = keys.sockets(null);
        broker = new TestBroker(directory.resolve("data"))
                .with("listeners", "SSL://127.0.0.1:0")
                .with(
                        "ssl.keystore.location",
                        keys.directory().resolve("broker.p12").toString())
                .with("ssl.keystore.password.file", keys.passwordFile().toString())
                .start();
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    private static Socket plain() throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), broker.port());
        socket.setSoTimeout(20_000);
        return socket;
    }

    private static SSLSocket encrypted(Socket under) throws IOException {
        SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(under, "127.0.0.1", broker.port(), true);
        socket.startHandshake();
        return socket;
    }

    /** The header of a TLS record. */
    private static byte[] record(int type, int claimedBytes, int... content) {
        byte[] record = new byte[5 + content.length];
        record[0] = (byte) type;
        record[1] = 3;
        record[2] = 3;
        record[3] = (byte) (claimedBytes >> 8);
        record[4] = (byte) claimedBytes;
        for (int i = 0; i < content.length; i++) {
            record[5 + i] = (byte) content[i];
        }
        return record;
    }

    /** Writes, although the broker may have closed the connection already. */
    private static void attack(Socket socket, byte[]... records) {
        try {
            OutputStream out = socket.getOutputStream();
            for (byte[] bytes : records) {
                out.write(bytes);
            }
            out.flush();
        } catch (IOException closed) {
            // As it should be.
        }
    }

    private static boolean isClosedByTheBroker(Socket socket) {
        try {
            byte[] buffer = new byte[4_096];
            int read = socket.getInputStream().read(buffer);
            while (read >= 0) {
                read = socket.getInputStream().read(buffer);
            }
            return true;
        } catch (java.net.SocketTimeoutException open) {
            return false;
        } catch (IOException reset) {
            return true;
        }
    }

    private static void assertServesOthers() throws Exception {
        try (WireClient client = new WireClient(encrypted(plain()))) {
            assertThat(client.call(ApiVersionsResponse.class, new ApiVersionsRequest(), 0)
                            .errorCode())
                    .isZero();
        }
        broker.await(() -> broker.network().openConnections() == 0);
    }

    /** A crafted record ended the process, because native code was given less than it expected. */
    @Test
    void cve_2025_24970_craftedRecordsEndTheProcess() throws Exception {
        Random random = new Random(24_970);
        byte[] noise = new byte[MAX_RECORD_SIZE_BYTES];
        random.nextBytes(noise);
        List<byte[]> crafted = List.of(
                record(APPLICATION_DATA, 0),
                record(APPLICATION_DATA, 1, 0),
                record(APPLICATION_DATA, 0xFFFF, 1, 2, 3),
                record(HANDSHAKE, 4, 1, 0xFF, 0xFF, 0xFF),
                record(HANDSHAKE, 0),
                record(20, 1, 1),
                record(21, 2, 2, 0),
                record(21, 1, 2),
                record(24, 3, 1, 0x40, 0),
                record(255, 16, 0),
                new byte[] {0x16},
                new byte[] {(byte) 0x80, 0x2e, 1, 3, 3});
        for (byte[] record : crafted) {
            try (Socket before = plain();
                    Socket after = plain();
                    SSLSocket session = encrypted(after)) {
                attack(before, record, noise);
                assertThat(session.getSession().isValid()).isTrue();
                attack(after, record, noise);
                assertThat(isClosedByTheBroker(before)).isTrue();
                assertThat(isClosedByTheBroker(after)).isTrue();
            }
        }
        assertServesOthers();
    }

    /** Connections that were reset stayed open, or kept an event loop busy. */
    @Test
    void cve_2026_42577_resetConnectionsStay() throws Exception {
        for (int i = 0; i < 60; i++) {
            try (Socket socket = plain()) {
                socket.setSoLinger(true, 0);
                switch (i % 4) {
                    case 0 -> attack(socket, record(HANDSHAKE, 500, 1));
                    case 1 -> encrypted(socket);
                    case 2 -> attack(socket, record(HANDSHAKE, 4, 1, 0, 0, 0), new byte[100]);
                    default -> socket.shutdownOutput();
                }
            }
        }
        assertServesOthers();
    }

    /** The first message of a handshake could claim megabytes, and arrive in any pieces. */
    @Test
    void cve_2026_45416_and_75595_and_75596_helloTakesMemory() throws Exception {
        long before = PooledByteBufAllocator.DEFAULT.metric().usedDirectMemory();
        List<Socket> sockets = new ArrayList<>();
        try {
            for (int i = 0; i < 50; i++) {
                Socket socket = plain();
                sockets.add(socket);
                // A ClientHello of 16 MiB, in the largest records.
                byte[] first = record(HANDSHAKE, MAX_RECORD_SIZE_BYTES, 1, 0xFF, 0xFF, 0xFF);
                byte[] next = record(HANDSHAKE, MAX_RECORD_SIZE_BYTES);
                attack(socket, first, new byte[MAX_RECORD_SIZE_BYTES - 4]);
                for (int records = 0; records < 16; records++) {
                    attack(socket, next, new byte[MAX_RECORD_SIZE_BYTES]);
                }
            }
            for (Socket socket : sockets) {
                assertThat(isClosedByTheBroker(socket)).isTrue();
            }
            broker.await(() -> PooledByteBufAllocator.DEFAULT.metric().usedDirectMemory() - before < 8 << 20);
            // and a hello in records of one byte each, which TLS allows to be refused, but not to harm
            try (Socket socket = plain()) {
                for (int i = 0; i < 300; i++) {
                    attack(socket, record(HANDSHAKE, 1, i == 0 ? 1 : 0));
                }
            }
        } finally {
            for (Socket socket : sockets) {
                socket.close();
            }
        }
        assertServesOthers();
    }

    /** A client accepted the certificate of another host. */
    @Test
    void cve_2026_50010_certificateOfAnotherHostIsAccepted() throws Exception {
        HeldBy.test("journalq-broker-tests", "ClientTlsTest", "shouldVerifyTheHostNameUnlessItIsSwitchedOff");
    }

    /** lz4: frames without content took time without end. */
    @Test
    void cve_2026_106450_emptyLz4FramesTakeTime() {
        ByteBuf frame = UnpooledByteBufAllocator.DEFAULT.heapBuffer();
        CompressionCodec.LZ4.compress(Unpooled.EMPTY_BUFFER, frame);
        ByteBuf frames = UnpooledByteBufAllocator.DEFAULT.heapBuffer();
        for (int i = 0; i < 100_000; i++) {
            frames.writeBytes(frame, frame.readerIndex(), frame.readableBytes());
        }
        try {
            ByteBuf out = CompressionCodec.LZ4.decompress(frames, 1 << 20, UnpooledByteBufAllocator.DEFAULT);
            assertThat(out.readableBytes()).isZero();
            out.release();
        } catch (InvalidBatchException refused) {
            assertThat(refused).hasMessageNotContaining("0 bytes of 0");
        } finally {
            frame.release();
            frames.release();
        }
        byte[] blocks = {0x04, 0x22, 0x4D, 0x18, 0x60, 0x40, (byte) 0x82, 0, 0, 0, (byte) 0x80, 0, 0, 0, (byte) 0x80};
        assertThatThrownBy(() -> CompressionCodec.LZ4.decompress(
                        Unpooled.wrappedBuffer(blocks), 1 << 20, UnpooledByteBufAllocator.DEFAULT))
                .as("blocks of no bytes, and no end")
                .isInstanceOf(InvalidBatchException.class);
    }

    /** ActiveMQ: a client could request new keys of TLS 1.3 without end. */
    @Test
    void activeMq_cve_2026_39304_keyUpdatesTakeTheProcessor() throws Exception {
        long before = PooledByteBufAllocator.DEFAULT.metric().usedDirectMemory();
        try (Socket under = plain();
                SSLSocket socket = encrypted(under)) {
            assertThat(socket.getSession().getProtocol()).isEqualTo("TLSv1.3");
            try {
                for (int i = 0; i < 1_000; i++) {
                    // On a connection of TLS 1.3, this sends a KeyUpdate that requests one of the broker.
                    socket.startHandshake();
                }
                try (WireClient client = new WireClient(socket)) {
                    client.call(ApiVersionsResponse.class, new ApiVersionsRequest(), 0);
                }
            } catch (IOException refused) {
                // The broker may end such a connection.
            }
            assertThat(PooledByteBufAllocator.DEFAULT.metric().usedDirectMemory() - before)
                    .isLessThan(8 << 20);
        }
        assertServesOthers();
    }
}
