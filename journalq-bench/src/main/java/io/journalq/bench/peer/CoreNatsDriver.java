package io.journalq.bench.peer;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.ClientDriver.Publisher;
import io.nats.client.Connection;
import io.nats.client.Message;
import io.nats.client.Subscription;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.TimeoutException;

/** NATS without storage: a message reaches only the subscribers of the moment. */
final class CoreNatsDriver extends NatsDriver {
    private static final Duration FLUSH_TIMEOUT = Duration.ofSeconds(30);
    /** Maximum of messages per poll, so that a subscriber notices that it is to stop. */
    private static final int MAX_POLL_MESSAGES = 1_000;

    CoreNatsDriver(PubSubSettings settings) {
        super(new NatsServer(settings, false));
    }

    @Override
    public String name() {
        return "nats";
    }

    @Override
    public Set<Delivery> deliveries() {
        return EnumSet.of(Delivery.AT_MOST_ONCE);
    }

    /** NATS does not need to create subjects. */
    @Override
    public void createTopic(String topic, int partitions) {}

    @Override
    public void deleteTopic(String topic) {}

    @Override
    public Publisher openPublisher(String topic, int number) {
        Connection connection = server.connect(server.publishTarget(number));
        return new Publisher() {
            @Override
            public void publish(byte[] value, Confirmation confirmation) {
                connection.publish(topic, value);
                confirmation.onConfirmed(null);
            }

            @Override
            public void flush() throws TimeoutException, InterruptedException {
                connection.flush(FLUSH_TIMEOUT);
            }

            @Override
            public void close() {
                closed(connection);
            }
        };
    }

    @Override
    public Subscriber openSubscriber(String topic, int number) {
        Connection connection = server.connect(server.subscribeTarget());
        Subscription subscription = connection.subscribe(topic);
        subscription.setPendingLimits(-1, -1);
        try {
            // When the server has responded to this, it knows the subscription.
            connection.flush(FLUSH_TIMEOUT);
        } catch (TimeoutException e) {
            closed(connection);
            throw new BenchException("NATS does not respond", "check its log", e);
        } catch (InterruptedException e) {
            closed(connection);
            Thread.currentThread().interrupt();
            throw new BenchException("interrupted", "run the benchmark again", e);
        }
        return new Subscriber() {
            @Override
            public void poll(Duration timeout, Visitor visitor) throws InterruptedException {
                Message message = subscription.nextMessage(timeout);
                for (int i = 1; message != null; i++) {
                    visitor.onMessage(message.getData());
                    if (i == MAX_POLL_MESSAGES) {
                        return;
                    }
                    message = subscription.nextMessage(timeout);
                }
            }

            @Override
            public void close() {
                closed(connection);
            }
        };
    }

    @Override
    public Subscriber openReader(String topic) {
        throw new BenchException("NATS without JetStream stores nothing", "use jetstream");
    }

    @Override
    public boolean isServed(String topic) {
        return true;
    }
}
