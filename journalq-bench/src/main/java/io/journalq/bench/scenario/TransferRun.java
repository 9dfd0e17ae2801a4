package io.journalq.bench.scenario;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.ClientDriver.Publisher;
import io.journalq.bench.measure.BrokerNode;
import io.journalq.bench.measure.ProcessUsage;
import io.journalq.bench.measure.ResourceUse;
import io.journalq.bench.peer.PubSubDriver;
import io.journalq.bench.peer.PubSubDriver.Subscriber;
import io.journalq.bench.scenario.MessageProtection.PerMessage;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;

/**
 * Senders that read files line by line, and one receiver that writes a file. A sender has at most eight unacknowledged
 * batches. Used by one thread; starts a thread for each sender and the receiver.
 */
final class TransferRun {
    private static final Duration POLL_TIMEOUT = Duration.ofMillis(100);
    private static final int BATCHES_IN_FLIGHT = 8;
    /** If nothing is received or acknowledged for this time, the broker has failed. */
    static final Duration SILENCE = Duration.ofSeconds(60);

    /** How long a sender that was interrupted may take to close its connection. */
    private static final long CLOSE_MS = 10_000;

    /** A message that comes again comes soon after the last one. */
    static final long QUIET_NS = TimeUnit.SECONDS.toNanos(1);

    private static final long POLL_MS = 10;

    private final PubSubDriver driver;
    private final String topic;
    private final int batchSize;
    /** The key of a receiver of messages that are encrypted one by one; null if they are not. */
    private final KeyPair receiverKey;

    private final long silenceNs;

    private final LongAdder acknowledged = new LongAdder();
    private final LongAdder failed = new LongAdder();
    private final LongAdder received = new LongAdder();
    private final AtomicReference<String> firstError = new AtomicReference<>();
    private volatile boolean running = true;
    private volatile long lastReceivedNs;
    private volatile long lastConfirmedNs;

    /** @param silence as {@link #SILENCE} */
    TransferRun(PubSubDriver driver, String topic, int batchSize, KeyPair receiverKey, Duration silence) {
        this.silenceNs = silence.toNanos();
        this.receiverKey = receiverKey;
        this.driver = driver;
        this.topic = topic;
        this.batchSize = batchSize;
    }

    /**
     * The result of a run.
     *
     * @param seconds time from the first line sent to the last line received
     * @param firstError null if nothing failed
     */
    record Result(
            double seconds,
            long acknowledged,
            long failed,
            long received,
            JsonLines.Difference difference,
            ResourceUse use,
            String firstError) {}

