package io.journalq.bench.cli;

import io.journalq.bench.driver.ClientDriver;
import io.journalq.bench.driver.ClusterShape;
import io.journalq.bench.driver.ConnectionSecurity;
import io.journalq.bench.driver.DeliveryMode;
import io.journalq.bench.driver.JournalQBroker;
import io.journalq.bench.driver.JournalQClientDriver;
import io.journalq.bench.driver.KafkaBroker;
import io.journalq.bench.driver.KafkaClientsDriver;
import io.journalq.bench.driver.SpawnedBroker;
import io.journalq.bench.option.ClusterOptions;
import java.util.Locale;
import java.util.Map;

/** A broker that the produce cases can start. */
enum BrokerChoice {
    JOURNALQ,
    KAFKA;

    /** Makes the driver; its broker is not started yet. {@code settings} are the broker's, by its own names. */
    SpawnedBroker open(Map<String, String> settings) {
        return open(ClusterShape.SINGLE, settings);
    }

    /** As {@link #open(Map)}, for a cluster. */
    SpawnedBroker open(ClusterShape shape, Map<String, String> settings) {
        return switch (this) {
            case JOURNALQ -> JournalQBroker.withMetrics(shape, settings);
            case KAFKA -> new KafkaBroker(shape, settings);
        };
    }

    /** The settings of a broker whose topics have the mode that was chosen for the cluster. */
    Map<String, String> settings(ClusterOptions cluster) {
        DeliveryMode mode = cluster.mode(toString());
        if (mode == null) {
            return Map.of();
        }
        return this == JOURNALQ ? mode.journalqSettings() : mode.kafkaSettings();
    }

    /** The client library of the broker's own project. */
    ClientDriver ownClient(ConnectionSecurity security) {
        return switch (this) {
            case JOURNALQ -> new JournalQClientDriver(security, null);
            case KAFKA -> new KafkaClientsDriver(security);
        };
    }

    /** The name in options, presets and results. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
