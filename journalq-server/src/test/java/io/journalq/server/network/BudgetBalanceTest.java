package io.journalq.server.network;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.network.TestServer.Client;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections release all memory that they took from the budgets, regardless of how and when they end. */
class BudgetBalanceTest {
    private static final int LOOPS = 2;
    private static final int CLIENTS_AT_A_TIME = 8;
    private static final int CONNECTIONS_OF_A_CLIENT = 40;
    private static final int MAX_FRAME_BYTES = 2 << 20;
    private static final int RESPONSE_BYTES = 100_000;
    private static final int SETTLE_SECONDS = 30;

    /** So little memory for each loop that frames wait for it in every possible state. */
    private static final ConnectionLimits TIGHT = new ConnectionLimits(
            MAX_FRAME_BYTES, 10, 1 << 20, 256 << 10, new ConnectionLimits.Admission(1_000, 1_000, 100_000, 60_000));

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldGiveEverythingBackWhenClientsLeaveAtAnyMoment(long seed) throws Exception {
        try (TestServer server = new TestServer(TIGHT, true, RESPONSE_BYTES, LOOPS)) {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < CLIENTS_AT_A_TIME; i++) {
                Random random = new Random(seed * CLIENTS_AT_A_TIME + i);
                Thread thread = new Thread(() -> connectAndLeave(server.port, random), "client-" + i);
                threads.add(thread);
                thread.start();
            }
            for (Thread thread : threads) {
                thread.join();
            }

            assertThat(server.opened).as("requests that arrived whole").isNotEmpty();
            assertThat(server.counters.suspensions()).as("waits for memory").isPositive();
            awaitNothingHeld(server);

            // then a new client is served
            try (Client client = new Client(server.port)) {
                client.send(7, MAX_FRAME_BYTES - 2 * Integer.BYTES);
                assertThat(client.receive()).isEqualTo(7);
            }
            awaitNothingHeld(server);
        }
    }

    private static void connectAndLeave(int port, Random random) {
        for (int i = 0; i < CONNECTIONS_OF_A_CLIENT; i++) {
            try (Client client = new Client(port)) {
                client.socket.setSoTimeout(1 + random.nextInt(200));
                if (random.nextBoolean()) {
                    client.socket.setSoLinger(true, 0); // leaves with a reset
                }
                for (int request = random.nextInt(6); request > 0; request--) {
                    client.send(request, size(random));
                    if (random.nextInt(3) == 0) {
                        client.receive();
                    }
                }
                sendBeginning(client, random);
            } catch (IOException tooLate) {
                // It did not wait for its response.
            }
        }
    }

    /** Sends between a part of the length field and nearly the whole frame. */
    private static void sendBeginning(Client client, Random random) throws IOException {
        int sizeBytes = Integer.BYTES + size(random);
        byte[] frame = new byte[Integer.BYTES + sizeBytes];
        java.nio.ByteBuffer.wrap(frame).putInt(sizeBytes);
        client.out.write(frame, 0, random.nextInt(random.nextBoolean() ? 2 * Integer.BYTES : frame.length));
    }

    /** Size of a request without its number: small, of many reads, or above the limit of large requests. */
    private static int size(Random random) {
        return switch (random.nextInt(4)) {
            case 0 -> random.nextInt(100);
            case 1 -> random.nextInt(50_000);
            case 2 -> random.nextInt(600_000);
            default -> 1_100_000 + random.nextInt(900_000);
        };
    }

    private static void awaitNothingHeld(TestServer server) throws Exception {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(SETTLE_SECONDS);
        String held = held(server);
        while (!held.isEmpty()) {
            assertThat(System.nanoTime()).as("still held: %s", held).isLessThan(deadlineNanos);
            Thread.sleep(20);
            held = held(server);
        }
    }

    /** Describes the memory that is not released; empty for none. */
    private static String held(TestServer server) throws Exception {
        StringBuilder held = new StringBuilder();
        for (LoopContext context : server.acceptor.contexts()) {
            CompletableFuture<String> ofLoop = new CompletableFuture<>();
            context.cycle().execute(() -> ofLoop.complete(heldOnLoop(context)));
            held.append(ofLoop.get(SETTLE_SECONDS, TimeUnit.SECONDS));
        }
        SharedMemory memory = server.memory;
        if (memory.largeRequestBytes() != 0 || memory.responseBytes() != 0 || memory.hasWaiting()) {
            held.append(" largeRequests=").append(memory.largeRequestBytes());
            held.append(" responses=").append(memory.responseBytes());
            held.append(" waiting=").append(memory.hasWaiting());
        }
        return held.toString();
    }

    private static String heldOnLoop(LoopContext context) {
        InFlightBudget requests = context.budget();
        InFlightBudget gathering = context.gathering();
        boolean nothing = requests.usedBytes() == 0
                && gathering.usedBytes() == 0
                && !requests.hasWaiting()
                && !gathering.hasWaiting();
        return nothing
                ? ""
                : " loop=" + context.cycle().index() + " requests=" + requests.usedBytes() + " gathering="
                        + gathering.usedBytes() + " waiting=" + requests.hasWaiting() + "/" + gathering.hasWaiting();
    }
}
