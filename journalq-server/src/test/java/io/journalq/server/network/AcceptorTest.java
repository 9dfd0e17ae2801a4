package io.journalq.server.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.server.network.TestServer.Client;
import io.journalq.server.network.TestServer.EchoExchange;
import io.netty.channel.Channel;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

class AcceptorTest {
    private static final long WAIT_MS = 30_000;
    private static final long QUIET_MS = 200;

    @Test
    void shouldRespondInRequestOrderWhenHandlersFinishInAnyOrder() throws Exception {
        try (TestServer server = new TestServer(TestServer.ROOMY, false, 0);
                Client client = new Client(server.port)) {
            // given a hundred pipelined requests, every seventh without a response
            for (int i = 0; i < 100; i++) {
                client.send(i, 10);
            }
            until(() -> server.opened.size() == 100);
            // when the responses become ready in random order, from another thread
            List<EchoExchange> shuffled = new ArrayList<>(server.opened);
            Collections.shuffle(shuffled, new Random(1));
            for (EchoExchange exchange : shuffled) {
                if (exchange.number % 7 == 0) {
                    exchange.respondWithNothing();
                } else {
                    exchange.response();
                }
            }
            // then they arrive in order
            for (int i = 0; i < 100; i++) {
                if (i % 7 != 0) {
                    assertThat(client.receive()).isEqualTo(i);
                }
            }
        }
    }

    @Test
    void shouldFindFramesHoweverTheyAreCut() throws Exception {
        try (TestServer server = new TestServer(TestServer.ROOMY, true, 0);
                Client client = new Client(server.port)) {
            // given frames of all sizes, one of them larger than any read
            java.io.ByteArrayOutputStream bytes = new java.io.ByteArrayOutputStream();
            java.io.DataOutputStream out = new java.io.DataOutputStream(bytes);
            int[] sizes = {0, 1, 100, 900_000, 5, 70_000, 0, 3};
            for (int i = 0; i < sizes.length; i++) {
                out.writeInt(Integer.BYTES + sizes[i]);
                out.writeInt(i);
                out.write(new byte[sizes[i]]);
            }
            // when they arrive in pieces that ignore the boundaries of frames
            byte[] all = bytes.toByteArray();
            Random random = new Random(2);
            client.socket.setTcpNoDelay(true);
            for (int at = 0; at < all.length; ) {
                int piece = Math.min(all.length - at, random.nextBoolean() ? 1 + random.nextInt(7) : 50_000);
                client.out.write(all, at, piece);
                at += piece;
                if (random.nextInt(3) == 0) {
                    Thread.sleep(1);
                }
            }
            // then each gets its response
            for (int i = 0; i < sizes.length; i++) {
                assertThat(client.receive()).isEqualTo(i);
            }
        }
    }

    @Test
    void shouldReadFewTimesWhatComesAByteAtATime() throws Exception {
        try (TestServer server = new TestServer(TestServer.ROOMY, true, 0);
                Client client = new Client(server.port)) {
            // given a client that sends each byte separately
            client.socket.setTcpNoDelay(true);
            byte[] frame = ByteBuffer.allocate(2_004).putInt(2_000).putInt(1).array();
            for (byte next : frame) {
                client.out.write(next);
                Thread.sleep(0, 50_000);
            }
            // then it gets a response, and only two reads were needed: for the length, and for the rest
            assertThat(client.receive()).isEqualTo(1);
            assertThat(server.counters.slowParts()).isBetween(1L, 10L);
            // and the next request is read as before
            client.send(2, 0);
            assertThat(client.receive()).isEqualTo(2);
        }
    }

    @Test
    void shouldHearOfTheEndOfAConnectionWhoseRequestItAwaits() throws Exception {
        try (TestServer server = new TestServer(TestServer.ROOMY, true, 0)) {
            try (Client client = new Client(server.port)) {
                client.out.write(ByteBuffer.allocate(50).putInt(2_000).array());
                until(() -> server.counters.slowParts() > 0);
            }
            until(() -> server.counters.openConnections() == 0);
        }
    }

    @Test
    void shouldCloseTheConnectionWhenALengthIsNegativeOrTooLarge() throws Exception {
        try (TestServer server = new TestServer(TestServer.ROOMY, true, 0)) {
            for (int length : new int[] {-1, Integer.MIN_VALUE, (1 << 20) + 1, Integer.MAX_VALUE}) {
                try (Client client = new Client(server.port)) {
                    // given a valid request before the invalid one
                    client.send(1, 0);
                    assertThat(client.receive()).isEqualTo(1);
                    // when a length is not acceptable
                    client.out.writeInt(length);
                    // then the connection is closed
                    assertThat(client.in.read()).isEqualTo(-1);
                }
            }
            assertThat(server.counters.refusedConnections()).isEqualTo(4);
        }
    }

