package io.journalq.bench.load;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.ConnectionSecurity;
import io.journalq.bench.measure.Latency;
import io.journalq.bench.measure.ResourceUse;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Searches of a whole topic over HTTP, one after the other, while single messages are appended to another topic. The
 * latency of those shows how long a search keeps the event loop of the broker. One thread.
 */
public final class SearchLoad {
    private static final int LIMIT = 10_000;
    private static final int HEAD_BYTES = 16;
    private static final String AT_END = "\"atEnd\":true";
    private static final Pattern PROGRESS = Pattern.compile("\"scanned\":(\\d+),\"matched\":(\\d+)");

    private final InetSocketAddress address;
    private final ConnectionSecurity security;
    private final String topic;
    private final GatewayLoad.Shape shape;
    private final HttpGatewayTarget target;

    /**
     * The result of a repetition.
     *
     * @param messages that were searched
     * @param seconds of all searches together
     * @param posts latency of messages that were appended meanwhile
     */
    public record Result(int searches, long messages, double seconds, Latency posts, ResourceUse use) {
        public double messagesPerSecond() {
            return messages / seconds;
        }

        private Result with(PacedLoad.Result beside) {
            return new Result(searches, messages, seconds, beside.posts(), beside.use());
        }
    }

    /**
     * The topic is filled with requests of this shape. {@code security} says how to connect to {@code address}, which is
     * that of the gateway.
     */
    public SearchLoad(
            InetSocketAddress address,
            ConnectionSecurity security,
            String topic,
            int partitions,
            GatewayLoad.Shape shape) {
        this.address = address;
        this.security = security;
        this.topic = topic;
        this.shape = shape;
        this.target = new HttpGatewayTarget(address, security, topic, partitions, HttpGatewayTarget.Format.BATCH);
    }

    /**
     * Fills the topic, and searches it as long as {@code posts} takes.
     *
     * @param requestCount requests with which the topic is filled
     */
    public Result run(long requestCount, PacedLoad posts, long brokerPid, String metricsAddress) throws IOException {
        int bodies = target.requests(shape.inFlight());
        CheckedMessages messages = new CheckedMessages(shape.messageBytes(), bodies * shape.messages());
        List<ByteBuffer> requests = new ArrayList<>();
        for (int i = 0; i < bodies; i++) {
            requests.add(target.request(i, messages, i * shape.messages(), shape.messages()));
        }
        int[] sent;
        try (RequestSender sender = new RequestSender(target, requests, shape.inFlight())) {
            sender.send(requestCount);
            sent = sender.takeCounts();
        }
        // Number and checksum of the first message, which no other message contains.
        String text = new String(messages.message(0), 0, HEAD_BYTES, StandardCharsets.US_ASCII);
        Searches searches = new Searches(text, requestCount * shape.messages(), sent[0]);
        FutureTask<Result> result = new FutureTask<>(searches);
        Thread thread = new Thread(result, "searches");
        thread.setDaemon(true);
        thread.start();
        PacedLoad.Result beside = posts.run(0, brokerPid, metricsAddress);
        searches.last = true;
        try {
            return result.get().with(beside);
        } catch (ExecutionException failed) {
            throw new BenchException("a search failed: " + failed.getCause(), "see the broker's log", failed);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchException("interrupted", "run the benchmark again", e);
        }
    }

    /** Searches the topic again and again. Runs in its own thread. */
    private final class Searches implements Callable<Result> {
        private final byte[] request;
        private final long messages;
        private final long matches;
        private volatile boolean last;

        /** {@code matches} of {@code messages} contain the text. */
        Searches(String text, long messages, long matches) {
            this.request = ("GET /v1/topics/" + topic + "/search?text=" + text + "&limit=" + LIMIT
                            + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII);
            this.messages = messages;
            this.matches = matches;
        }

        @Override
        public Result call() throws IOException {
            int count = 0;
            long startNs = System.nanoTime();
            do {
                search();
                count++;
            } while (!last);
            return new Result(count, count * messages, (System.nanoTime() - startNs) / 1e9, null, null);
        }

        private void search() throws IOException {
            String response;
            try (Socket socket = MessageReceiver.connect(address, security)) {
                socket.getOutputStream().write(request);
                response = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            }
            requireComplete(response, messages, matches);
        }
    }

    /** Checks that a response says that all messages were searched, and how many were found. */
    static void requireComplete(String response, long messages, long matches) throws IOException {
        long scanned = -1;
        long matched = -1;
        for (Matcher progress = PROGRESS.matcher(response); progress.find(); ) {
            scanned = Long.parseLong(progress.group(1));
            matched = Long.parseLong(progress.group(2));
        }
        if (scanned != messages || matched != matches || !response.contains(AT_END)) {
            throw new IOException(scanned + " of " + messages + " messages were searched, and " + matched + " of "
                    + matches + " were found");
        }
    }
}
