package io.journalq.bench.driver;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.OffsetSpec;

/** The administration of a broker that serves the Kafka protocol. */
public abstract class KafkaProtocolBroker implements BrokerDriver {
    private TopicAdmin admin;

    /** Opened on first use, because the address of a broker that this program starts is unknown before. */
    final TopicAdmin admin() {
        if (admin == null) {
            admin = new TopicAdmin(bootstrap(), security());
        }
        return admin;
    }

    @Override
    public void createTopic(String topic, int partitions, Map<String, String> settings) {
        admin().create(topic, partitions, settings);
    }

    @Override
    public int partitionCount(String topic) {
        return admin().partitionCount(topic);
    }

    @Override
    public void deleteTopic(String topic) {
        admin().delete(topic);
    }

    @Override
    public List<Long> startOffsets(String topic, int partitions) {
        return admin().offsets(topic, partitions, OffsetSpec.earliest());
    }

    @Override
    public List<Long> endOffsets(String topic, int partitions) {
        return admin().offsets(topic, partitions, OffsetSpec.latest());
    }

    @Override
    public long storedBytes(String topic) {
        return admin().storedBytes(topic);
    }

    @Override
    public boolean isInSync(String topic) {
        return admin().isInSync(topic);
    }

    @Override
    public Set<String> topics() {
        return admin().list();
    }

    @Override
    public void close() {
        if (admin != null) {
            admin.close();
        }
    }
}
