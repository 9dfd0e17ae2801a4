import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * An idempotent producer of kafka-clients while the broker is killed: creates a topic and the file $LOSSES_READY, sends
 * until the file $LOSSES_STOP is there, then reads all back. Fails on an error, a new epoch, a duplicate or a message out of order; prints what was acknowledged and lost.
 */
final class Losses {
    private static final String BOOTSTRAP = System.getenv("JOURNALQ_BOOTSTRAP");
    private static final Path READY = Path.of(System.getenv("LOSSES_READY"));
    private static final Path STOP = Path.of(System.getenv("LOSSES_STOP"));
    private static final int PARTITIONS = 3;
    private static final int MOST_UNDER_WAY = 1_000;
    /** Long, so that every kill takes something. */
    private static final int WRITE_INTERVAL_MS = 200;

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    /** Numbers of the acknowledged messages, by partition. */
    private static List<Set<Integer>> send(String topic) throws Exception {
        List<Set<Integer>> acknowledged = new ArrayList<>();
        for (int partition = 0; partition < PARTITIONS; partition++) {
            acknowledged.add(ConcurrentHashMap.newKeySet());
        }
        Semaphore underWay = new Semaphore(MOST_UNDER_WAY);
        AtomicReference<Exception> failed = new AtomicReference<>();
        Map<String, Object> config = Map.of(
                "bootstrap.servers", BOOTSTRAP, "enable.idempotence", true, "reconnect.backoff.max.ms", 200);
        try (var producer = new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
            for (int number = 0; !Files.exists(STOP); number++) {
                for (int partition = 0; partition < PARTITIONS; partition++) {
                    int sent = number;
                    Set<Integer> itsAcknowledged = acknowledged.get(partition);
                    underWay.acquire();
                    producer.send(new ProducerRecord<>(topic, partition, null, "" + number), (metadata, failure) -> {
                        underWay.release();
                        if (failure == null) {
                            itsAcknowledged.add(sent);
                        } else {
                            failed.set(failure);
                        }
                    });
                }
                Thread.sleep(1);
                check(failed.get() == null, "failed: " + failed.get());
            }
            producer.flush();
        }
        check(failed.get() == null, "failed: " + failed.get());
        return acknowledged;
    }

    private static List<Integer> read(TopicPartition partition) {
        Map<String, Object> config = Map.of("bootstrap.servers", BOOTSTRAP);
        try (var consumer = new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer())) {
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            long end = consumer.endOffsets(List.of(partition)).get(partition);
            List<Integer> numbers = new ArrayList<>();
            while (consumer.position(partition) < end) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofSeconds(1))) {
                    numbers.add(Integer.valueOf(record.value()));
                }
            }
            return numbers;
        }
    }

    public static void main(String[] arguments) throws Exception {
        String topic = "losses-kafka-clients-" + System.nanoTime();
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", BOOTSTRAP))) {
            Map<String, String> settings =
                    Map.of("delivery.mode", "performance", "write.interval.ms", "" + WRITE_INTERVAL_MS);
            admin.createTopics(List.of(new NewTopic(topic, PARTITIONS, (short) 1).configs(settings)))
                    .all()
                    .get();
            Files.createFile(READY);
            List<Set<Integer>> acknowledged = send(topic);
            Thread.sleep(2 * WRITE_INTERVAL_MS);
            int total = 0;
            int lost = 0;
            for (int number = 0; number < PARTITIONS; number++) {
                TopicPartition partition = new TopicPartition(topic, number);
                List<Integer> found = read(partition);
                check(found.equals(found.stream().distinct().sorted().toList()), partition + " is not in order");
                int epoch = admin.describeProducers(List.of(partition))
                        .partitionResult(partition)
                        .get()
                        .activeProducers()
                        .get(0)
                        .producerEpoch();
                check(epoch == 0, "the producer began " + epoch + " new epochs");
                total += acknowledged.get(number).size();
                acknowledged.get(number).removeAll(found);
                lost += acknowledged.get(number).size();
            }
            check(lost > 0, "nothing was lost: this shows nothing");
            System.out.println("kafka-clients: " + total + " messages acknowledged, " + lost
                    + " of them lost with the broker, none twice or out of order");
        }
    }
}
