package io.journalq.bench.load;

import io.journalq.bench.measure.ResourceUse;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The load of {@code journalq-bench gateway}: requests with many messages each, which were made before the measurement,
 * and one WebSocket that receives all messages and checks their numbers and checksums. One thread sends, another receives.
 */
public final class GatewayLoad {
    private final LoadTarget target;
    private final Shape shape;
    private final CheckedMessages messages;
    private final List<ByteBuffer> requests = new ArrayList<>();

    /**
     * The shape of the load.
     *
     * @param messageBytes size of a message
     * @param messages messages in a request
     * @param inFlight requests in flight, each on its connection
     */
    public record Shape(int messageBytes, int messages, int inFlight) {}

    /**
     * The result of a repetition.
     *
     * @param seconds from the first request until the last message was received; without a receiver, until the last response
     */
    public record Result(long messages, double seconds, ResourceUse use) {
        public double messagesPerSecond() {
            return messages / seconds;
        }
    }

    /** Makes the requests. */
    public GatewayLoad(LoadTarget target, Shape shape) {
        this.target = target;
        this.shape = shape;
        int count = target.requests(shape.inFlight());
        this.messages = new CheckedMessages(shape.messageBytes(), count * shape.messages());
        for (int request = 0; request < count; request++) {
            requests.add(target.request(request, messages, request * shape.messages(), shape.messages()));
        }
    }

    /**
     * Warms up, and measures.
     *
     * @param requestCount requests of the measurement, and of the warm-up
     */
    public Result run(long requestCount, long brokerPid, String metricsAddress) throws IOException {
        try (RequestSender sender = new RequestSender(target, requests, shape.inFlight());
                MessageReceiver receiver = target.receiver(messages)) {
            if (receiver != null) {
                Thread thread = new Thread(receiver, "gateway-receiver");
                thread.setDaemon(true);
                thread.start();
            }
            measure(sender, receiver, requestCount, 0, null);
            return measure(sender, receiver, requestCount, brokerPid, metricsAddress);
        }
    }

    private Result measure(
            RequestSender sender, MessageReceiver receiver, long requestCount, long brokerPid, String metricsAddress)
            throws IOException {
        long count = requestCount * shape.messages();
        ResourceUse.Meter meter = ResourceUse.start(brokerPid, metricsAddress);
        long start = System.nanoTime();
        sender.send(requestCount);
        if (receiver != null) {
            receiver.await(count, TimeUnit.SECONDS.toNanos(60));
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        ResourceUse use = meter.stop();
        int[] sent = sender.takeCounts();
        if (receiver != null) {
            messages.requireArrivals(expected(sent));
            receiver.reset();
        }
        return new Result(count, seconds, use);
    }

    private int[] expected(int[] sent) {
        int[] expected = new int[requests.size() * shape.messages()];
        for (int i = 0; i < expected.length; i++) {
            expected[i] = sent[i / shape.messages()];
        }
        return expected;
    }
}
