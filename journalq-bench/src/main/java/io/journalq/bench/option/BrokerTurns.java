package io.journalq.bench.option;

import io.journalq.bench.BenchException;
import io.journalq.bench.peer.Delivery;
import io.journalq.bench.peer.PubSubDriver;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Brokers that are measured in turn on one machine. All are started, and all but the one that is being measured are
 * frozen. A broker is skipped if it is not installed, not running, or does not support the delivery guarantee; the result
 * names it. One thread.
 */
public final class BrokerTurns implements AutoCloseable {
    private final List<PubSubDriver> drivers = new ArrayList<>();
    private final Map<String, Object> skipped = new LinkedHashMap<>();

    /** The measurement of one broker, while the others are frozen. */
    @FunctionalInterface
    public interface Turn {
        void take(PubSubDriver driver) throws InterruptedException;
    }

    /** Starts and freezes the available brokers of {@code names}. */
    public static BrokerTurns start(List<String> names, Delivery delivery, BrokerOptions options) {
        return start(names, delivery, name -> options.open(name, delivery));
    }

    /** As {@link #start(List, Delivery, BrokerOptions)}, with as many brokers of each name as there are replicas. */
    public static BrokerTurns start(
            List<String> names, Delivery delivery, BrokerOptions options, ReplicaOptions replication) {
        if (replication.areGiven() && !options.areStarted()) {
            throw BenchException.wrongUsage(
                    "--replicas and --heap are of brokers that are started", "leave them or --bootstrap out");
        }
        boolean synced = delivery == Delivery.SYNCED;
        return start(
                names,
                delivery,
                name -> options.open(
                        name,
                        delivery,
                        replication.shape(replication.replicas()),
                        Map.of(),
                        delivery == Delivery.AT_MOST_ONCE ? Map.of() : replication.clientSettings(name, synced)));
    }

    private static BrokerTurns start(List<String> names, Delivery delivery, Function<String, PubSubDriver> opened) {
        BrokerTurns turns = new BrokerTurns();
        try {
            for (String name : names) {
                turns.add(name, opened.apply(name), delivery);
            }
        } catch (RuntimeException e) {
            turns.close();
            throw e;
        }
        return turns;
    }

    private void add(String name, PubSubDriver driver, Delivery delivery) {
        if (!driver.deliveries().contains(delivery)) {
            skipped.put("skipped " + name, "does not support " + delivery);
            return;
        }
        if (driver.missing().isPresent()) {
            String reason = unavailable(driver.missing().get());
            skipped.put("skipped " + name, reason);
            System.err.println("skipped " + name + ": " + reason);
            return;
        }
        drivers.add(driver);
        driver.start();
        driver.freeze();
    }

    /** Why a broker is skipped, with the command that installs it. */
    public static String unavailable(String installCommand) {
        return "not installed or not running; to install it: " + installCommand;
    }

    /** Measures each broker, in order. A turn ends when the disk has finished writing the broker's data. */
    public void eachInTurn(Turn turn) throws InterruptedException {
        for (PubSubDriver driver : drivers) {
            driver.thaw();
            try {
                turn.take(driver);
                driver.settle();
            } finally {
                driver.freeze();
            }
        }
    }

    /** Versions and settings of all brokers, and the skipped brokers with the reasons. */
    public Map<String, Object> about() {
        Map<String, Object> about = new LinkedHashMap<>();
        drivers.forEach(driver -> about.put(driver.name(), driver.about().toString()));
        about.putAll(skipped);
        return about;
    }

    /** Throws if no broker can be measured. */
    public BrokerTurns required() {
        if (drivers.isEmpty()) {
            close();
            throw new BenchException("no broker can be measured " + skipped, "choose other --brokers or --delivery");
        }
        return this;
    }

    @Override
    public void close() {
        drivers.forEach(PubSubDriver::close);
    }
}