    @Test
    void shouldLeaveTheSocketUnreadWhileTooManyBytesAwaitAResponse() throws Exception {
        // given a limit of 10 requests in flight
        ConnectionLimits limits = new ConnectionLimits(1 << 20, 10, 1 << 20, 1 << 24, TestServer.ROOMY.admission());
        try (TestServer server = new TestServer(limits, false, 0);
                Client client = new Client(server.port)) {
            // when a client sends 100 and none gets a response
            for (int i = 0; i < 100; i++) {
                client.send(i, 100);
            }
            until(() -> server.opened.size() == 10);
            // then no more than 10 are opened, and the others after responses, in order
            assertThat(untilNothingIsOpened(server)).isEqualTo(10);
            for (int i = 0; i < 100; i++) {
                until(() -> !server.opened.isEmpty());
                server.opened.poll().response();
                assertThat(client.receive()).isEqualTo(i);
                assertThat(server.opened.size()).isLessThanOrEqualTo(10);
            }
        }
    }

    @Test
    void shouldShareTheLoopsBudgetAmongConnections() throws Exception {
        // given a loop budget for about two requests of 100 KiB
        ConnectionLimits limits = new ConnectionLimits(1 << 20, 100, 1 << 24, 150_000, TestServer.ROOMY.admission());
        try (TestServer server = new TestServer(limits, false, 0);
                Client first = new Client(server.port);
                Client second = new Client(server.port)) {
            first.send(1, 100_000);
            first.send(2, 100_000);
            until(() -> server.opened.size() == 2 && server.counters.suspensions() == 1);
            // when another connection sends requests too
            second.send(3, 100_000);
            second.send(4, 100_000);
            until(() -> server.counters.suspensions() == 2);
            // then its second request is not read before the first connection gets its responses
            assertThat(untilNothingIsOpened(server)).isEqualTo(3);
            server.opened.poll().response();
            server.opened.poll().response();
            assertThat(first.receive()).isEqualTo(1);
            assertThat(first.receive()).isEqualTo(2);
            until(() -> !server.opened.isEmpty());
            server.opened.poll().response();
            assertThat(second.receive()).isEqualTo(3);
            until(() -> !server.opened.isEmpty());
            server.opened.poll().response();
            assertThat(second.receive()).isEqualTo(4);
        }
    }

    @Test
    void shouldCountTheTimeOfPausesThatOverlapOnce() throws Exception {
        try (TestServer server = new TestServer(TestServer.ROOMY, false, 0);
                Client client = new Client(server.port)) {
            // given
            client.send(1, 0);
            until(() -> server.opened.size() == 1);
            EchoExchange exchange = server.opened.remove();
            Connection connection = exchange.connection();

            // when pauses of several quotas begin at the same time
            connection
                    .cycle()
                    .ask(() -> {
                        connection.pause(20_000);
                        connection.pause(30_000);
                        connection.pause(10_000);
                        return null;
                    })
                    .get(30, TimeUnit.SECONDS);

            // then
            assertThat(server.counters.pausedMs()).isBetween(29_999L, 31_000L);
            exchange.response();
        }
    }

    @Test
    void shouldStopReadingFromAClientThatDoesNotRead() throws Exception {
        // given responses of 64 KiB
        try (TestServer server = new TestServer(TestServer.ROOMY, true, 64 * 1024);
                Client client = new Client(server.port)) {
            // when a client sends many requests and reads nothing
            int count = 2_000;
            Thread sender = new Thread(() -> {
                try {
                    for (int i = 0; i < count; i++) {
                        client.send(i, 16);
                    }
                } catch (IOException closed) {
                    throw new java.io.UncheckedIOException(closed);
                }
            });
            sender.start();
            until(() -> server.counters.suspensions() > 0);
            // then only a part of them is opened, until it reads
            assertThat(untilNothingIsOpened(server)).isBetween(1, count / 2);
            for (int i = 0; i < count; i++) {
                assertThat(client.receive()).isEqualTo(i);
            }
            sender.join();
        }
    }

    @Test
    void shouldReadALargeRequestOnlyWhenThereIsMemoryForAllOfIt() throws Exception {
        // given memory for two of three large requests
        int paddingBytes = 1_900_000;
        ConnectionLimits limits = new ConnectionLimits(4 << 20, 1_000, 4 << 20, 1 << 24, TestServer.ROOMY.admission());
        try (TestServer server = new TestServer(limits, false, 0);
                Client first = new Client(server.port);
                Client second = new Client(server.port);
                Client third = new Client(server.port)) {
            List<Thread> senders = new ArrayList<>();
            for (Client client : List.of(first, second, third)) {
                int number = senders.size();
                Thread sender = new Thread(() -> {
                    try {
                        client.send(number, paddingBytes);
                    } catch (IOException closed) {
                        throw new java.io.UncheckedIOException(closed);
                    }
                });
                senders.add(sender);
                sender.start();
            }
            // when two have arrived
            until(() -> server.opened.size() == 2);
            Thread.sleep(100);
            // then the third waits until one of them has its response
            assertThat(server.opened).hasSize(2);
            server.opened.poll().response();
            until(() -> server.opened.size() == 2);
            server.opened.poll().response();
            server.opened.poll().response();
            assertThat(first.receive() + second.receive() + third.receive()).isEqualTo(3);
            until(() -> server.memory.largeRequestBytes() == 0);
            for (Thread sender : senders) {
                sender.join();
            }
        }
    }

