package io.journalq.bench.peer;

import io.journalq.bench.driver.ClientDriver.Publisher;
import io.journalq.bench.peer.PubSubDriver.Subscriber;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A broker in memory that confirms each message at once, unless a test changes that. A test determines what its
 * subscriber receives.
 */
public abstract class FakePubSub {
    private final BlockingQueue<byte[]> queue = new LinkedBlockingQueue<>();

    /** The driver of this broker. It has publishers and one subscriber, and nothing else. */
    public final PubSubDriver driver() {
        return (PubSubDriver) Proxy.newProxyInstance(
                PubSubDriver.class.getClassLoader(),
                new Class<?>[] {PubSubDriver.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "name" -> "fake";
                    case "openPublisher" -> publisher();
                    case "openSubscriber" -> subscriber();
                    default -> throw new AssertionError("no test calls " + method);
                });
    }

    /** The subscriber is opened. On the thread that opens it. */
    protected void onSubscriber() {}

    /** The subscriber is closed. */
    protected void onSubscriberClosed() {}

    /** A publisher is opened. On the thread that opens it. */
    protected void onPublisher() {}

    /** A message was published. */
    protected void confirm(Publisher.Confirmation confirmation) {
        confirmation.onConfirmed(null);
    }

    /** Passes on at most one message. On the thread of the subscriber. */
    protected abstract void poll(Subscriber.Visitor visitor) throws InterruptedException;

    /** The next published message; null if there is none for a millisecond. */
    protected final byte[] next() throws InterruptedException {
        return queue.poll(1, TimeUnit.MILLISECONDS);
    }

    private Publisher publisher() {
        onPublisher();
        return new Publisher() {
            @Override
            public void publish(byte[] value, Confirmation confirmation) {
                queue.add(value);
                confirm(confirmation);
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
    }

    private Subscriber subscriber() {
        onSubscriber();
        return new Subscriber() {
            @Override
            public void poll(Duration timeout, Visitor visitor) throws InterruptedException {
                FakePubSub.this.poll(visitor);
            }

            @Override
            public void close() {
                onSubscriberClosed();
            }
        };
    }
}
