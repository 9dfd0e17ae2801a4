package io.journalq.server.api;

import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.ResourceId;
import java.util.Map;

/**
 * What clients choose their protocol by (KIP-584). From the broker's first start on every feature is in force at its highest
 * level; UpdateFeatures puts others in force. At level 0 a feature is off.
 */
public enum Feature {
    /** Consumer groups that the broker assigns (KIP-848). */
    GROUP_VERSION("group.version", 1),

    /**
     * Transactions whose partitions are added with what is produced, and whose epochs grow (KIP-890): level 2. Below that
     * clients speak of transactions as before; what they ask in newer versions is answered all the same.
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

    /** Where the metadata keeps a level that is not the highest. */
    public ResourceId resource() {
        return new ResourceId(ResourceId.Kind.FEATURE, featureName);
    }

    /** The highest level that is known. */
    public short highestLevel() {
        return highestLevel;
    }

    /** The level in force. */
    public short level(MetadataImage image) {
        String set = image.resources().of(resource()).get(LEVEL);
        return set == null || problem(Map.of(LEVEL, set)) != null ? highestLevel : Short.parseShort(set);
    }

    /** Why a feature cannot be set so, as texts by name; null when it can. */
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