    @Test
    void shouldServeOthersWhenAClientLeavesItsResponsesUnread() throws Exception {
        // given a client that leaves more responses unread than there is memory for
        try (TestServer server = new TestServer(TestServer.ROOMY, true, 2_000_000);
                Client greedy = new Client(server.port)) {
            for (int i = 0; i < 20; i++) {
                greedy.send(i, 0);
            }
            until(() -> server.memory.responseBytes() > 0);
            // when another client sends a request
            try (Client other = new Client(server.port)) {
                other.send(7, 0);
                // then it gets its response, at the latest after the first client is disconnected
                assertThat(other.receive()).isEqualTo(7);
            }
            until(() -> server.counters.stalledConnections() == 1);
            until(() -> server.memory.responseBytes() == 0);
        }
    }

    @Test
    void shouldReleaseEverythingWhenAClientLeavesInMidFrameAndWithRequestsOpen() throws Exception {
        try (TestServer server = new TestServer(TestServer.ROOMY, false, 0)) {
            // given a client with two open requests and half a frame
            try (Client client = new Client(server.port)) {
                client.send(1, 0);
                client.send(2, 0);
                client.out.writeInt(1_000);
                client.out.write(new byte[500]);
                until(() -> server.opened.size() == 2);
            }
            until(() -> server.counters.openConnections() == 0);
            // when the responses are ready too late, in any order: nothing leaks (paranoid detection) and nothing fails
            List<EchoExchange> open = new ArrayList<>(server.opened);
            open.get(1).response();
            open.get(0).response();
            // then another client is served
            try (Client client = new Client(server.port)) {
                client.send(3, 0);
                until(() -> server.opened.size() == 3);
                new ArrayList<>(server.opened).get(2).response();
                assertThat(client.receive()).isEqualTo(3);
            }
        }
    }

    @Test
    void shouldGiveBackTheMemoryOfARequestThatFailsWithAnError() throws Exception {
        ConnectionLimits limits = new ConnectionLimits(4 << 20, 1_000, 4 << 20, 1 << 24, TestServer.ROOMY.admission());
        try (TestServer server = new TestServer(limits, false, 0)) {
            // given a handler that needs a class that is missing
            server.failure = new NoClassDefFoundError("io/journalq/Missing");

            // when
            try (Client client = new Client(server.port)) {
                client.send(1, 1_900_000);
                assertThat(client.in.read()).as("end of the connection").isEqualTo(-1);
            }
            until(() -> server.counters.openConnections() == 0);

            // then
            until(() -> server.opened.peek().isDone());
            until(() -> server.memory.largeRequestBytes() == 0);
        }
    }

    @Test
    void shouldRespondToOpenRequestsWhenItStops() throws Exception {
        try (TestServer server = new TestServer(TestServer.ROOMY, false, 0);
                Client client = new Client(server.port)) {
            client.send(1, 0);
            until(() -> server.opened.size() == 1);
            Thread stopping = new Thread(() -> server.drain(5_000));
            stopping.start();
            Thread.sleep(50);
            server.opened.poll().response();
            assertThat(client.receive()).isEqualTo(1);
            assertThat(client.in.read()).isEqualTo(-1);
            stopping.join(WAIT_MS);
            assertThat(stopping.isAlive()).isFalse();
        }
    }

    @Test
    void shouldStopAtOnceWhenAConnectionIsOpenedMeanwhile() throws Exception {
        CountDownLatch opening = new CountDownLatch(1);
        CountDownLatch mayOpen = new CountDownLatch(1);
        // One loop for each listener, and one for the connection.
        try (TestServer server = new TestServer(TestServer.ROOMY, true, 0, 3)) {
            // given a connection that was accepted, and is opened only after the others were told to end
            int port = server.acceptor.bind(
                    (channel, loop, listenerName) -> {
                        opening.countDown();
                        awaitQuietly(mayOpen);
                        return server.door.open(channel, loop, listenerName);
                    },
                    "SLOW",
                    "127.0.0.1",
                    0);
            server.acceptor.accept();
            try (Client client = new Client(port)) {
                awaitQuietly(opening);

                // when
                Thread stopping = new Thread(() -> server.drain(WAIT_MS));
                stopping.start();
                Thread.sleep(QUIET_MS);
                mayOpen.countDown();

                // then
                stopping.join(WAIT_MS / 3);
                assertThat(stopping.isAlive()).isFalse();
                assertThat(client.in.read()).isEqualTo(-1);
            }
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            assertThat(latch.await(WAIT_MS, TimeUnit.MILLISECONDS)).isTrue();
        } catch (InterruptedException interrupted) {
            throw new AssertionError(interrupted);
        }
    }

