package io.journalq.bench.load;

import io.journalq.bench.driver.ConnectionSecurity;
import io.journalq.bench.measure.Latency;
import io.journalq.bench.measure.ResourceUse;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Single messages that are appended over HTTP at a fixed rate, and perhaps readers of server-sent events that all of them
 * reach. One thread.
 */
public final class PacedLoad {
    private static final long RECEIVE_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);

    private final InetSocketAddress address;
    private final ConnectionSecurity security;
    private final String topic;
    private final Rate rate;
    private final HttpGatewayTarget target;
    private final CheckedMessages messages;
    private final List<ByteBuffer> requests = new ArrayList<>();

    /**
     * What is appended.
     *
     * @param messageBytes size of a message
     * @param connections on which requests are sent
     */
    public record Rate(int messageBytes, long messagesPerSecond, int connections, Duration duration) {
        int messages() {
            return Math.toIntExact(Math.max(1, messagesPerSecond * duration.toMillis() / TimeUnit.SECONDS.toMillis(1)));
        }
    }

    /**
     * The result of a repetition. Latencies count from when a message was due.
     *
     * @param posts until the response
     * @param events until a reader has received the message; null if there are no readers
     * @param received messages that all readers together have received
     */
    public record Result(Latency posts, Latency events, long received, ResourceUse use) {}

    /** Makes the requests. {@code security} says how to connect to {@code address}, which is that of the gateway. */
    public PacedLoad(InetSocketAddress address, ConnectionSecurity security, String topic, int partitions, Rate rate) {
        this.address = address;
        this.security = security;
        this.topic = topic;
        this.rate = rate;
        this.target = new HttpGatewayTarget(address, security, topic, partitions, HttpGatewayTarget.Format.SINGLE);
        this.messages = new CheckedMessages(rate.messageBytes(), rate.messages());
        for (int number = 0; number < rate.messages(); number++) {
            requests.add(target.request(number, messages, number, 1));
        }
    }

    /**
     * Warms up, and measures for the same time.
     *
     * @param readers of server-sent events
     */
    public Result run(int readers, long brokerPid, String metricsAddress) throws IOException {
        try (RequestSender sender = new RequestSender(target, requests, rate.connections());
                EventReaders events =
                        readers == 0 ? null : new EventReaders(address, security, topic, readers, messages)) {
            if (events != null) {
                Thread thread = new Thread(events, "event-readers");
                thread.setDaemon(true);
                thread.start();
            }
            measure(sender, events, 0, null);
            return measure(sender, events, brokerPid, metricsAddress);
        }
    }

    private Result measure(RequestSender sender, EventReaders events, long brokerPid, String metricsAddress)
            throws IOException {
        int count = requests.size();
        Histogram latencies = new Histogram(Latency.HIGHEST_NS, Latency.DIGITS);
        ResourceUse.Meter meter = ResourceUse.start(brokerPid, metricsAddress);
        Timetable times = new Timetable(rate.messagesPerSecond());
        if (events != null) {
            events.begin(times);
        }
        sender.send(count, times, latencies);
        if (events != null) {
            events.await(count, RECEIVE_TIMEOUT_NS);
        }
        ResourceUse use = meter.stop();
        return new Result(
                Latency.of(Latency.FROM_SCHEDULE, latencies),
                events == null ? null : Latency.of(Latency.FROM_SCHEDULE, events.latencies()),
                events == null ? 0 : (long) count * events.count(),
                use);
    }
}
