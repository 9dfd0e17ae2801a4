package io.journalq.server.metadata;

/**
 * The finalized level of the feature {@code cluster.version}: every broker of the cluster can read the records of this
 * level, so no record of a higher level may be written. Without a level in the metadata, the level is the one of the
 * first release. Stateless.
 */
public final class ClusterVersion {
    /** The level of the first release. */
    public static final int FIRST = 1;

    /** The name of the feature. */
    public static final String NAME = "cluster.version";

    private static final ResourceId RESOURCE = new ResourceId(ResourceId.Kind.FEATURE, NAME);
    private static final String LEVEL = "level";

    private ClusterVersion() {}

    /** The level that the metadata of an image have finalized. */
    public static int of(MetadataImage image) {
        String level = image.resources().of(RESOURCE).get(LEVEL);
        return level == null || !level.matches("\\d{1,4}") ? FIRST : Integer.parseInt(level);
    }
}