    @Test
    void shouldSayWhichAddressIsTakenAndWhatToDo() throws Exception {
        try (TestServer server = new TestServer(TestServer.ROOMY, true, 0);
                TestServer other = new TestServer(TestServer.ROOMY, true, 0)) {
            assertThatThrownBy(() -> other.bind("127.0.0.1", server.port))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("cannot listen on 127.0.0.1:" + server.port)
                    .hasMessageContaining("'listeners'");
        }
    }

    /** Waits until no request was opened for a while. Returns the number of open requests. */
    private static int untilNothingIsOpened(TestServer server) throws InterruptedException {
        int before;
        int now = server.opened.size();
        do {
            before = now;
            Thread.sleep(QUIET_MS);
            now = server.opened.size();
        } while (now != before);
        return now;
    }

    /** A door whose preparation ends when the test says so. */
    private static final class SlowDoor implements Door {
        private final Door door;
        private final AtomicInteger opened = new AtomicInteger();
        private volatile Runnable onReady;
        private volatile Runnable onFailure;

        SlowDoor(Door door) {
            this.door = door;
        }

        @Override
        public void prepare(Runnable whenReady, Runnable whenFailed) {
            onFailure = whenFailed;
            onReady = whenReady;
        }

        @Override
        public AcceptedConnection open(Channel channel, LoopContext loop, String listenerName) {
            opened.incrementAndGet();
            return door.open(channel, loop, listenerName);
        }
    }

    @Test
    void shouldAcceptConnectionsWhenTheirDoorIsPrepared() throws Exception {
        try (TestServer server = new TestServer(TestServer.ROOMY, true, 0)) {
            SlowDoor door = new SlowDoor(server.door);
            int port = server.acceptor.bind(door, "SLOW", "127.0.0.1", 0);
            server.acceptor.accept();
            try (Client early = new Client(port);
                    Client other = new Client(server.port)) {
                // given a client that is earlier than its door, and whose loop has done something else since then
                early.send(7, 10);
                other.send(1, 10);
                assertThat(other.receive()).isEqualTo(1);
                until(() -> door.onReady != null);
                assertThat(door.opened).hasValue(0);
                // when
                door.onReady.run();
                // then
                assertThat(early.receive()).isEqualTo(7);
                assertThat(door.opened).hasValue(1);
            }
        }
    }

    @Test
    void shouldPrepareTheDoorAgainWhenThatHasFailed() throws Exception {
        try (TestServer server = new TestServer(TestServer.ROOMY, true, 0)) {
            SlowDoor door = new SlowDoor(server.door);
            int port = server.acceptor.bind(door, "SLOW", "127.0.0.1", 0);
            server.acceptor.accept();
            // given a door that cannot be prepared when the first client comes
            try (Client first = new Client(port)) {
                until(() -> door.onReady != null);
                door.onReady = null;
                door.onFailure.run();
                assertThatThrownBy(first::receive).isInstanceOf(IOException.class);
            }
            // when another one comes
            try (Client second = new Client(port)) {
                second.send(7, 10);
                until(() -> door.onReady != null);
                door.onReady.run();
                // then
                assertThat(second.receive()).isEqualTo(7);
                assertThat(door.opened).hasValue(1);
            }
        }
    }

    @Test
    void shouldNotAcceptOnAListenerThatWasClosedBeforeItsDoorWasPrepared() throws Exception {
        try (TestServer server = new TestServer(TestServer.ROOMY, true, 0)) {
            SlowDoor door = new SlowDoor(server.door);
            int port = server.acceptor.bind(door, "SLOW", "127.0.0.1", 0);
            server.acceptor.accept();
            assertThat(door.onReady).isNull();
            try (Client early = new Client(port)) {
                until(() -> door.onReady != null);
                server.drain(0);
                // when
                door.onReady.run();
                // then
                assertThatThrownBy(early::receive).isInstanceOf(IOException.class);
                assertThat(door.opened).hasValue(0);
            }
        }
    }

    private static void until(BooleanSupplier condition) throws InterruptedException {
        long deadlineNanos = System.nanoTime() + WAIT_MS * 1_000_000;
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("condition within the limit").isLessThan(deadlineNanos);
            Thread.sleep(1);
        }
    }
}