    Result run(List<Path> files, long expected, Path receivedFile, List<BrokerNode> nodes) throws InterruptedException {
        List<Thread> senders = new ArrayList<>();
        ResourceUse use;
        double seconds;
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(receivedFile), 1 << 16)) {
            Thread receiver = start("receiver", receiving(driver.openSubscriber(topic, 0), out));
            List<Publisher> publishers = new ArrayList<>();
            for (int i = 0; i < files.size(); i++) {
                publishers.add(driver.openPublisher(topic, i));
            }
            nodes.forEach(node -> ProcessUsage.forgetMaximum(node.pid()));
            ResourceUse.Meter meter = ResourceUse.start(nodes);
            long startNs = System.nanoTime();
            lastReceivedNs = startNs;
            lastConfirmedNs = startNs;
            for (int i = 0; i < files.size(); i++) {
                Path file = files.get(i);
                Publisher publisher = publishers.get(i);
                senders.add(start("sender-" + i, () -> send(publisher, file)));
            }
            await(expected);
            seconds = (lastReceivedNs - startNs) / 1e9;
            use = meter.stop();
            join(senders);
            awaitQuiet();
            running = false;
            // After a failure, the library of a peer may wait in its own code.
            receiver.join(firstError.get() == null ? 0 : CLOSE_MS);
        } catch (IOException e) {
            throw new BenchException(
                    "cannot write " + receivedFile, "use --results with a directory that has free space", e);
        }
        long[] sent = new long[0];
        for (Path file : files) {
            sent = merged(sent, JsonLines.hashes(file));
        }
        return new Result(
                seconds,
                acknowledged.sum(),
                failed.sum(),
                received.sum(),
                JsonLines.compare(sent, JsonLines.hashes(receivedFile)),
                use,
                firstError.get());
    }

    private static long[] merged(long[] one, long[] other) {
        long[] all = java.util.Arrays.copyOf(one, one.length + other.length);
        System.arraycopy(other, 0, all, one.length, other.length);
        java.util.Arrays.sort(all);
        return all;
    }

    private static Thread start(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private void await(long expected) throws InterruptedException {
        Progress progress = new Progress(driver.name() + " received");
        while (received.sum() < expected - failed.sum() && firstError.get() == null) {
            Thread.sleep(POLL_MS);
            progress.tell(received.sum());
            if (System.nanoTime() - lastReceivedNs > silenceNs) {
                return;
            }
        }
    }

    /** Waits for the senders. Interrupts them if nothing is acknowledged any more: they would wait forever. */
    private void join(List<Thread> senders) throws InterruptedException {
        for (Thread sender : senders) {
            while (sender.isAlive()) {
                sender.join(POLL_MS);
                long nowNs = System.nanoTime();
                if (nowNs - lastConfirmedNs > silenceNs && nowNs - lastReceivedNs > silenceNs) {
                    firstError.compareAndSet(null, "messages were not acknowledged");
                    senders.forEach(Thread::interrupt);
                    sender.join(CLOSE_MS);
                    break;
                }
            }
        }
    }

    /** Messages that come again after the last one count as extra. */
    private void awaitQuiet() throws InterruptedException {
        while (firstError.get() == null && System.nanoTime() - lastReceivedNs < QUIET_NS) {
            Thread.sleep(POLL_MS);
        }
    }

    private Runnable receiving(Subscriber subscriber, OutputStream out) {
        return () -> {
            try (subscriber) {
                PerMessage cipher = receiverKey == null ? null : new PerMessage(receiverKey);
                while (running) {
                    subscriber.poll(POLL_TIMEOUT, value -> {
                        try {
                            out.write(cipher == null ? value : cipher.decrypt(value));
                            out.write('\n');
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        } catch (GeneralSecurityException e) {
                            throw new IllegalStateException("a message cannot be decrypted", e);
                        }
                        received.increment();
                        lastReceivedNs = System.nanoTime();
                    });
                }
            } catch (Exception e) {
                firstError.compareAndSet(null, "the receiver failed: " + e);
            }
        };
    }

    private void send(Publisher publisher, Path file) {
        Semaphore room = new Semaphore(batchSize * BATCHES_IN_FLIGHT);
        try (publisher;
                BufferedReader lines = Files.newBufferedReader(file)) {
            PerMessage cipher = receiverKey == null ? null : new PerMessage(receiverKey);
            String line = lines.readLine();
            while (line != null) {
                room.acquire(batchSize);
                int sent = 0;
                for (; sent < batchSize && line != null; sent++) {
                    byte[] message = line.getBytes(StandardCharsets.UTF_8);
                    sendOne(publisher, cipher == null ? message : cipher.encrypt(message), room);
                    line = lines.readLine();
                }
                room.release(batchSize - sent);
            }
            publisher.flush();
        } catch (Exception e) {
            firstError.compareAndSet(null, "a sender failed: " + e);
        }
    }

    private void sendOne(Publisher publisher, byte[] message, Semaphore room) throws Exception {
        publisher.publish(message, failure -> {
            room.release();
            lastConfirmedNs = System.nanoTime();
            if (failure == null) {
                acknowledged.increment();
            } else {
                failed.increment();
                firstError.compareAndSet(null, failure.toString());
            }
        });
    }
}
