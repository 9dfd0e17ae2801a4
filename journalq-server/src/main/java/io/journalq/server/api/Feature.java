package io.journalq.server.api;

import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.ResourceId;
import java.util.Map;

/**
 * The features by which clients choose their protocol (KIP-584). From the first start of the broker, every feature has
 * its highest level. UpdateFeatures changes levels. At level 0 a feature is off.
 */
public enum Feature {
    /** Consumer groups with assignments by the broker (KIP-848). */
    GROUP_VERSION("group.version", 1),

    /**
     * Level 2: transactions to which Produce adds partitions, and whose epochs are incremented by each transaction
     * (KIP-890). At lower levels, clients use the older protocol, but newer versions of requests are still served.
     */
    TRANSACTION_VERSION("transaction.version", 2);

    /** The setting of a feature's resource in the metadata that holds its level. */
    public static final String LEVEL = "level";

    private final String featureName;
    private final short highestLevel;

    Feature(String featureName, int highestLevel) {
        this.featureName = featureName;
        this.highestLevel = (short) highestLevel;
    }

    /** The feature of that name, or null. */
    public static Feature named(String name) {
        for (Feature feature : values()) {
            if (feature.featureName.equals(name)) {
                return feature;
            }
        }
        return null;
    }

    public String featureName() {
        return featureName;
    }

    /** The metadata resource that stores a level other than the highest. */
    public ResourceId resource() {
        return new ResourceId(ResourceId.Kind.FEATURE, featureName);
    }

    /** The highest supported level. */
    public short highestLevel() {
        return highestLevel;
    }

    /** The level in force. */
    public short level(MetadataImage image) {
        String set = image.resources().of(resource()).get(LEVEL);
        return set == null || problem(Map.of(LEVEL, set)) != null ? highestLevel : Short.parseShort(set);
    }

    /** Returns the fault in the settings of a feature, as texts by name; null if there is none. */
    public String problem(Map<String, String> settings) {
        String level = settings.get(LEVEL);
        if (level == null || settings.size() > 1 || !level.matches("\\d{1,4}")) {
            return "a feature has a level and nothing else";
        }
        return Short.parseShort(level) <= highestLevel
                ? null
                : featureName + " has levels up to " + highestLevel + ", not " + level;
    }
}
