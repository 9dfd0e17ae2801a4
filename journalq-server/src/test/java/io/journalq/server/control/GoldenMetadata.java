package io.journalq.server.control;

import static io.journalq.server.control.ControllerFixture.await;

import io.journalq.common.id.Uuid;
import io.journalq.server.control.Controller.ConfigChange;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.metadata.TestBrokers;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;

/** A metadata log with two brokers, two topics and enough changes that snapshots replaced most of it. */
final class GoldenMetadata {
    static final String CHANGED = "changed";
    static final String DELETED = "deleted";
    static final String LAST = "last";
    static final int PARTITIONS = 3;
    static final int CHANGES = 200;
    static final int OTHER_NODE = 2;
    static final String RACK = "attic";

    private GoldenMetadata() {}

    static void write(Path directory) throws Exception {
        try (ControllerFixture broker = open(directory)) {
            await(broker.controller.registerBroker(TestBrokers.registration(OTHER_NODE, RACK), -1));
            broker.create(CHANGED, PARTITIONS);
            broker.create(DELETED, 1);
            for (int value = 1; value <= CHANGES; value++) {
                ConfigChange change = retention(value);
                await(broker.controller.alterTopicConfigs(List.of(change), false));
            }
            await(broker.controller.deleteTopics(
                    List.of(broker.image().topic(DELETED).id())));
            broker.create(LAST, 1);
        }
    }

    static ControllerFixture open(Path directory) throws IOException {
        AtomicLong lastId = new AtomicLong();
        return ControllerFixture.start(
                new SystemFileStore(),
                directory,
                () -> new Uuid(7, lastId.incrementAndGet()),
                UnaryOperator.identity());
    }

    private static ConfigChange retention(int value) {
        return new ConfigChange(CHANGED, image -> Map.of("retention.ms", Integer.toString(value)));
    }
}
