package io.journalq.server.metadata;

import io.journalq.common.sasl.ScramCredential;
import io.journalq.server.memory.TextSize;
import io.journalq.server.metadata.security.Acl;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;

/**
 * Estimates the heap size of metadata, including everything that the broker allocates because of it, such as the log of
 * a partition. {@code HeapCostTest} checks the estimates for topics with a real broker, {@code MetadataMemoryTest} the
 * rest. Stateless.
 */
final class MetadataSizes {
    /**
     * A topic without partitions: its image, and its entries in the indexes of the image and in the maps of its loops.
     */
    private static final int TOPIC_BYTES = 150;

    /** An idle partition: its image, its host and its log. */
    private static final int PARTITION_BYTES = 2_350;

    /** A name or value with one byte for each character, with its object and its entry in a map. */
    private static final int ENTRY_BYTES = 150;

    /** A group, broker, subscription, user or client that has settings, without the settings. */
    private static final int OWNER_BYTES = 200;

    /** A credential of a user, without its salt and its keys, but with the objects that hold them. */
    private static final int CREDENTIAL_BYTES = 200;

    /** An ACL, with its share of its resource, without its texts. */
    private static final int ACL_BYTES = 300;

    private MetadataSizes() {}

    static long of(TopicImage topic) {
        return topic(topic.name()) + partitions(topic.partitions().size()) + settings(topic.configs());
    }

    static long topic(String name) {
        return (long) TOPIC_BYTES + TextSize.bytes(name);
    }

    static long partitions(int count) {
        return (long) PARTITION_BYTES * count;
    }

    /** A topic's configuration, values by name. */
    static long settings(Map<String, String> settings) {
        long bytes = 0;
        for (Map.Entry<String, String> setting : settings.entrySet()) {
            bytes += ENTRY_BYTES + setting.getKey().length() + text(setting.getValue());
        }
        return bytes;
    }

    /** The configuration of a resource other than a topic; 0 if it is empty. */
    static long resource(ResourceId resource, Map<String, String> settings) {
        return settings.isEmpty() ? 0 : OWNER_BYTES + text(resource.name()) + settings(settings);
    }

    /** The quotas of a client; 0 if there are none. */
    static long quota(QuotaEntity entity, Map<String, Double> limits) {
        return limits.isEmpty()
                ? 0
                : OWNER_BYTES
                        + name(entity.user())
                        + name(entity.clientId())
                        + name(entity.address())
                        + (long) ENTRY_BYTES * limits.size();
    }

    /** A user with these credentials; 0 if there are none. */
    static long scram(String user, Collection<ScramCredential> credentials) {
        if (credentials.isEmpty()) {
            return 0;
        }
        long bytes = (long) OWNER_BYTES + text(user);
        for (ScramCredential credential : credentials) {
            bytes += CREDENTIAL_BYTES
                    + credential.salt().length
                    + credential.storedKey().length
                    + credential.serverKey().length;
        }
        return bytes;
    }

    static long acl(Acl acl) {
        return (long) ACL_BYTES + text(acl.resource().name()) + text(acl.principal()) + text(acl.host());
    }

    /** {@code before} after {@code changes}, in which null removes a value. */
    static <V> Map<String, V> changed(Map<String, V> before, Map<String, V> changes) {
        Map<String, V> after = new TreeMap<>(before);
        changes.forEach((name, value) -> {
            if (value == null) {
                after.remove(name);
            } else {
                after.put(name, value);
            }
        });
        return after;
    }

    private static long name(QuotaEntity.Part part) {
        return part == null ? 0 : text(part.name());
    }

    private static int text(String text) {
        return text == null ? 0 : TextSize.bytes(text);
    }
}
