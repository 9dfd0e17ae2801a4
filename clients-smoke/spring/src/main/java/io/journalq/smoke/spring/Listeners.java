package io.journalq.smoke.spring;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.springframework.kafka.annotation.BackOff;
import org.springframework.kafka.annotation.DltHandler;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.RetryableTopic;

/** Listeners that fail twice at flaky messages and always at bad ones, and note what became of each. */
class Listeners {
    static final int ATTEMPTS = 3;

    /** What one topic's listener saw. */
    record Log(Map<String, Integer> attempts, List<String> handled, List<String> dead) {
        Log() {
            this(new ConcurrentHashMap<>(), new CopyOnWriteArrayList<>(), new CopyOnWriteArrayList<>());
        }

        void handle(String value) {
            int attempt = attempts.merge(value, 1, Integer::sum);
            if (value.startsWith("bad") || (value.startsWith("flaky") && attempt < ATTEMPTS)) {
                throw new Main.Deliberate(value);
            }
            handled.add(value);
        }
    }

    private final Log orders = new Log();
    private final Log payments = new Log();
    private final List<String> transfers = new CopyOnWriteArrayList<>();

    Log log(String topic) {
        return topic.equals("orders") ? orders : payments;
    }

    List<String> transfers() {
        return transfers;
    }

    /** Tried again in place, by the container's error handler. */
    @KafkaListener(topics = "orders-${smoke.run}", groupId = "orders-${smoke.run}", containerFactory = "retrying")
    void onOrder(String value) {
        orders.handle(value);
    }

    @KafkaListener(topics = "orders-${smoke.run}-dlt", groupId = "dead-orders-${smoke.run}", containerFactory = "plain")
    void onDeadOrder(String value) {
        orders.dead().add(value);
    }

    /** Tried again by way of retry topics, which Spring creates. */
    @RetryableTopic(
            attempts = "3",
            backOff = @BackOff(delay = 100),
            numPartitions = "2",
            kafkaTemplate = "template",
            listenerContainerFactory = "plain")
    @KafkaListener(topics = "payments-${smoke.run}", groupId = "payments-${smoke.run}", containerFactory = "plain")
    void onPayment(String value) {
        payments.handle(value);
    }

    @DltHandler
    void onDeadPayment(String value) {
        payments.dead().add(value);
    }

    /** Reads committed messages, in a group of the consumer protocol. */
    @KafkaListener(
            topics = "transfers-${smoke.run}",
            groupId = "transfers-${smoke.run}",
            containerFactory = "plain",
            properties = {"isolation.level=read_committed", "group.protocol=consumer"})
    void onTransfer(String value) {
        transfers.add(value);
    }
}
