package io.journalq.bench.option;

import io.journalq.bench.BenchException;
import io.journalq.bench.peer.Delivery;
import io.journalq.bench.peer.PubSubDriver;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Brokers that are measured in turn on one machine: all started, all frozen but the one whose turn it is. Those that are
 * not installed or not running, or do not make the promise in question, are left out and named. One thread.
 */
public final class BrokerTurns implements AutoCloseable {
    private final List<PubSubDriver> drivers = new ArrayList<>();
    private final Map<String, Object> skipped = new LinkedHashMap<>();

    /** What is done with one broker while the others stand still. */
    @FunctionalInterface
    public interface Turn {
        void take(PubSubDriver driver) throws InterruptedException;
    }

    /** Starts and freezes those of {@code names} that are there. */
    public static BrokerTurns start(List<String> names, Delivery delivery, BrokerOptions options) {
        BrokerTurns contenders = new BrokerTurns();
        try {
            for (String name : names) {
                contenders.add(name, options.open(name, delivery), delivery);
            }
        } catch (RuntimeException e) {
            contenders.close();
            throw e;
        }
        return contenders;
    }

    private void add(String name, PubSubDriver driver, Delivery delivery) {
        if (!driver.deliveries().contains(delivery)) {
            skipped.put("skipped " + name, "it knows no " + delivery + " delivery");
            return;
        }
        if (driver.missing().isPresent()) {
            skipped.put(
                    "skipped " + name,
                    "not installed or not running; install it with: "
                            + driver.missing().get());
            System.err.println("skipped " + name + ", which is not installed or not running; install it with: "
                    + driver.missing().get());
            return;
        }
        drivers.add(driver);
        driver.start();
        driver.freeze();
    }

    /** Lets each have its turn, in order; the next begins when the disk is done with the one before. */
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

    public boolean isEmpty() {
        return drivers.isEmpty();
    }

    /** Versions and settings of all, and who was left out. */
    public Map<String, Object> about() {
        Map<String, Object> about = new LinkedHashMap<>();
        drivers.forEach(driver -> about.put(driver.name(), driver.about().toString()));
        about.putAll(skipped);
        return about;
    }

    /** Thrown when there is nobody to measure. */
    public BrokerTurns required() {
        if (isEmpty()) {
            close();
            throw new BenchException("there is no broker to measure " + skipped, "see --brokers");
        }
        return this;
    }

    @Override
    public void close() {
        drivers.forEach(PubSubDriver::close);
    }
}
