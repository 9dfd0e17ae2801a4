package io.journalq.server.api;

/**
 * What clients choose their protocol by, with the level that is in force (KIP-584). A broker that is alone has every
 * feature at its highest level from its first start, and no lower one can be put in force.
 */
public enum Feature {
    /** Consumer groups that the broker assigns (KIP-848). */
    GROUP_VERSION("group.version", 1),

    /** Transactions whose partitions are added with what is produced, and whose epochs grow (KIP-890). */
    TRANSACTION_VERSION("transaction.version", 2);

    private final String featureName;
    private final short level;

    Feature(String featureName, int level) {
        this.featureName = featureName;
        this.level = (short) level;
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

    /** The level in force, which is the highest that is known. */
    public short level() {
        return level;
    }
}
