package io.journalq.bench.scenario;

import io.journalq.bench.peer.FakePubSub;
import io.journalq.bench.peer.PubSubDriver.Subscriber;
import java.util.concurrent.TimeUnit;

/** A broker that delivers the last message once more, when nothing has been published for some time. */
final class RepeatingPubSub extends FakePubSub {
    private static final int LATE_MS = 100;

    private final int fewestMessages;
    private int received;
    private byte[] last;
    private long lastNs;
    private boolean repeated;

    /** @param fewestMessages the number of messages before which none is repeated */
    RepeatingPubSub(int fewestMessages) {
        this.fewestMessages = fewestMessages;
    }

    @Override
    protected void poll(Subscriber.Visitor visitor) throws InterruptedException {
        byte[] value = next();
        if (value != null) {
            last = value;
            lastNs = System.nanoTime();
            received++;
            visitor.onMessage(value);
        } else if (received >= fewestMessages
                && !repeated
                && System.nanoTime() - lastNs > TimeUnit.MILLISECONDS.toNanos(LATE_MS)) {
            repeated = true;
            visitor.onMessage(last);
        }
    }
}
