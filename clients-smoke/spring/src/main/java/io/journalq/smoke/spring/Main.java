package io.journalq.smoke.spring;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.kafka.core.KafkaOperations;
import org.springframework.kafka.core.KafkaTemplate;

/**
 * Listeners with retry and dead-letter topics, by an error handler and by retry topics, and a template that sends in
 * transactions, with Spring Kafka against the broker at {@code $JOURNALQ_BOOTSTRAP}. Ends with 1 at the first difference.
 */
public final class Main {
    private static final int COUNT = 60;
    private static final Duration LIMIT = Duration.ofSeconds(120);

    private Main() {}

    public static void main(String[] arguments) throws Exception {
        long run = System.currentTimeMillis();
        System.setProperty("smoke.run", Long.toString(run));
        try (AnnotationConfigApplicationContext spring = new AnnotationConfigApplicationContext(Setup.class)) {
            Listeners listeners = spring.getBean(Listeners.class);
            @SuppressWarnings("unchecked")
            KafkaTemplate<String, String> template = spring.getBean("template", KafkaTemplate.class);
            @SuppressWarnings("unchecked")
            KafkaTemplate<String, String> transactional = spring.getBean("transactional", KafkaTemplate.class);

            List<String> handled = new ArrayList<>();
            List<String> dead = new ArrayList<>();
            for (int i = 0; i < COUNT; i++) {
                String kind = i % 20 == 3 ? "bad" : i % 10 == 7 ? "flaky" : "good";
                String value = kind + "-" + i;
                (kind.equals("bad") ? dead : handled).add(value);
                template.send("orders-" + run, "k" + i, value).get(LIMIT.toSeconds(), TimeUnit.SECONDS);
                template.send("payments-" + run, "k" + i, value).get(LIMIT.toSeconds(), TimeUnit.SECONDS);
            }
            for (String topic : List.of("orders", "payments")) {
                expect(topic, listeners, handled, dead);
            }

            send(transactional, "committed-" + run, false);
            send(transactional, "aborted-" + run, true);
            send(transactional, "last-" + run, false);
            await(() -> listeners.transfers().contains("last-" + run), listeners.transfers()::toString);
            check(listeners.transfers().equals(List.of("committed-" + run, "last-" + run)),
                    "transfers: " + listeners.transfers());
        }
        System.out.println("Spring Kafka: " + COUNT + " messages to two listeners, failed ones tried again, hopeless ones in"
                + " dead-letter topics; of transactions only committed ones were seen");
    }

    private static void send(KafkaTemplate<String, String> template, String value, boolean abort) {
        try {
            template.executeInTransaction((KafkaOperations<String, String> sender) -> {
                sender.send("transfers-" + System.getProperty("smoke.run"), "k", value);
                if (abort) {
                    throw new Deliberate("to abort the transaction");
                }
                return value;
            });
            check(!abort, "a transaction was not aborted");
        } catch (Deliberate expected) {
            check(abort, "a transaction failed");
        }
    }

    private static void expect(String topic, Listeners listeners, List<String> handled, List<String> dead) {
        Listeners.Log log = listeners.log(topic);
        await(() -> log.handled().size() >= handled.size() && log.dead().size() >= dead.size(),
                () -> topic + ": " + log);
        check(log.handled().stream().sorted().toList().equals(handled.stream().sorted().toList()), topic + ": " + log);
        check(log.dead().stream().sorted().toList().equals(dead.stream().sorted().toList()), topic + ": " + log);
        Map<String, Integer> attempts = log.attempts();
        for (String value : handled) {
            int expected = value.startsWith("flaky") ? Listeners.ATTEMPTS : 1;
            check(attempts.get(value) == expected, topic + ": " + value + " took " + attempts.get(value) + " attempts");
        }
        for (String value : dead) {
            check(attempts.get(value) == Listeners.ATTEMPTS, topic + ": " + value + ": " + attempts.get(value));
        }
    }

    private static void await(BooleanSupplier condition, java.util.function.Supplier<String> state) {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        while (!condition.getAsBoolean()) {
            check(System.nanoTime() - deadline < 0, "did not come so far: " + state.get());
            try {
                Thread.sleep(50);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            System.err.println(what);
            // Not by an exception: listeners that do not end would keep the program.
            Runtime.getRuntime().halt(1);
        }
    }

    /** What a listener or a transaction fails with on purpose. */
    static final class Deliberate extends RuntimeException {
        private static final long serialVersionUID = 1;

        Deliberate(String message) {
            super(message);
        }
    }
}
