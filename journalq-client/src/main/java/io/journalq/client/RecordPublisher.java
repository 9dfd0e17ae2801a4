package io.journalq.client;

import static io.journalq.client.internal.check.Arguments.notNull;

import io.journalq.client.error.ClientClosedException;
import io.journalq.common.id.TopicPartition;
import java.time.Duration;
import java.util.Collections;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Publishes the records of a consumer to one subscriber. A thread of its own polls and calls the subscriber, so a slow
 * subscriber stops the polls. Between the subscriber and the network there are only the records of the current poll.
 */
final class RecordPublisher implements Flow.Publisher<ConsumerRecord> {
    private static final System.Logger LOGGER = System.getLogger(Consumer.class.getName());

    /** How soon the thread sees that the subscription is cancelled. */
    private static final Duration POLL_TIMEOUT = Duration.ofMillis(100);

    /** How soon the thread sees, while there is no demand, that the consumer is closed. */
    private static final long PARK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final Flow.Subscription NOTHING = new Flow.Subscription() {
        @Override
        public void request(long n) {}

        @Override
        public void cancel() {}
    };

    private final Consumer consumer;
    private final AtomicBoolean subscribed = new AtomicBoolean();

    RecordPublisher(Consumer consumer) {
        this.consumer = consumer;
    }

    @Override
    public void subscribe(Flow.Subscriber<? super ConsumerRecord> subscriber) {
        notNull(subscriber, "subscriber");
        if (!subscribed.compareAndSet(false, true)) {
            subscriber.onSubscribe(NOTHING);
            subscriber.onError(new IllegalStateException(
                    "the records of a consumer have one subscriber; build a consumer for each subscriber"));
            return;
        }
        Delivery delivery = new Delivery(consumer, subscriber);
        delivery.thread.start();
    }

    /** The subscription. Belongs to its thread, except for demand and cancellation. */
    private static final class Delivery implements Flow.Subscription {
        private final Consumer consumer;
        private final Flow.Subscriber<? super ConsumerRecord> subscriber;
        private final Thread thread;
        private final AtomicLong demand = new AtomicLong();
        private volatile boolean cancelled;
        private volatile Throwable illegalRequest;

        /** By partition of the last poll: the offset of the first record that the subscriber has not received. */
        private Map<TopicPartition, Long> undelivered = Map.of();

        private Iterator<ConsumerRecord> records = Collections.emptyIterator();
        private TopicPartition current;
        private long nextOffset;

        private Delivery(Consumer consumer, Flow.Subscriber<? super ConsumerRecord> subscriber) {
            this.consumer = consumer;
            this.subscriber = subscriber;
            this.thread = new Thread(this::run, "journalq-publisher");
            thread.setDaemon(true);
        }

        @Override
        public void request(long n) {
            if (n <= 0) {
                illegalRequest = new IllegalArgumentException("the demand is " + n + "; request at least 1 record");
            } else {
                demand.accumulateAndGet(n, (before, more) -> before + more < 0 ? Long.MAX_VALUE : before + more);
            }
            LockSupport.unpark(thread);
        }

        @Override
        public void cancel() {
            cancelled = true;
            LockSupport.unpark(thread);
        }

        private void run() {
            Throwable failure = null;
            try {
                subscriber.onSubscribe(this);
                // Keeps other threads out until the end: what a close commits must have been delivered.
                consumer.occupy(() -> {
                    boolean complete = false;
                    try {
                        deliver();
                        complete = !records.hasNext();
                    } finally {
                        if (!complete) {
                            rewind();
                        }
                    }
                });
            } catch (ClientClosedException e) {
                // The application has closed the consumer: the end of the stream.
            } catch (Throwable e) {
                failure = e;
            }
            try {
                consumer.close();
            } catch (RuntimeException e) {
                failure = failure == null ? e : failure;
            }
            end(failure);
        }

        private void deliver() {
            while (!cancelled && illegalRequest == null && !consumer.isClosed()) {
                if (demand.get() == 0) {
                    LockSupport.parkNanos(this, PARK_NANOS);
                } else if (records.hasNext()) {
                    deliver(records.next());
                } else {
                    poll();
                }
            }
        }

        private void poll() {
            undelivered = Map.of();
            current = null;
            ConsumerRecords polled = consumer.poll(POLL_TIMEOUT);
            undelivered = polled.startOffsets();
            records = polled.iterator();
        }

        private void deliver(ConsumerRecord record) {
            if (demand.get() != Long.MAX_VALUE) {
                demand.decrementAndGet();
            }
            if (current == null
                    || current.partition() != record.partition()
                    || !current.topic().equals(record.topic())) {
                noteDelivered();
                current = new TopicPartition(record.topic(), record.partition());
            }
            nextOffset = record.offset() + 1;
            try {
                subscriber.onNext(record);
            } catch (RuntimeException e) {
                // The specification forbids this. It counts as a cancellation.
                LOGGER.log(System.Logger.Level.WARNING, "a subscriber failed in onNext, so its consumer is closed", e);
                cancelled = true;
            }
        }

        private void noteDelivered() {
            if (current != null) {
                undelivered.put(current, nextOffset);
            }
        }

        /**
         * Moves the positions back to what the subscriber has received, so that no other record is committed. Asks for
         * no further record: if one could not be read, that skips the rest of its batch.
         */
        private void rewind() {
            if (undelivered.isEmpty()) {
                return;
            }
            noteDelivered();
            undelivered.keySet().retainAll(consumer.assignment());
            undelivered.forEach(consumer::seek);
        }

        private void end(Throwable failure) {
            Throwable reason = illegalRequest != null ? illegalRequest : failure;
            if (cancelled) {
                return;
            }
            if (reason == null) {
                subscriber.onComplete();
            } else {
                subscriber.onError(reason);
            }
        }
    }
}
