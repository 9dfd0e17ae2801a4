package io.journalq.chaos.hostile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.frame.Frames;
import io.journalq.common.protocol.message.ProduceResponse;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LatencyProbeTest {
    private static final short PRODUCE_VERSION = 9;
    private static final int PER_SECOND = 100;
    private static final double SECONDS = 0.1;

    private final ServerSocket server;

    LatencyProbeTest() throws IOException {
        server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    }

    @AfterEach
    void close() throws IOException {
        server.close();
    }

    /** Sends {@code response} to each request of one connection. */
    private void respond(byte[] response) {
        Thread thread = new Thread(() -> {
            try (Socket socket = server.accept()) {
                DataInputStream in = new DataInputStream(socket.getInputStream());
                while (true) {
                    in.readFully(new byte[in.readInt()]);
                    socket.getOutputStream().write(response);
                }
            } catch (EOFException end) {
                // The client has closed the connection.
            } catch (IOException failure) {
                throw new AssertionError("the fake broker failed", failure);
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private static byte[] response(ErrorCode error) {
        ProduceResponse response = new ProduceResponse()
                .setResponses(List.of(new ProduceResponse.TopicProduceResponse()
                        .setName(Requests.HEALTHY_TOPIC)
                        .setPartitionResponses(
                                List.of(new ProduceResponse.PartitionProduceResponse().setErrorCode(error.code())))));
        ByteBuf frame =
                Unpooled.wrappedBuffer(Frames.response(UnpooledByteBufAllocator.DEFAULT, 1, response, PRODUCE_VERSION)
                        .toArray(new ByteBuf[0]));
        byte[] bytes = ByteBufUtil.getBytes(frame);
        frame.release();
        return bytes;
    }

    @Test
    void shouldMeasureWhenMessagesAreAcknowledged() throws IOException {
        respond(response(ErrorCode.NONE));

        try (LatencyProbe probe = new LatencyProbe(server.getLocalPort(), false)) {
            assertThat(probe.run(SECONDS, PER_SECOND).sortedMicros()).hasSize((int) (SECONDS * PER_SECOND));
        }
    }

    @Test
    void shouldFailWhenAMessageIsRefused() throws IOException {
        respond(response(ErrorCode.KAFKA_STORAGE_ERROR));

        try (LatencyProbe probe = new LatencyProbe(server.getLocalPort(), false)) {
            assertThatThrownBy(() -> probe.run(SECONDS, PER_SECOND))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("KAFKA_STORAGE_ERROR");
        }
    }
}
