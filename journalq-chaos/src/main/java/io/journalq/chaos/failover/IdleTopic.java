package io.journalq.chaos.failover;

import io.journalq.client.Acks;
import io.journalq.client.Producer;
import io.journalq.client.record.ProducerRecord;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.frame.Frames;
import io.journalq.common.protocol.message.MetadataRequest;
import io.journalq.common.protocol.message.MetadataResponse;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * A topic with many partitions, to which nobody sends before a fault. Measures when all partitions that the victim led have
 * another leader.
 */
final class IdleTopic implements AutoCloseable {
    /** Time between two questions. */
    private static final int POLL_MS = 50;

    private static final int READ_TIMEOUT_MS = 30_000;
    private static final int LIMIT_MS = 120_000;
    /** Number of partitions that get a record after they have a leader. */
    private static final int SAMPLE = 100;

    private static final int RECORD_BYTES = 100;
    private static final short METADATA_VERSION = 9;

    private final String name;
    private final Producer producer;

    /** @param servers the brokers of the cluster */
    IdleTopic(String name, String servers) {
        this.name = name;
        this.producer = Producer.builder()
                .bootstrapServers(servers)
                .acks(Acks.ALL)
                .requestTimeout(FailoverClient.REQUEST_TIMEOUT)
                .build();
    }

    /**
     * When the partitions could be used again, in ms since the fault.
     *
     * @param ledMs a broker that lives has named other leaders for all of them
     * @param acknowledgedMs some of them have acknowledged a record after that
     * @param partitions number of partitions that the victim led
     */
    record Times(long ledMs, long acknowledgedMs, int partitions) {}

    /** The partitions that a broker leads, as another broker knows it. */
    private static Set<Integer> ledBy(int nodeId, MetadataResponse.MetadataResponseTopic topic) {
        return topic.partitions().stream()
                .filter(partition -> partition.leaderId() == nodeId)
                .map(MetadataResponse.MetadataResponsePartition::partitionIndex)
                .collect(Collectors.toSet());
    }

    /** A measurement that has begun. */
    final class Watch implements AutoCloseable {
        private final Socket socket = new Socket();
        private final DataInputStream in;
        private final int victim;
        private final Set<Integer> led;

        private Watch(InetSocketAddress survivor, int victim) throws IOException {
            this.victim = victim;
            socket.setSoTimeout(READ_TIMEOUT_MS);
            socket.connect(survivor);
            this.in = new DataInputStream(socket.getInputStream());
            this.led = ledBy(victim, ask());
        }

        /** Measures on another thread. Called just before the fault. */
        CompletableFuture<Times> begin() {
            long beganNanos = System.nanoTime();
            return CompletableFuture.supplyAsync(
                    () -> {
                        try {
                            return measure(beganNanos);
                        } catch (IOException | InterruptedException failed) {
                            throw new CompletionException(failed);
                        }
                    },
                    task -> new Thread(task, "leader-watch").start());
        }

        private Times measure(long beganNanos) throws IOException, InterruptedException {
            while (!areLedAgain(ask())) {
                if (ms(beganNanos) > LIMIT_MS) {
                    throw new IOException("partitions have no leader " + LIMIT_MS + " ms after the fault");
                }
                Thread.sleep(POLL_MS);
            }
            long ledMs = ms(beganNanos);
            List<CompletableFuture<?>> sent = new ArrayList<>();
            List<Integer> sorted = led.stream().sorted().toList();
            int step = Math.max(1, sorted.size() / SAMPLE);
            for (int index = 0; index < sorted.size(); index += step) {
                sent.add(producer.sendAsync(ProducerRecord.of(name, sorted.get(index), null, new byte[RECORD_BYTES])));
            }
            CompletableFuture.allOf(sent.toArray(new CompletableFuture<?>[0])).join();
            return new Times(ledMs, ms(beganNanos), sorted.size());
        }

        private boolean areLedAgain(MetadataResponse.MetadataResponseTopic topic) {
            return topic.partitions().stream()
                    .filter(partition -> led.contains(partition.partitionIndex()))
                    .allMatch(partition -> partition.leaderId() > 0 && partition.leaderId() != victim);
        }

        /** Asks the broker that lives. */
        private MetadataResponse.MetadataResponseTopic ask() throws IOException {
            MetadataRequest request =
                    new MetadataRequest().setTopics(List.of(new MetadataRequest.MetadataRequestTopic().setName(name)));
            ByteBuf frame = Unpooled.wrappedBuffer(
                    Frames.request(UnpooledByteBufAllocator.DEFAULT, 1, "leader-watch", request, METADATA_VERSION)
                            .toArray(new ByteBuf[0]));
            try {
                frame.readBytes(socket.getOutputStream(), frame.readableBytes());
            } finally {
                frame.release();
            }
            ByteBuf response = Unpooled.wrappedBuffer(in.readNBytes(in.readInt()));
            MessageReader reader = new MessageReader(response);
            var unused = Frames.readResponseHeader(reader, ApiKey.METADATA, METADATA_VERSION);
            return MetadataResponse.read(reader, METADATA_VERSION).topics().get(0);
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    private static long ms(long sinceNanos) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - sinceNanos);
    }

    /** Connects to a broker that survives the fault. */
    Watch watch(String survivor, int victim) throws IOException {
        int colon = survivor.lastIndexOf(':');
        return new Watch(
                new InetSocketAddress(survivor.substring(0, colon), Integer.parseInt(survivor.substring(colon + 1))),
                victim);
    }

    @Override
    public void close() {
        producer.close();
    }
}
